import { oneLine } from '../text/one-line.ts';
import { UsageError } from '../errors.ts';

/** What is refused by default, and what `--allow` with the word permits. */
const ALLOWED = {
  'own-account': 'delete, disable, demote or rename the account in use, or change its password',
  loss: 'lose what undo cannot restore, add accounts again without their passwords',
  invalid: 'send values that the device calls invalid',
  drift: 'overwrite what somebody changed since, apply an expired plan',
  protected: 'delete a protected record, or the last one',
  prune: 'prune although the file or the reading looks like a mistake',
  'break-glass': 'the same to a break-glass account, named in full: break-glass=NAME',
} as const;

/** The only word with a value: one permission must not open every break-glass account. */
export const BREAK_GLASS = 'break-glass';

export type AllowWord = keyof typeof ALLOWED;

type AllowedWord = AllowWord | `${typeof BREAK_GLASS}=${string}`;

export type Allowed = ReadonlySet<AllowedWord>;

export const ALLOW_WORDS = Object.keys(ALLOWED) as readonly AllowWord[];

export function allowMeaning(word: AllowWord): string {
  return ALLOWED[word];
}

/** How to override a refusal: the end of its message. */
export function allowHint(word: AllowWord): string {
  return `use --allow ${word} to override`;
}

export function allowedBy(words: readonly string[]): Allowed {
  const isNamed = (word: string): boolean => /^break-glass=./.test(word);
  const unknown = words.find((word) => !Object.hasOwn(ALLOWED, word) && !isNamed(word));
  if (words.includes(BREAK_GLASS)) {
    throw new UsageError(`${BREAK_GLASS} needs the account in full: --allow ${BREAK_GLASS}=NAME`);
  }
  if (unknown === undefined) return new Set(words as readonly AllowWord[]);
  throw new UsageError(`"${oneLine(unknown)}" is not one of ${ALLOW_WORDS.join(', ')}`);
}
