import { isPlainAscii } from './width.ts';
import { codePointText, replaceForged } from './look-alike.ts';

/**
 * What a terminal obeys or does not show: control and bidi characters, zero-width and other invisible
 * ones, line separators, lone surrogates. They make escape sequences, reordered and look-alike text.
 */
const UNSAFE =
  '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\uFFF9-\\uFFFB';

/**
 * Large ranges without any of these: ASCII, letters up to Arabic, dashes and signs, Chinese, Japanese
 * and Korean letters. They contain no surrogates.
 */
const SAFE =
  '\\x20-\\x7e\\xa1-\\xac\\xae-\\u034e\\u0350-\\u061b\\u2010-\\u2027\\u202f-\\u205f\\u2070-\\u3163\\u3165-\\ud7ff';

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
  return text.replace(SUSPECT, (run) => run.replace(ALL_UNSAFE, replacement));
}

/** Escapes each unsafe code point in JSON text: `\uXXXX`. */
export function replaceUnsafeInJson(text: string): string {
  return replaceUnsafe(text, jsonEscape);
}

/** `\uXXXX` for each UTF-16 unit of a character. */
export function jsonEscape(character: string): string {
  return character.replace(
    /[^]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * A foreign text as one harmless line: control characters as `^[`, other invisible ones and look-alikes
 * of Latin letters as `<U+202E>`. Other letters, combining marks and emoji stay. Idempotent.
 */
export function visible(text: string): string {
  return isPlainAscii(text) ? text : replaceForged(withoutUnsafe(text), shown);
}

function withoutUnsafe(text: string): string {
  if (!hasUnsafe(text)) return text;
  usualEmoji ??= new RegExp(USUAL_EMOJI, 'gv');
  if (!HAS_UNSAFE.test(text.replace(usualEmoji, ' '))) return text;
  unsafeOrEmoji ??= new RegExp(`\\p{RGI_Emoji}|[${UNSAFE}]`, 'gv');
  return text.replace(unsafeOrEmoji, (match) => (HAS_UNSAFE.test(match) ? shown(match) : match));
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
