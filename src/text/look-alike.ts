import { isPlainAscii } from './width.ts';

/**
 * Letters of other scripts that look like Latin ones, by the Latin letter: those that names are forged
 * with (a selection from Unicode's confusables.txt, UTS #39).
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
 * Replaces letters that stand in for Latin ones: those that look like them, in a word that has Latin
 * letters, too. A word in one script stays as it is, whatever the script.
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
 * A name told apart from those that are drawn the same: blanks other than the usual one, and what NFC would
 * write in another way, by their numbers: `e<U+0301>`, `a<U+00A0>b`.
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
 * What a name looks like: names with the same look can be taken for one another. Case, accents written
 * in another way, look-alike letters and digits, and what is not shown at all make no difference.
 */
export function lookOf(name: string): string {
  // In ASCII none is composed, and the twins are below.
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
