import stringWidth from 'string-width';

/** Latin letters and our signs: one cell each, none combine. */
const NARROW = /^[\x20-\x7e\xa1-\xac\xae-\u02af…·•–▸▾◂▲▼›●○◌✓✗≠∆─━│┌┐└┘▇↑↓←→↹⏎]*$/;

/** Whether each UTF-16 unit of the text takes one cell, so that measuring is unnecessary. */
export function isNarrow(text: string): boolean {
  return NARROW.test(text);
}

/** The widest terminal. Behind it, each unit counts as one cell. */
const MOST_MEASURED = 2_048;
/** The longest emoji has 15 units. More marks say nothing to a reader, and a terminal draws each of them. */
const LONGEST_CHARACTER = 16;
/** Even emoji take no more units for each of their cells: enough of a text for so many cells. */
export const UNITS_OF_CELL = 8;

/** Terminal cells of a text, which must already be harmless (`visible`). */
export function widthOf(text: string): number {
  if (isNarrow(text)) return text.length;
  const rest = Math.max(0, text.length - MOST_MEASURED);
  return rest + cellsUpTo(text.slice(0, MOST_MEASURED), Infinity);
}

/** The same, but at most `most`. Reads no more of the text than these need. */
export function cellsUpTo(text: string, most: number): number {
  const start = startFor(text, most);
  if (isNarrow(start)) return Math.min(start.length, most);
  let used = 0;
  for (const { segment } of graphemeClusters(start)) {
    used += characterWidth(segment);
    if (used >= most) return most;
  }
  return start.length < text.length ? most : used;
}

/** As much of a text as `width` cells can show, and one more. */
function startFor(text: string, width: number): string {
  return wholeCharacters(text, (Math.max(0, width) + 1) * UNITS_OF_CELL);
}

/** The first `length` units, without half of a surrogate pair at the end. */
export function wholeCharacters(text: string, length: number): string {
  if (text.length <= length) return text;
  const isHalf = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? length - 1 : length);
}

/** Whether a text takes at most `width` cells. Reads no more than these. */
export function isWithin(text: string, width: number): boolean {
  // No unit takes more than two cells.
  return text.length * 2 <= width || cellsUpTo(text, width + 1) <= width;
}

const knownWidths = new Map<string, number>();

/** Terminal cells of one user-perceived character. Measuring it takes longer than finding it again. */
export function characterWidth(segment: string): number {
  const start = segment.slice(0, LONGEST_CHARACTER);
  const known = knownWidths.get(start);
  if (known !== undefined) return known;
  if (knownWidths.size >= 4096) knownWidths.clear();
  const width = stringWidth(start);
  knownWidths.set(start, width);
  return width;
}

/** At most `width` cells: a longer text ends with `…`. Never cuts a character in half. Reads no more than it shows. */
export function cut(text: string, width: number): string {
  const start = startFor(text, width);
  if (isNarrow(start)) {
    if (text.length <= width) return text;
    return width < 1 ? '' : text.slice(0, width - 1) + '…';
  }
  let kept = '';
  let used = 0;
  let shorter = '';
  for (const { segment } of graphemeClusters(start)) {
    used += segment.length > LONGEST_CHARACTER ? Infinity : characterWidth(segment);
    if (used > width) return width < 1 ? '' : shorter + '…';
    kept += segment;
    if (used <= width - 1) shorter = kept;
  }
  return start.length < text.length ? shorter + '…' : kept;
}

/** Exactly `width` cells: cut, or padded with spaces. */
export function fit(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const kept = cut(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(kept)));
  return align === 'left' ? kept + padding : padding + kept;
}

/** The beginning and end of a long text, with the number of characters left out between them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = wholeCharacters(text, Math.ceil(most * 0.75));
  let tail = text.length - Math.floor(most * 0.25);
  if (/[\udc00-\udfff]/.test(text.charAt(tail))) tail += 1;
  return `${head} …[${tail - head.length} characters]… ${text.slice(tail)}`;
}

/** Created on first use: it takes as long as the rest of a start, and most texts are ASCII. */
let segmenter: Intl.Segmenter | undefined;

/** User-perceived characters, of one or more code points each. */
export function graphemeClusters(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text);
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Only printable ASCII and spaces: one cell each, nothing to sanitize. */
export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}

/** After each Latin letter those used to forge names (a selection from Unicode's confusables.txt, UTS #39). */
const TWINS =
  'aаα bЬƄ cсϲ dԁ eеє gց hһհ iіι jјϳ kκк lӏ nոռ oоοօ pрρ qԛզ sѕ tтτ uυս vνѵ wԝաω xхχ yуγү ' +
  'AАΑ BВΒ CСϹ EЕΕ HНΗ IІΙ JЈ KКΚ MМΜ NΝ OОΟՕ PРΡ SЅՏ TТΤ UՍ XХΧ YҮΥ ZΖ';

const LATIN = new Map(
  TWINS.split(' ').flatMap(([latin = '', ...twins]) => twins.map((twin) => [twin, latin] as const)),
);
const HAS_TWIN = new RegExp(`[${[...LATIN.keys()].join('')}]`, 'u');

/** Look-alikes of Latin letters in words that also contain Latin letters; a word in a single script stays. */
export function replaceForged(text: string, replacement: (letter: string) => string): string {
  if (!HAS_TWIN.test(text)) return text;
  return text.replace(/[\p{L}\p{M}\p{N}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) && HAS_TWIN.test(word)
      ? Array.from(word, (letter) => (LATIN.has(letter) ? replacement(letter) : letter)).join('')
      : word,
  );
}

/** Runs without letters of Europe, China and Korea: only these can be marks, which are slow to search for. */
const MARKS =
  /[^\0-\u02ff\u0370-\u0482\u048a-\u0590\u1f00-\u20cf\u2100-\u2ccf\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]{31,}/g;

/** A normal form of Unicode in linear time (UAX 15, Stream-Safe Text); a text with more marks is its own NFC. */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  if (isPlainAscii(text)) return text;
  const streamed = text.replace(MARKS, (run) => run.replace(/\p{M}{30}(?=\p{M})/gu, '$&\u034f'));
  return form === 'NFC' && streamed !== text ? text : streamed.normalize(form);
}

/** Unusual blanks, and letters that NFC would change, as code points: `e<U+0301>`, `a<U+00A0>b`. */
export function unmistakable(name: string): string {
  if (isPlainAscii(name)) return name;
  const isComposed = name === normalized(name);
  return Array.from(name, (letter) => {
    const isApart = /[\p{M}\u1160-\u11ff]/u.test(letter) || letter !== letter.normalize('NFC');
    const isBlank = /(?![ \u3000])\p{Zs}/u.test(letter);
    return isBlank || (!isComposed && isApart) ? codePointText(letter) : letter;
  }).join('');
}

/** `<U+202E>` */
function codePointText(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Names with one look can be confused. Ignores case, composition, look-alikes and invisible characters. */
export function lookOf(name: string): string {
  // ASCII needs no composition; its look-alikes are replaced below.
  const look = (isPlainAscii(name) ? name : latinOf(name))
    .toLowerCase()
    .replace(/[|1i]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
  return normalized(look).trim();
}

function latinOf(name: string): string {
  const folded = normalized(name, 'NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return Array.from(folded, (letter) => LATIN.get(letter) ?? letter).join('');
}

/** What a terminal obeys or does not show: control, bidi, zero-width and invisible characters, lone surrogates. */
const UNSAFE =
  '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\uFFF9-\\uFFFB';

/** Large ranges without any of these: ASCII, letters up to Georgian, dashes, signs, CJK. No surrogates. */
const SAFE =
  '\\x20-\\x7e\\xa1-\\xac\\xae-\\u034e\\u0350-\\u061b\\u061d-\\u115e\\u2010-\\u2027\\u202f-\\u205f\\u2070-\\u3163\\u3165-\\ud7ff';

/** Faster than a search for unsafe characters, and true for most texts. */
const IS_SAFE = new RegExp(`^[${SAFE}]*$`);
const HAS_UNSAFE = new RegExp(`[${UNSAFE}]`, 'u');
const ALL_UNSAFE = new RegExp(`[${UNSAFE}]`, 'gu');

/** Compiling all emoji sequences takes 16 ms: done only if the usual ones do not match. */
let unsafeOrEmoji: RegExp | undefined;
let usualEmoji: RegExp | undefined;

/** Persons with their tools, then single signs such as ❤️, then keycaps. */
const USUAL_EMOJI =
  '[👨👩🧑]\\p{Emoji_Modifier}?\\u200D(?:[🌾🍳🍼🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦯🦼🦽🦰-🦳]|[⚕⚖✈]\\uFE0F)|\\p{Basic_Emoji}|\\p{Emoji_Keycap_Sequence}';

/** Whether a text contains something that must not reach a terminal. */
export function hasUnsafe(text: string): boolean {
  return !IS_SAFE.test(text) && HAS_UNSAFE.test(text);
}

/** Ten times as fast to search for as the unsafe characters themselves. */
const SUSPECT = new RegExp(`[^${SAFE}]+`, 'g');

/** Replaces each unsafe code point, also those inside an emoji. */
export function replaceUnsafe(text: string, replacement: (character: string) => string): string {
  // A text of many has the same ones again and again.
  const known = new Map<string, string>();
  const replaced = (character: string): string => {
    let other = known.get(character);
    if (other === undefined) known.set(character, (other = replacement(character)));
    return other;
  };
  return text.replace(SUSPECT, (run) => run.replace(ALL_UNSAFE, replaced));
}

/** Escapes each unsafe code point in JSON text: `\uXXXX`. Line breaks are its layout: strings have none. */
export function replaceUnsafeInJson(json: string): string {
  return replaceUnsafe(json, (character) =>
    character === '\n' ? character : jsonEscape(character),
  );
}

/** `\uXXXX` for each UTF-16 unit of a character. */
export function jsonEscape(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at += 1)
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return escaped;
}

/** One harmless line: controls as `^[`, invisible ones and look-alikes as `<U+202E>`. Others stay. Idempotent. */
export function visible(text: string): string {
  return isPlainAscii(text) ? text : replaceForged(withoutUnsafe(text), shown);
}

function withoutUnsafe(text: string): string {
  if (!hasUnsafe(text)) return text;
  usualEmoji ??= new RegExp(USUAL_EMOJI, 'gv');
  if (!HAS_UNSAFE.test(text.replace(usualEmoji, ' '))) return text;
  // No emoji begins with an unsafe character, and searching for all of them takes long.
  unsafeOrEmoji ??= new RegExp(`[${UNSAFE}]|\\p{RGI_Emoji}`, 'gv');
  return text.replace(unsafeOrEmoji, (match) => (HAS_UNSAFE.test(match) ? shown(match) : match));
}

/** Same for the start of a long text: reads at most `most` UTF-16 units; `…` stands for the rest. */
export function visibleStart(text: string, most: number): string {
  const start = wholeCharacters(text, most);
  return start.length === text.length ? visible(text) : visible(start) + '…';
}

/** Same for messages of several lines: `\n` stays a line break, a tab becomes two spaces. */
export function visibleLines(text: string): string {
  return isPlainAscii(text)
    ? text
    : text
        .split('\n')
        .map((line) => visible(line.replaceAll('\t', '  ')))
        .join('\n');
}

function shown(match: string): string {
  // An emoji with a joiner, a variation selector or tags: a known sequence, drawn as one.
  if (/^\p{Emoji}/u.test(match)) return match;
  const code = match.codePointAt(0) ?? 0;
  if (code < 0x20) return '^' + String.fromCharCode(code + 64);
  if (code === 0x7f) return '^?';
  return codePointText(match);
}

/** Fits a reason into one row: all of it, else its first sentence, else the start. */
export function shortReason(text: string, width: number): string {
  if (isWithin(text, width)) return text;
  const [first] = text.split(/[.?] (?=[A-Z])/, 1);
  return cut(first === undefined || first === text ? text : `${first} …`, width);
}
