import { CredentialError } from '../errors.ts';

/** The passphrase does not open the vault. */
export class WrongPassphraseError extends CredentialError {}
