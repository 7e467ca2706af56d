import { randomInt } from 'node:crypto';
import { Credential, type RotatedAccount } from '../device/credential.ts';
import { RefusedError, UsageError } from '../errors.ts';

/** A secret has one of each kind. Characters that look alike, or are special in shells and forms, are left out. */
const KINDS = ['abcdefghijkmnpqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '-._'];

const LENGTH = 24;
const LEAST_LENGTH = 8;
const LEAST_DIFFERENT = 5;

export function generateSecret(length = LENGTH): string {
  if (length < LEAST_LENGTH) {
    throw new UsageError(`no secret of ${length} characters is strong enough: change --length`);
  }
  const all = KINDS.join('');
  for (;;) {
    const secret = Array.from({ length }, () => all[randomInt(all.length)]).join('');
    // Drawn again as a whole: to replace single characters would make some secrets more probable.
    const hasAll = KINDS.every((kind) => Array.from(kind).some((one) => secret.includes(one)));
    if (hasAll && problemOf(secret, '') === undefined) return secret;
  }
}

/** Throws CredentialError for a secret that cannot be sent, RefusedError for a weak one. */
export function checkNewSecret(
  secret: string,
  { kind, user }: Pick<RotatedAccount, 'kind' | 'user'>,
): void {
  if (kind === 'basic') Credential.basic(user, secret);
  else Credential.token(secret, user).header();
  const problem = problemOf(secret, user);
  if (problem === undefined) return;
  throw new RefusedError(`the new secret of ${user} ${problem}; nothing was sent`);
}

function problemOf(secret: string, user: string): string | undefined {
  const characters = Array.from(secret);
  if (characters.length < LEAST_LENGTH) return `has fewer than ${LEAST_LENGTH} characters`;
  if (new Set(characters).size < LEAST_DIFFERENT) return 'repeats a few characters';
  if (secret.toLowerCase() === user.toLowerCase()) return 'is the name of the account';
  return secret.trim() === secret
    ? undefined
    : 'begins or ends with a space, which some devices cut off';
}
