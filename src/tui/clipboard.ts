/** OSC 52: the terminal puts the text into the clipboard, also at the other end of an ssh connection. */
export function clipboardBytes(text: string): string {
  return `\x1b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\x1b\\`;
}
