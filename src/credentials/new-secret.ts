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

/** What a device demands of a password. Lengths in characters. */
export interface SecretPolicy {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** It needs a character of each. */
  readonly classes?: readonly SecretClass[] | undefined;
  readonly forbidden?: string | undefined;
}

const LENGTH = 24;
const LEAST_LENGTH = 8;
const LEAST_DIFFERENT = 5;
const CLASSES: readonly SecretClass[] = ['lower', 'upper', 'digit'];

/** A random secret with a character of each class, by default as long as the policy allows, up to 24. */
export function generateSecret(
  wanted: {
    readonly length?: number | undefined;
    readonly classes?: readonly SecretClass[] | undefined;
  } = {},
  policy: SecretPolicy = {},
): string {
  const { forbidden = '', min = 0, max = Infinity } = policy;
  const classes = new Set([...(wanted.classes ?? CLASSES), ...(policy.classes ?? [])]);
  const sets = [...classes].map((name) =>
    Array.from(CHARACTERS[name]).filter((c) => !forbidden.includes(c)),
  );
  const all = sets.flat();
  const length = wanted.length ?? Math.min(Math.max(LENGTH, min), max);
  const isPossible = sets.every((set) => set.length > 0) && all.length >= LEAST_DIFFERENT;
  if (!isPossible || length < Math.max(min, sets.length) || length > max) {
    throw new UsageError(
      `no secret of ${length} characters fits the policy of the device: change --length or --classes`,
    );
  }
  for (;;) {
    const secret = Array.from({ length }, () => all[randomInt(all.length)]).join('');
    // Drawn again as a whole: to replace single characters would make some secrets more probable.
    const hasAll = sets.every((set) => set.some((c) => secret.includes(c)));
    if (hasAll && problemOf(secret, '', policy) === undefined) return secret;
  }
}

/** Throws CredentialError for a secret that cannot be sent, RefusedError for a weak one or one against the policy. */
export function checkNewSecret(
  secret: string,
  { kind, user }: Pick<RotatedAccount, 'kind' | 'user'>,
  policy: SecretPolicy = {},
): void {
  if (kind === 'basic') Credential.basic(user, secret);
  else Credential.token(secret, user).header();
  const problem = problemOf(secret, user, policy);
  if (problem === undefined) return;
  throw new RefusedError(`the new secret of ${user} ${problem}; nothing was sent`);
}

function problemOf(secret: string, user: string, policy: SecretPolicy): string | undefined {
  const { max = Infinity, classes = [], forbidden = '' } = policy;
  const min = Math.max(policy.min ?? 0, Math.min(LEAST_LENGTH, max));
  const characters = Array.from(secret);
  if (characters.length < min) return `has fewer than ${min} characters`;
  if (characters.length > max) return `has more than ${max} characters`;
  if (new Set(characters).size < Math.min(LEAST_DIFFERENT, min)) return 'repeats a few characters';
  if (secret.toLowerCase() === user.toLowerCase()) return 'is the name of the account';
  if (secret.trim() !== secret) return 'begins or ends with a space, which some devices cut off';
  if (characters.some((c) => forbidden.includes(c))) {
    return 'contains a character that the profile of the device forbids';
  }
  const missing = classes.find((name) => !CLASS_PATTERNS[name].test(secret));
  return (
    missing && `lacks a character of the class ${missing}, which the profile of the device demands`
  );
}

const CLASS_PATTERNS: Readonly<Record<SecretClass, RegExp>> = {
  lower: /\p{Ll}/u,
  upper: /\p{Lu}/u,
  digit: /\d/,
  symbol: /[^\p{L}\d\s]/u,
};
