import { randomInt } from 'node:crypto';
import { Credential } from '../device/credential.ts';
import { RefusedError, UsageError } from '../errors.ts';
import type { RotatedAccount } from './rotation-store.ts';

/** Without characters that look alike, and without those that shells, URLs and forms treat in their own way. */
const CHARACTERS = {
  lower: 'abcdefghijkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digit: '23456789',
  symbol: '!*+-.=@^_~',
} as const;

export type SecretClass = keyof typeof CHARACTERS;
export const SECRET_CLASSES = Object.keys(CHARACTERS) as readonly SecretClass[];

/** Throws UsageError for an unknown name. */
export function secretClasses(names: readonly string[]): SecretClass[] {
  return names.map((name) => {
    const found = SECRET_CLASSES.find((one) => one === name);
    if (found !== undefined) return found;
    throw new UsageError(`--classes: "${name}" is not one of ${SECRET_CLASSES.join(', ')}`);
  });
}

const LENGTH = 24;
const LEAST_LENGTH = 8;
const LEAST_DIFFERENT = 5;
const CLASSES: readonly SecretClass[] = ['lower', 'upper', 'digit'];

/** A random secret with a character of each class. */
export function generateSecret({
  length = LENGTH,
  classes = CLASSES,
}: {
  readonly length?: number | undefined;
  readonly classes?: readonly SecretClass[] | undefined;
} = {}): string {
  const sets = [...new Set(classes)].map((name) => Array.from(CHARACTERS[name]));
  const all = sets.flat();
  if (all.length < LEAST_DIFFERENT || length < Math.max(LEAST_LENGTH, sets.length)) {
    throw new UsageError(
      `no secret of ${length} characters is strong enough: change --length or --classes`,
    );
  }
  for (;;) {
    const secret = Array.from({ length }, () => all[randomInt(all.length)]).join('');
    // Drawn again as a whole: to replace single characters would make some secrets more probable.
    const hasAll = sets.every((set) => set.some((c) => secret.includes(c)));
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
