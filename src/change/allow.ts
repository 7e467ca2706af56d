import { UsageError } from '../errors.ts';
import { textOf } from '../output/sentences.ts';
import { quoteWord } from '../text/words.ts';

/** What is refused by default: `--allow` with the word permits it. */
export const ALLOW_WORDS = [
  'own-account',
  'unlisted-login',
  'loss',
  'invalid',
  'drift',
  'unread',
  'protected',
  'prune',
  'break-glass',
] as const;

export type AllowWord = (typeof ALLOW_WORDS)[number];

/** It needs the name of an account, so that one permission never opens every break-glass account. */
export const BREAK_GLASS = 'break-glass';

export const OWN_ACCOUNT = 'own-account';

export const UNLISTED_LOGIN = 'unlisted-login';

/** The words that name an account in full. */
type NamingWord = typeof BREAK_GLASS | typeof OWN_ACCOUNT;

export type AllowedWord = AllowWord | `${NamingWord}=${string}`;

export type Allowed = ReadonlySet<AllowedWord>;

export function allowMeaning(word: AllowWord): string {
  return textOf({ code: 'allow', is: word });
}

/** How to override a refusal: the end of its message. */
export function allowHint(word: AllowWord): string {
  return textOf({ code: 'allow', is: 'override', word });
}

/** Whether every field of this account may be written. `account` is its whole name. */
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

/** Throws a `UsageError` for a word that is none, and for `break-glass` without its account. */
export function allowedWord(word: string): AllowedWord {
  if (word === BREAK_GLASS) throw new UsageError({ code: 'allow', is: 'unnamed' });
  const isNamed = /^(?:break-glass|own-account)=./.test(word);
  if (isNamed || ALLOW_WORDS.some((one) => one === word)) return word as AllowedWord;
  throw new UsageError({ code: 'allow', is: 'unknown', word, words: ALLOW_WORDS });
}
