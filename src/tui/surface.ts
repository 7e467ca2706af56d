import { lineText } from './editor/line.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';
import { copiedCommands } from './table/commands.ts';
import { expectedError } from '../errors.ts';
import type { Draft } from '../os/editor.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import { counted, someOf } from '../text/one-line.ts';
import { visible } from '../text/visible.ts';

/** The effects of keys on the terminal and on other programs. */
export interface Surface {
  repaint(): void;
  /** Applies the theme that the user has chosen; undefined for the default of the terminal. */
  showTheme(wanted: State['theme']): void;
  /** Ctrl-Z. */
  suspend(): void;
  /** Ends the session. */
  leave(): void;
  /** Sends bytes that are not part of the frame. */
  send(bytes: string): void;
  /** Opens the user's editor on the terminal; resolves to the saved text. */
  edit(draft: Draft): Promise<string>;
  /** Copies with the desktop's clipboard program; resolves to its name, if there is one. */
  copy(text: string): Promise<string | undefined>;
}

/** Ctrl-X Ctrl-E: the edited line comes back to the prompt and is not run. */
export async function editLine(store: Store, surface: Surface): Promise<void> {
  const line = lineText(store.state.prompt.editing.line);
  if (hideSecrets(line) !== line) {
    const text = 'the line contains a secret: devsh does not write it to a file for the editor';
    store.logMessage('warning', text);
    return;
  }
  try {
    const edited = await surface.edit({ text: `${line}\n`, name: 'line.devsh' });
    store.dispatch({ kind: 'set-line', line: edited.replace(/\s+$/, '') });
  } catch (error) {
    store.logMessage('bad', `error: ${expectedError(error).message}`);
  }
}

/** `y`: copies commands by a program and by the terminal, which may be at the other end of an ssh connection. */
export async function copyCommands(store: Store, surface: Surface): Promise<void> {
  const { lines, of, leftOut } = copiedCommands(store.state);
  if (lines.length === 0) return;
  const text = lines.join('\n');
  // OSC 52: the terminal puts the text into the clipboard.
  surface.send(`\x1b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\x1b\\`);
  const program = await surface.copy(text);
  const what = `${lines.length === of ? '' : `the first ${lines.length} of `}${counted(of, 'command')}`;
  const how = program === undefined ? 'by the terminal (OSC 52)' : `by ${program} and OSC 52`;
  const without = leftOut.length === 0 ? '' : `, without ${someOf(leftOut.map(visible))}`;
  store.logMessage('good', `✓ copied ${what} ${how}${without}`);
}
