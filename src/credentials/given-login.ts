import { Credential } from '../device/credential.ts';
import type { DeviceRef } from '../device/record.ts';
import { CredentialError } from '../errors.ts';
import type { StoredCredential } from './store.ts';

/** `--token-stdin` or `--password-stdin`. */
export interface StdinSecret {
  readonly kind: 'token' | 'password';
  /** All of standard input, or its first line. */
  readonly read: () => Promise<string>;
  /** How many lines after the secret are for others: the passphrase of the vault, a new secret. */
  readonly otherLines?: number;
}

export interface GivenOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin?: StdinSecret | undefined;
  /** `--user` */
  readonly user?: string | undefined;
}

/** The login given with the command itself: on standard input or in the environment. */
export class GivenLogin {
  readonly #options: GivenOptions;
  readonly #warn: (problem: string) => void;
  #text: Promise<string> | undefined;

  constructor(options: GivenOptions, warn: (problem: string) => void) {
    this.#options = options;
    this.#warn = warn;
  }

  async fromStdin(
    device: DeviceRef,
    user: string | undefined,
  ): Promise<FoundCredential | undefined> {
    const { stdin } = this.#options;
    if (stdin === undefined) return undefined;
    if (stdin.kind === 'password' && user === undefined) throw noUser(device, '--password-stdin');
    this.#text ??= stdin.read();
    const [line = '', ...rest] = (await this.#text).split(/\r?\n/);
    const option = `--${stdin.kind}-stdin`;
    if (line === '')
      throw new CredentialError(`${option}: standard input contains no ${stdin.kind}`);
    if (rest.slice(stdin.otherLines).some((other) => other !== '')) {
      this.#warn(
        `${option}: standard input has more lines than devsh reads; the first is the ${stdin.kind}`,
      );
    }
    const kind = stdin.kind === 'token' ? 'token' : 'basic';
    return foundIn('stdin', { kind, user, secret: line }, option);
  }

  fromEnvironment(device: DeviceRef, user: string | undefined): FoundCredential | undefined {
    const { env, user: asked } = this.#options;
    const token = env['DEVSH_TOKEN'];
    if (token) return foundIn('environment', { kind: 'token', user, secret: token }, 'DEVSH_TOKEN');
    const password = env['DEVSH_PASSWORD'];
    if (!password) return undefined;
    const owner = env['DEVSH_USER'] || undefined;
    // The password belongs to DEVSH_USER: it must not be tried on another account.
    if (owner !== undefined && asked !== undefined && asked !== owner) return undefined;
    const account = owner ?? user;
    if (account === undefined) throw noUser(device, 'DEVSH_PASSWORD');
    return foundIn('environment', { kind: 'basic', user: account, secret: password });
  }
}

/** Throws CredentialError for a token that does not fit in a header: with its origin, never the token. */
export function foundIn(
  source: SourceName,
  { kind, user, secret }: StoredCredential,
  origin = `the token in the ${source}`,
): FoundCredential {
  if (kind === 'basic') return { source, credential: Credential.basic(user ?? '', secret) };
  if (/^[\x21-\x7e]+$/.test(secret)) return { source, credential: Credential.token(secret, user) };
  throw new CredentialError(
    `${origin}: a token is one word of visible ASCII characters, without spaces around it`,
  );
}

export function noUser(device: DeviceRef, origin: string): CredentialError {
  return new CredentialError(
    `${device.name}: ${origin} has a password, but no user; add --user NAME, DEVSH_USER, ` +
      'or "user" in the inventory',
  );
}

/** The sources of a credential, by the names that users know. */
export type SourceName = 'stdin' | 'environment' | 'credential_command' | 'keychain' | 'vault';

export interface FoundCredential {
  readonly credential: Credential;
  readonly source: SourceName;
  /** The run that has sent a new secret for this login and does not know yet whether it is in effect. */
  readonly inDoubt?: string | undefined;
}
