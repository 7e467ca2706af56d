import type { Credential } from '../device/credential.ts';

/** The places that a credential may come from, by the names that users know. */
export type SourceName =
  | 'stdin'
  | 'environment'
  | 'credential_command'
  | 'keychain'
  | 'vault'
  | 'git_credential'
  | 'netrc';

export interface FoundCredential {
  readonly credential: Credential;
  readonly source: SourceName;
  /** The account, also for a token when it is known. */
  readonly user: string | undefined;
}
