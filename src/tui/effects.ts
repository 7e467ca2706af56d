import type { FormRunner } from './form/form-runner.ts';
import type { Effect } from './keys/key-binding.ts';
import { lineText } from './editor/line.ts';
import type { LineRunner } from './line-runner.ts';
import type { Outside, Programs } from './outside.ts';
import { wholeTable } from './table/view.ts';
import { wholeView } from './views/views.ts';
import type { Questions } from './questions.ts';
import type { KeyBinding, State } from './state.ts';
import type { Store } from './store.ts';
import { addForm, copyLines, editForm, editTextLine } from './table/commands.ts';
import type { TableReader } from './table/reader.ts';
import type { TypedLines } from './prompt/typed-lines.ts';

/** What keys need of the terminal. */
export interface Surface extends Programs {
  /** Draws everything anew. */
  repaint(): void;
  /** The looks that the user has chosen; undefined: what fits to the terminal. */
  showTheme(wanted: State['theme']): void;
  /** Ctrl-Z. */
  suspend(): void;
  /** The session is over. */
  leave(): void;
}

const AT_REST =
  'nothing is running; Ctrl-C again asks whether to leave, Ctrl-D at the prompt leaves';

/** Who does what keys ask for. */
interface Doers {
  readonly store: Store;
  readonly surface: Surface;
  readonly questions: Questions;
  readonly reader: TableReader;
  readonly runner: LineRunner;
  readonly lines: TypedLines;
  readonly forms: FormRunner;
  readonly outside: Outside;
}

/** Carries out what keys ask for beyond the screen. */
export class Effects {
  readonly #doers: Doers;
  #isLeaving = false;

  constructor(doers: Doers) {
    this.#doers = doers;
  }

  /** Asked to leave while a line was running: the session is over when it has ended. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Runs the line of a key, or begins it at the prompt. `index`: which of its keys it was. */
  type(binding: KeyBinding, index: number): void {
    const { store, lines } = this.#doers;
    if (binding.start !== undefined) {
      const line = binding.start(store.state);
      if (line !== undefined) store.dispatch({ kind: 'set-line', line });
    } else if (binding.run !== undefined) {
      const line = binding.run(store.state, index);
      if (binding.closes === true) store.dispatch({ kind: 'view', action: 'close' });
      if (line !== undefined) lines.submit(line, true);
    }
  }

  perform(effect: Effect): void {
    const { store, surface, questions, reader, lines, forms, outside } = this.#doers;
    const { state } = store;
    switch (effect) {
      case 'run-line':
        lines.run(lineText(state.prompt.editing.line));
        break;
      case 'complete':
        if (lineText(state.prompt.editing.line) === '')
          store.dispatch({ kind: 'view', action: 'go-table' });
        else void lines.complete();
        break;
      case 'edit-line':
        void outside.editLine();
        break;
      case 'interrupt':
        this.#interrupt();
        break;
      case 'end-of-input':
      case 'quit':
        this.#leave();
        break;
      case 'repaint':
        surface.repaint();
        break;
      case 'suspend':
        surface.suspend();
        break;
      case 'add-form':
        forms.open(addForm(state));
        break;
      case 'edit-form': {
        const isOne = state.table.marks.size <= 1;
        const opening = isOne ? editForm(state) : undefined;
        const line = isOne ? undefined : editTextLine(state);
        if (line !== undefined) lines.submit(line, true);
        if (opening !== undefined) forms.open(opening);
        break;
      }
      case 'run-form':
        forms.run();
        break;
      case 'refresh':
        void reader.read();
        break;
      case 'copy':
        void outside.copy(copyLines(state));
        break;
      case 'page-out':
        void outside.page(state.overlay.kind === 'none' ? wholeTable(state) : wholeView(state));
        break;
      case 'answer':
        questions.answer();
        break;
      case 'decline':
        questions.decline();
        break;
    }
  }

  /** Ctrl-C: stops a write, else clears what is typed, else stops reading, else closes what is open. */
  #interrupt(): void {
    const { store, questions, reader, runner } = this.#doers;
    const { state } = store;
    const isTyped = lineText(state.prompt.editing.line) !== '';
    const isAsking = state.questions.length > 0;
    if (runner.isWriting || (runner.isRunning && isAsking)) runner.interrupt();
    else if (isAsking) questions.decline();
    else if (state.focus === 'prompt' && isTyped)
      store.dispatch({ kind: 'view', action: 'clear-line' });
    else if (runner.isRunning) runner.interrupt();
    else if (reader.isReading) reader.interrupt();
    else if (state.overlay.kind !== 'none') store.dispatch({ kind: 'view', action: 'close' });
    else if (state.form !== undefined) store.dispatch({ kind: 'view', action: 'close-form' });
    else if (isTyped) store.dispatch({ kind: 'view', action: 'clear-line' });
    else void this.#offerToLeave();
  }

  /** Ctrl-C with nothing to stop says so; as long as that stands there, the next one asks. */
  async #offerToLeave(): Promise<void> {
    const { store, surface, questions } = this.#doers;
    if (store.state.log.current.at(-1)?.text !== AT_REST) {
      store.dispatch({ kind: 'log', lines: [{ tone: 'quiet', text: AT_REST }] });
      return;
    }
    const text = 'Leave devsh? Type y and Enter to leave, Esc to stay:';
    if ((await questions.ask({ kind: 'confirm', text, expected: 'y' })) !== undefined)
      surface.leave();
  }

  /** Leaves at once, or as soon as what runs has ended; asked again, at once. */
  #leave(): void {
    const { store, surface, runner } = this.#doers;
    if (runner.isRunning && !this.#isLeaving) {
      this.#isLeaving = true;
      runner.interrupt(true);
      const text = 'leaving as soon as the request in flight is finished';
      store.dispatch({ kind: 'log', lines: [{ tone: 'warning', text }] });
      return;
    }
    surface.leave();
  }
}
