/**
 * What a terminal, an editor or a viewer obeys or shows as nothing: control and bidi characters,
 * invisible ones, line separators, half surrogates. The same set as what readers of outputs make
 * visible, so that they leave a report as it is.
 */
const UNSAFE =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]/gu;

/** A text from outside as one line of visible characters: `^J` for a line end, `<U+202E>`. */
export function oneLine(text: string): string {
  return replaceUnsafe(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return '^' + String.fromCharCode(code + 64);
    if (code === 0x7f) return '^?';
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** Replaces each code point that must not be shown as it is. */
export function replaceUnsafe(text: string, replacement: (character: string) => string): string {
  return text.replace(UNSAFE, replacement);
}

export function hasUnsafe(text: string): boolean {
  return text.search(UNSAFE) >= 0;
}
