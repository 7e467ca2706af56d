import { oneLine } from '../text/one-line.ts';
import { UsageError } from '../errors.ts';
import { quoteWord } from '../text/words.ts';

/** What is refused by default, and what `--allow` with the word permits. */
const ALLOWED = {
  'own-account': 'write to the account in use, beyond harmless fields; in scripts own-account=NAME',
  'unlisted-login': 'write to accounts where no record shows the login in use',
  loss: 'lose what undo cannot restore, add accounts again without their passwords',
  invalid: 'send values that the device calls invalid, fields that no record has',
  drift: 'overwrite what somebody changed since, apply an expired plan',
  unread: 'send a raw request to accounts although devsh cannot tell what it does',
  protected: 'delete a protected record, or the last one',
  prune: 'prune although the file or the reading looks like a mistake',
  'break-glass': 'the same to a break-glass account, named in full: break-glass=NAME',
} as const;

/** One permission must not open every break-glass account: it names one. */
export const BREAK_GLASS = 'break-glass';

export const OWN_ACCOUNT = 'own-account';

/** It stands for no other word. */
export const UNLISTED_LOGIN = 'unlisted-login';

/** The words that name an account in full. */
type NamingWord = typeof BREAK_GLASS | typeof OWN_ACCOUNT;

export type AllowWord = keyof typeof ALLOWED;

export type AllowedWord = AllowWord | `${NamingWord}=${string}`;

export type Allowed = ReadonlySet<AllowedWord>;

export const ALLOW_WORDS = Object.keys(ALLOWED) as readonly AllowWord[];

export function allowMeaning(word: AllowWord): string {
  return ALLOWED[word];
}

/** How to override a refusal: the end of its message. */
export function allowHint(word: AllowWord): string {
  return `use --allow ${word} to override`;
}

/** Whether this account may be written to, in every field. The name must be the whole name. */
export function permits(allowed: Allowed, word: NamingWord, account: string): boolean {
  return allowed.has(`${word}=${account}`) || (word === OWN_ACCOUNT && allowed.has(word));
}

/** `--allow own-account=admin`, as it is typed. */
export function allowOption(word: NamingWord, account: string): string {
  return `--allow ${quoteWord(`${word}=${account}`)}`;
}

export function isOwnAccountWord(word: string): boolean {
  return word === OWN_ACCOUNT || word.startsWith(`${OWN_ACCOUNT}=`);
}

export function allowedBy(words: readonly string[]): Allowed {
  const isNamed = (word: string): boolean => /^(?:break-glass|own-account)=./.test(word);
  const unknown = words.find((word) => !Object.hasOwn(ALLOWED, word) && !isNamed(word));
  if (words.includes(BREAK_GLASS)) {
    throw new UsageError(`${BREAK_GLASS} needs the account in full: --allow ${BREAK_GLASS}=NAME`);
  }
  if (unknown === undefined) return new Set(words as readonly AllowWord[]);
  throw new UsageError(`"${oneLine(unknown)}" is not one of ${ALLOW_WORDS.join(', ')}`);
}
