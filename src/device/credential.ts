import { CredentialError } from '../errors.ts';
import { redactorOf } from './sensitive-fields.ts';
import { textOf } from '../output/sentences.ts';

export interface TokenHeader {
  readonly header?: string;
  readonly prefix?: string;
}

const AUTHORIZATION = 'authorization';

/** A token as the value of its header. @param usual its prefix in the Authorization header */
export function headerOf(token: string, { header, prefix }: TokenHeader, usual: string): string {
  const isUsual = (header ?? AUTHORIZATION).toLowerCase() === AUTHORIZATION;
  const before = prefix ?? (isUsual ? usual : '');
  return before === '' || /[=:]$/.test(before) ? `${before}${token}` : `${before} ${token}`;
}

/** The secret is private: neither `util.inspect` nor `JSON.stringify` shows it. */
export class Credential {
  readonly kind: 'basic' | 'token';
  /** Undefined for a token whose owner is unknown. */
  readonly user: string | undefined;
  readonly #secret: string;
  #redactor: ((text: string) => string) | undefined;
  #basic: string | undefined;

  private constructor(kind: 'basic' | 'token', user: string | undefined, secret: string) {
    this.kind = kind;
    this.user = user;
    this.#secret = secret;
  }

  /** Throws CredentialError for what Basic authentication cannot send (RFC 7617, section 2). */
  static basic(user: string, password: string): Credential {
    const wrong = wrongPart(user, password);
    if (wrong !== undefined) throw new CredentialError({ code: 'bad-credential', is: wrong });
    return new Credential('basic', user, password);
  }

  /** `user` is the owner of the token; it is not sent. */
  static token(token: string, user?: string): Credential {
    return new Credential('token', user, token);
  }

  /** The value of its header. Throws CredentialError if the token does not fit in a header. */
  header(auth: TokenHeader = {}): string {
    if (this.kind === 'token' && !/^[\x21-\x7e]+$/.test(this.#secret)) {
      throw new CredentialError({ code: 'bad-credential', is: 'token' });
    }
    if (this.kind === 'token') {
      // NetBox 4.5 and later require another scheme for their new tokens.
      return headerOf(this.#secret, auth, this.#secret.startsWith('nbt_') ? 'Bearer' : 'Token');
    }
    return (this.#basic ??= `Basic ${Buffer.from(this.#pair(), 'utf8').toString('base64')}`);
  }

  /** The name of its header: a password always goes to Authorization. */
  headerName({ header = AUTHORIZATION }: TokenHeader = {}): string {
    return this.kind === 'token' ? header : AUTHORIZATION;
  }

  /** Replaces the secret in any spelling: a device may echo what was sent. */
  redact(text: string): string {
    const sent = this.kind === 'basic' ? [this.#pair()] : [];
    // A response to a write has many texts: its body and each header.
    this.#redactor ??= redactorOf([this.#secret, ...sent]);
    return this.#redactor(text);
  }

  /** Whether a text is the token in use, as a device may show it: `Token abc`. */
  isToken(text: string): boolean {
    return this.kind === 'token' && (text === this.#secret || text.endsWith(` ${this.#secret}`));
  }

  equals(other: Credential | undefined): boolean {
    if (other?.kind !== this.kind || other.user !== this.user) return false;
    return other.#secret === this.#secret;
  }

  /** Returns the secret in clear text, for storing it. */
  revealed(): { kind: 'basic' | 'token'; user: string | undefined; secret: string } {
    return { kind: this.kind, user: this.user, secret: this.#secret };
  }

  toString(): string {
    return this.user === undefined ? textOf({ code: 'account', is: 'token' }) : `as ${this.user}`;
  }

  #pair(): string {
    return `${this.user ?? ''}:${this.#secret}`;
  }
}

function wrongPart(user: string, password: string) {
  if (user.includes(':')) return 'colon';
  if (/\p{Cc}/u.test(user)) return 'user';
  if (/\p{Cc}/u.test(password)) return 'password';
  return password === '' ? 'empty' : undefined;
}

/** An account of one device (`host:port`) whose password or token is rotated. */
export interface RotatedAccount {
  readonly address: string;
  /** Empty for a token whose owner is unknown. */
  readonly user: string;
  readonly kind: Credential['kind'];
}

export interface RotatedSecrets {
  /** Sent, or to be sent: it may or may not be in effect. */
  readonly pending?: string | undefined;
  /** A request with `pending` may have reached the device. */
  readonly isSent?: boolean | undefined;
  /** So, and no login has shown since which of the two is in effect. */
  readonly isInDoubt?: boolean | undefined;
  /** The run that chose `pending`, or `current` if none is pending. */
  readonly run?: string | undefined;
  /** In effect before `pending`, if it is known. */
  readonly replaces?: string | undefined;
  readonly current?: string | undefined;
  /** In effect before the last one that was proven: for a device that comes back from a backup. */
  readonly previous?: string | undefined;
}
