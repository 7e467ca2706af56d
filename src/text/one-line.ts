const LIMIT = 200;

/** Text of a device for a message: one line, no control characters, at most 200 UTF-16 units. */
export function oneLine(text: string): string {
  // A multiple of the limit is enough to cut from, and bounds the work on a huge body.
  const flat = text
    .slice(0, LIMIT * 4)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  if (flat.length <= LIMIT) return flat;
  // Never leaves half of a surrogate pair.
  return `${flat.slice(0, LIMIT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&nbsp;': ' ',
};

export function isHtml(text: string): boolean {
  return /^\s*(?:<!doctype html|<html|<head|<body|<h1)/i.test(text.slice(0, 1000));
}

/** An HTML page in one line: its title, otherwise its first heading or words. */
export function htmlTitle(text: string): string {
  const start = text.slice(0, 100_000);
  const title =
    /<title[^>]{0,200}>([^<]{1,1000})/i.exec(start)?.[1] ??
    /<h1[^>]{0,200}>([^<]{1,1000})/i.exec(start)?.[1] ??
    start.slice(0, 5000).replace(/<[^>]{0,1000}>/g, ' ');
  return oneLine(
    title.replace(
      /&(?:amp|lt|gt|quot|nbsp|#39|#x27);/gi,
      (entity) => ENTITIES[entity.toLowerCase()] ?? entity,
    ),
  );
}

/** `1 device`, `2 entries`. */
export function counted(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : pluralOf(noun)}`;
}

/** `a user`, `an interface`. */
export function aOrAn(noun: string): string {
  return `${/^(?:[aeio]|un(?!i)|up)/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** `user`, `entry`, `address`: `users`, `entries`, `addresses`. A resource with the name `users` keeps it. */
export function pluralOf(noun: string): string {
  if (/(?:ss|x|ch|sh)$/i.test(noun)) return `${noun}es`;
  if (/[^aeiou]y$/i.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /s$/i.test(noun) ? noun : `${noun}s`;
}

/** "8 known, 2 new": the count of each kind in the order of `words`; zero counts are left out. */
export function countsText<K extends string>(
  kinds: readonly K[],
  words: Readonly<Record<K, string>>,
): string {
  return Object.entries<string>(words)
    .map(([kind, word]) => [kinds.filter((one) => one === kind).length, word] as const)
    .flatMap(([count, word]) => (count === 0 ? [] : `${count} ${word}`))
    .join(', ');
}

/** `a, b, c and 4 more`. At least the first `most` of the `count` names are given. */
export function someOf(names: readonly string[], most = 5, count = names.length): string {
  const shown = names.slice(0, most).join(', ');
  return count > most ? `${shown} and ${count - most} more` : shown;
}

/** Claims nothing of devices that were not read: `no record that was read (not read: fw3)`. */
export function noRecord(unread: readonly { readonly name: string }[] = []): string {
  const names = someOf(unread.map(({ name }) => name));
  return names === '' ? 'no record' : `no record that was read (not read: ${names})`;
}

/** Replaces a secret in plans and the journal, and a password typed in a wrong place. */
export const MASK = '***';

/** The password in an address, up to the last `@`. Without a scheme it must begin a word or follow an address option. */
const PASSWORD =
  /(?:\/\/[^\s:/]*:|^["']?(?:(?:--)?(?:proxy|jump|address|url)=["']?)?[^\s:/@=~!"']+:(?!\/\/))(.+)@/dis;

/** What follows `//user:`, unless it is a port. */
const UNFINISHED_PASSWORD = /\/\/[^\s:/[\]]*:(?!\d{0,5}(?:[/?#"']|$))(.+)/dis;

/** Finds the password of `https://user:pw@host` or `user:pw@host`. `isTyped`: the `@` may still come. */
export function passwordSpan(
  word: string,
  isTyped = false,
): { start: number; end: number } | undefined {
  const found = PASSWORD.exec(word) ?? (isTyped ? UNFINISHED_PASSWORD.exec(word) : null);
  const [start, end] = found?.indices?.[1] ?? [];
  return start === undefined || end === undefined ? undefined : { start, end };
}

/** A word with the password of an address masked. */
export function withoutPassword(word: string): string {
  const span = passwordSpan(word);
  return span === undefined ? word : word.slice(0, span.start) + MASK + word.slice(span.end);
}

/** Masks passwords in a message that repeats typed words, in quotes or not. */
export function withoutPasswords(message: string): string {
  if (!message.includes('@')) return message;
  return message.replace(/"[^"\n]*"|\S+/g, (word) =>
    word.startsWith('"') || word.includes('//') ? withoutPassword(word) : word,
  );
}

/** `line:column`, both from 1, of an offset in a text. */
export function lineAndColumn(text: string, offset: number): string {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `${line}:${Array.from(text.slice(start, offset)).length + 1}`;
}
