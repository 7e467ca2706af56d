import type { Draft } from '../os/editor.ts';
import { DevshError } from '../errors.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import { visibleLines } from '../text/visible.ts';
import { lineText } from './editor/line.ts';
import type { LogTone } from './state.ts';
import type { Store } from './store.ts';
import { counted } from '../text/one-line.ts';

/** Other programs, as far as keys use them. */
export interface Programs {
  /** Bytes that are no part of the picture. */
  send(bytes: string): void;
  /** Lends the terminal to the user's editor; resolves to what was saved. */
  edit(draft: Draft, signal?: AbortSignal): Promise<string>;
  /** Lends the terminal to the user's pager. */
  page(text: string): Promise<void>;
  /** Gives a text to the clipboard program of the desktop; resolves to its name, if there is one. */
  copy(text: string): Promise<string | undefined>;
}

/** What keys do with the help of other programs. */
export class Outside {
  readonly #store: Store;
  readonly #programs: Programs;

  constructor(store: Store, programs: Programs) {
    this.#store = store;
    this.#programs = programs;
  }

  /** Ctrl-X Ctrl-E: comes back to the prompt with the line, and does not run it. */
  async editLine(): Promise<void> {
    const line = lineText(this.#store.state.prompt.editing.line);
    if (hideSecrets(line) !== line) {
      this.#say('warning', 'the line holds a secret: it is not written to a file for the editor');
      return;
    }
    try {
      const edited = await this.#programs.edit({ text: `${line}\n`, name: 'line.devsh' });
      this.#store.dispatch({ kind: 'set-line', line: edited.replace(/\s+$/, '') });
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      this.#say('bad', `error: ${error.message}`);
    }
  }

  /** `y`: to the terminal first, which may be at the other end of an ssh connection. */
  async copy(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const text = lines.join('\n');
    this.#programs.send(clipboardBytes(text));
    const program = await this.#programs.copy(text);
    const what = counted(lines.length, 'command');
    const how = program === undefined ? 'by the terminal (OSC 52)' : `by ${program} and OSC 52`;
    this.#say('good', `✓ copied ${what} ${how}`);
  }

  /** `|`: what is in sight, with all its lines, for as long as the user reads it. */
  async page(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    try {
      await this.#programs.page(`${lines.join('\n')}\n`);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      this.#say('bad', `error: ${error.message}`);
    }
  }

  #say(tone: LogTone, text: string): void {
    this.#store.dispatch({ kind: 'log', lines: [{ tone, text: visibleLines(text) }] });
  }
}

/** OSC 52: the terminal puts the text into the clipboard, also at the other end of an ssh connection. */
function clipboardBytes(text: string): string {
  return `\x1b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\x1b\\`;
}
