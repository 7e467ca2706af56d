const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Nothing but letters, digits and signs of ASCII, and blanks: one cell each, and nothing to be looked into. */
export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}
