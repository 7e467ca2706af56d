/** What stands for a password that was typed where none belongs. */
const MASK = '***';

/**
 * The password in an address with a login, to its last `@`: it may hold any character. Without a scheme
 * at the start of a word, or behind the name of what is an address.
 */
const PASSWORD =
  /(?:\/\/[^\s:/]*:|^["']?(?:(?:--)?(?:proxy|jump|address|url)=["']?)?[^\s:/@=~!"']+:(?!\/\/))(.+)@/dis;

/** Where the password is in a word such as `https://user:pw@host` or `user:pw@host`. */
export function passwordSpan(word: string): { start: number; end: number } | undefined {
  const [start, end] = PASSWORD.exec(word)?.indices?.[1] ?? [];
  return start === undefined || end === undefined ? undefined : { start, end };
}

/** A word without the password of an address. */
export function withoutPassword(word: string): string {
  const span = passwordSpan(word);
  return span === undefined ? word : word.slice(0, span.start) + MASK + word.slice(span.end);
}

/** A message that repeats what was typed, in quotes or not. */
export function withoutPasswords(message: string): string {
  if (!message.includes('@')) return message;
  return message.replace(/"[^"\n]*"|\S+/g, (word) =>
    word.startsWith('"') || word.includes('//') ? withoutPassword(word) : word,
  );
}
