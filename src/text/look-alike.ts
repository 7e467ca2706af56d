import { isPlainAscii } from './width.ts';

/**
 * Letters of other scripts that look like Latin ones, by the Latin letter: those used to forge names
 * (a selection from Unicode's confusables.txt, UTS #39).
 */
const TWINS: Readonly<Record<string, string>> = {
  a: 'аα',
  b: 'ЬƄ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еє',
  g: 'ց',
  h: 'һհ',
  i: 'іι',
  j: 'јϳ',
  k: 'κк',
  l: 'ӏ',
  n: 'ոռ',
  o: 'оοօ',
  p: 'рρ',
  q: 'ԛզ',
  s: 'ѕ',
  t: 'тτ',
  u: 'υս',
  v: 'νѵ',
  w: 'ԝաω',
  x: 'хχ',
  y: 'уγү',
  A: 'АΑ',
  B: 'ВΒ',
  C: 'СϹ',
  E: 'ЕΕ',
  H: 'НΗ',
  I: 'ІΙ',
  J: 'Ј',
  K: 'КΚ',
  M: 'МΜ',
  N: 'Ν',
  O: 'ОΟՕ',
  P: 'РΡ',
  S: 'ЅՏ',
  T: 'ТΤ',
  U: 'Ս',
  X: 'ХΧ',
  Y: 'ҮΥ',
  Z: 'Ζ',
};

const LATIN = new Map(
  Object.entries(TWINS).flatMap(([latin, twins]) =>
    Array.from(twins, (twin) => [twin, latin] as const),
  ),
);
const HAS_TWIN = new RegExp(`[${[...LATIN.keys()].join('')}]`, 'u');

/**
 * Replaces look-alikes of Latin letters in words that contain Latin letters, too. A word in a single
 * script stays unchanged.
 */
export function replaceForged(text: string, replacement: (letter: string) => string): string {
  if (!HAS_TWIN.test(text)) return text;
  return text.replace(/[\p{L}\p{M}\p{N}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) && HAS_TWIN.test(word)
      ? Array.from(word, (letter) => (LATIN.has(letter) ? replacement(letter) : letter)).join('')
      : word,
  );
}

/**
 * A name that differs visibly from names drawn the same: unusual blanks, and letters that NFC would
 * change, as code points: `e<U+0301>`, `a<U+00A0>b`.
 */
export function unmistakable(name: string): string {
  if (isPlainAscii(name)) return name;
  const isComposed = name === name.normalize('NFC');
  return Array.from(name, (letter) => {
    const isApart = /[\p{M}\u1160-\u11ff]/u.test(letter) || letter !== letter.normalize('NFC');
    const isBlank = /(?![ \u3000])\p{Zs}/u.test(letter);
    return isBlank || (!isComposed && isApart) ? codePointText(letter) : letter;
  }).join('');
}

/** `<U+202E>` */
export function codePointText(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/**
 * The look of a name: names with the same look can be confused. Ignores case, composition of accents,
 * look-alike letters and digits, and invisible characters.
 */
export function lookOf(name: string): string {
  // ASCII needs no composition; its look-alikes are replaced below.
  return (isPlainAscii(name) ? name : latinOf(name))
    .toLowerCase()
    .replace(/[|1i]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .normalize('NFC')
    .trim();
}

function latinOf(name: string): string {
  const folded = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return Array.from(folded, (letter) => LATIN.get(letter) ?? letter).join('');
}
