const LIMIT = 200;

/** Text of a device as part of a message: one line, no control characters, at most 200 units long. */
export function oneLine(text: string): string {
  // Some times the limit is enough to cut from, and bounds the work on a huge body.
  const flat = text
    .slice(0, LIMIT * 4)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  if (flat.length <= LIMIT) return flat;
  // Not through the middle of a surrogate pair.
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

/** What an HTML page says, in one line: its title, otherwise its first heading or words. */
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

/** `1 device`, `2 devices`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** "8 known, 2 new": how many there are of each kind, in the order of `words`; none of what is not there. */
export function countsText<K extends string>(
  kinds: readonly K[],
  words: Readonly<Record<K, string>>,
): string {
  return Object.entries<string>(words)
    .map(([kind, word]) => [kinds.filter((one) => one === kind).length, word] as const)
    .flatMap(([count, word]) => (count === 0 ? [] : `${count} ${word}`))
    .join(', ');
}

/** `a, b, c and 4 more`. */
export function someOf(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
