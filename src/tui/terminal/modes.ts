/* The modes that devsh changes, and the way back. Names and numbers as in xterm's ctlseqs. */

const ALTERNATE_SCREEN = 1049;
const BRACKETED_PASTE = 2004;
const CURSOR_KEYS = 1;
const CURSOR = 25;
const AUTO_WRAP = 7;
const SYNCHRONIZED = 2026;

const on = (mode: number): string => `\x1b[?${mode}h`;
const off = (mode: number): string => `\x1b[?${mode}l`;

const NUMERIC_KEYPAD = '\x1b>';
const PLAIN_TEXT = '\x1b[m';
const PUSH_TITLE = '\x1b[22;2t';
const POP_TITLE = '\x1b[23;2t';

/** Alternate screen, bracketed paste, plain cursor keys and keypad, no cursor. May be sent twice. */
export const ENTER_MODES =
  on(ALTERNATE_SCREEN) + on(BRACKETED_PASTE) + off(CURSOR_KEYS) + NUMERIC_KEYPAD + off(CURSOR);

/** Everything back, also what a paint that was cut short left on; the screen comes last. */
export const LEAVE_MODES =
  off(SYNCHRONIZED) +
  PLAIN_TEXT +
  on(AUTO_WRAP) +
  off(BRACKETED_PASTE) +
  off(CURSOR_KEYS) +
  NUMERIC_KEYPAD +
  on(CURSOR) +
  off(ALTERNATE_SCREEN);

/** Sets the title of the window; the one before comes back with `restoreTitle`. */
export function titleBytes(title: string): string {
  return `\x1b]2;${title.replace(/\p{Cc}/gu, '')}\x1b\\`;
}

export const KEEP_TITLE = PUSH_TITLE;
export const RESTORE_TITLE = POP_TITLE;
