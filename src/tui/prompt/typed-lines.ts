import { type DevshError, expectedError, UsageError } from '../../errors.ts';
import type { Shell } from '../../shell/shell.ts';
import type { Menu } from './prompt-state.ts';
import { contextOf, isAtPrompt } from '../keys/keymap.ts';
import { type EditKey, editKeyOf, lineText } from '../editor/line.ts';
import type { LineRunner } from '../line-runner.ts';
import type { Questions } from '../questions.ts';
import { firstSteps } from '../state.ts';
import type { Store } from '../store.ts';
import type { KeyEvent } from '../terminal/keys.ts';
import type { Services } from '../../shell/services.ts';

/** An answer typed before any question; no command has such a name. */
const EARLY_ANSWER = /^\s*(y|yes|n|no)\s*$/i;

/** Proposals are shown after this pause between keys. Earlier, they would distract. */
const OFFER_MS = 150;
/** A longer line is pasted, and gets no proposals. */
const MOST_OFFERED = 1_000;

/** Brings the line at the prompt to the shell: it is typed, completed, run, and stored in the history. */
export class TypedLines {
  readonly #shell: Shell;
  readonly #store: Store;
  readonly #questions: Questions;
  readonly #runner: LineRunner;
  readonly history: ReturnType<typeof lineHistory>;
  #offering: NodeJS.Timeout | undefined;

  constructor(shell: Shell, store: Store, questions: Questions, runner: LineRunner) {
    this.#shell = shell;
    this.#store = store;
    this.#questions = questions;
    this.#runner = runner;
    this.history = lineHistory(shell.shell.services.history, store);
  }

  /** Types a key. Resolves when an open menu has the proposals for the new line. */
  type(event: KeyEvent): Promise<void> | undefined {
    const key = editKeyOf(event);
    if (key === undefined || this.#isWayToPrompt(key)) return undefined;
    this.#store.dispatch({ kind: 'edit', key });
    const { menu } = this.#store.state.prompt;
    if (menu !== undefined && menu.isOffered !== true) return this.complete();
    this.#offerSoon(menu);
    return undefined;
  }

  /** Proposes words when the keys pause. */
  #offerSoon(menu: Menu | undefined): void {
    clearTimeout(this.#offering);
    const { settings } = this.#shell.shell.services;
    if (!settings.get('completeWhileTyping') || !isAtPrompt(this.#store.state)) return;
    this.#offering = setTimeout(() => void this.#offer(menu), OFFER_MS);
  }

  async #offer(menu: Menu | undefined): Promise<void> {
    const { line } = this.#store.state.prompt.editing;
    const text = lineText(line);
    const isPasted = text.length > MOST_OFFERED || text.includes('\n');
    if (text.trim() === '' || line.after !== '' || isPasted) return;
    const completion = await this.#shell.complete(text, line.before.length);
    // A view or a question may have opened meanwhile, or Esc has closed the proposals.
    const { state } = this.#store;
    if (state.prompt.menu !== menu || (menu === undefined && contextOf(state) !== 'prompt')) return;
    this.#store.dispatch({ kind: 'menu', line: text, completion, isOffered: true });
  }

  stop(): void {
    clearTimeout(this.#offering);
  }

  /** `:` leads to the prompt from everywhere, and no line begins with it. */
  #isWayToPrompt(key: EditKey): boolean {
    const { state } = this.#store;
    const isEmpty = lineText(state.prompt.editing.line) === '';
    return key.kind === 'insert' && key.text === ':' && isEmpty && isAtPrompt(state);
  }

  /** Enter at the prompt: runs one line, or asks before it runs several pasted ones. Resolves when they have ended. */
  async run(text: string): Promise<void> {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const [only] = lines;
    const step = /^[1-9]$/.test(text.trim())
      ? firstSteps(this.#store.state)[Number(text) - 1]
      : undefined;
    if (step?.start !== undefined) {
      this.#store.dispatch({ kind: 'set-line', line: step.start });
    } else if (step !== undefined) {
      this.#store.act('clear-line');
      await this.submit(step.line, true);
    } else if (only === undefined) {
      this.#store.act('clear-line');
    } else if (EARLY_ANSWER.test(only)) {
      this.#store.act('clear-line');
      this.#store.logMessage('warning', `ignored "${only.trim()}": no question is open`);
    } else if (lines.length > 1) {
      await this.#runSeveral(lines);
    } else {
      const ran = this.submit(only);
      if (ran === undefined) return;
      this.#store.act('clear-line');
      void this.history.add(only);
      await ran;
    }
  }

  async #runSeveral(lines: readonly string[]): Promise<void> {
    const answer = await this.#questions.ask({
      kind: 'confirm',
      text: `Run these ${lines.length} lines one after the other? Type y to run them:`,
      details: lines,
      expected: 'y',
    });
    if (answer === undefined) return;
    for (const line of lines) {
      if (this.submit(line) === undefined) return;
      await this.history.add(line);
    }
    this.#store.act('clear-line');
  }

  /** Runs a line. Resolves when it has ended; undefined if it cannot run: then it stays, with its problem. */
  submit(line: string, isShown = false): Promise<void> | undefined {
    try {
      return this.#runner.submit(line, isShown ? { shown: line } : undefined);
    } catch (error) {
      this.showProblem(line, expectedError(error));
      return undefined;
    }
  }

  showProblem(line: string, error: DevshError): void {
    const { message } = error;
    const { column, suggestions = [] } = error instanceof UsageError ? error : {};
    const { state } = this.#store;
    const typed = lineText(state.prompt.editing.line);
    // Newer input must not be lost, and keys of the table must not become a line.
    const hasTypedOn = typed !== line && typed.trim() !== '' && !typed.includes('\n');
    if (hasTypedOn || state.focus !== 'prompt') {
      this.#store.logMessage('bad', `error: ${message}`);
      return;
    }
    if (typed !== line) this.#store.dispatch({ kind: 'set-line', line });
    this.#store.dispatch({ kind: 'problem', problem: { message, column, suggestions } });
  }

  /** Tab: opens the menu of proposals, or fills it for the current line. */
  async complete(): Promise<void> {
    const { line } = this.#store.state.prompt.editing;
    const text = lineText(line);
    const completion = await this.#shell.complete(text, line.before.length);
    this.#store.dispatch({ kind: 'menu', line: text, completion });
  }
}

/** The history of lines, in the state and in its file. */
export function lineHistory(file: Services['history'], store: Store) {
  /** Lines not in the file yet, oldest first. */
  const unsaved: string[] = [];
  /** Pending work on the file, one after the other. */
  let pending: Promise<void> = Promise.resolve();
  const set = (lines: readonly string[]): void => store.dispatch({ kind: 'history', lines });
  /** Warns if the file cannot be read or written. */
  const next = (work: () => Promise<void>): Promise<void> => {
    const done = pending.then(work).catch((error: unknown) => {
      store.logMessage('warning', `warning: ${expectedError(error).message}`);
    });
    // A failure of one work must not block the others.
    pending = done.catch(() => undefined);
    return done;
  };
  return {
    /** Loads the file; lines added meanwhile come after it. */
    load: () =>
      next(async () => {
        set([...(await file.load()), ...unsaved]);
      }),

    /** Adds a line, unless it must not be kept. */
    async add(line: string): Promise<void> {
      if (!file.keeps(line)) return;
      const { history } = store.state.prompt;
      if (history.at(-1) !== line) set([...history, line]);
      unsaved.push(line);
      await next(() => file.append(line).finally(() => unsaved.shift()));
    },

    /** Resolves when every added line is in the file. */
    saved: () => pending,
  };
}
