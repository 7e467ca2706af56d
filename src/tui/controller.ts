import { FormRunner } from './form/form-runner.ts';
import { type Effect, isEffect, type ViewAction } from './keys/key-binding.ts';
import { lineText } from './editor/line.ts';
import { LineRunner } from './line-runner.ts';
import { wholeTable } from './table/view.ts';
import { wholeView } from './views/views.ts';
import { Questions, TypedAhead } from './questions.ts';
import type { Context, KeyBinding, LogTone, State } from './state.ts';
import { Gathering, type Store } from './store.ts';
import { addForm, copyLines, editForm, editTextLine } from './table/commands.ts';
import { TableReader, TableWatch } from './table/reader.ts';
import { TypedLines } from './prompt/typed-lines.ts';
import type { Draft } from '../os/editor.ts';
import { DevshError } from '../errors.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import { visibleLines } from '../text/visible.ts';
import { counted } from '../text/one-line.ts';
import { isFirstRun, nextSteps } from '../shell/help/first-run.ts';
import type { Shell } from '../shell/shell.ts';
import { fleetView } from './screen/fleet-view.ts';
import { FilterRunner } from './table/filter-runner.ts';
import { takesEscape } from './prompt/reduce-prompt.ts';
import { contextOf, keyText, type Pressed, pressedKey, strayText } from './keys/keymap.ts';
import { LastSeen, TableFeed } from './table/feed.ts';
import { type KeyEvent, matchesKey } from './terminal/keys.ts';

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
class Effects {
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

/** Other programs, as far as keys use them. */
interface Programs {
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
class Outside {
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

/** Turns keys into actions, lines and answers. All that reaches outside starts here. */
export class Controller {
  readonly runner: LineRunner;
  readonly #shell: Shell;
  readonly #store: Store;
  readonly #questions: Questions;
  readonly #filter: FilterRunner;
  readonly #watch: TableWatch;
  readonly #feed: TableFeed;
  readonly #reader: TableReader;
  readonly #lines: TypedLines;
  readonly #forms: FormRunner;
  readonly #effects: Effects;
  readonly #lastSeen: LastSeen;
  readonly #fleetNews: Gathering;
  readonly #typedAhead: TypedAhead;
  /** The lines of tables out of sight that something was written since. */
  readonly #stale = new Set<string>();

  /** `reduceMotion`: nothing on the screen changes by itself but for news. */
  constructor(shell: Shell, store: Store, surface: Surface, reduceMotion: boolean) {
    this.#shell = shell;
    this.#store = store;
    this.#fleetNews = new Gathering(() => {
      this.#showFleet();
    });
    this.#questions = new Questions(store);
    this.#typedAhead = new TypedAhead(
      store,
      (event) => {
        this.#press(event);
      },
      () => {
        this.#sayOnce('keys that were typed before the focus came here were dropped');
      },
    );
    this.#filter = new FilterRunner(store);
    this.#lastSeen = new LastSeen(shell.session, store);
    this.#feed = new TableFeed(store, shell.session.fleet, shell.session.services.columns);
    this.#reader = new TableReader(shell, store, this.#questions, this.#feed);
    this.#watch = new TableWatch(store, this.#reader, reduceMotion);
    this.runner = new LineRunner({
      shell,
      store,
      questions: this.#questions,
      feed: this.#feed,
      edit: (draft, signal) => surface.edit(draft, signal),
      onEnd: ({ command, args }, results, goesOn) => {
        const isThemed = command.name === 'theme' && args.optional('NAME') !== undefined;
        if (isThemed) surface.showTheme(shell.session.services.settings.get('theme'));
        if (goesOn) this.#fleetNews.now();
        else if (this.#effects.isLeaving) surface.leave();
        else this.#afterLine(command.name, results.length > 0);
      },
      onProblem: (line, error) => {
        this.#lines.showProblem(line, error);
      },
      onQuit: () => {
        surface.leave();
      },
    });
    this.#lines = new TypedLines(shell, store, this.#questions, this.runner);
    this.#forms = new FormRunner(shell.session.fleet, store, this.runner);
    this.#effects = new Effects({
      store,
      surface,
      questions: this.#questions,
      reader: this.#reader,
      runner: this.runner,
      lines: this.#lines,
      forms: this.#forms,
      outside: new Outside(store, surface),
    });
  }

  /** Runs the first line; resolves at once. */
  start(line: string): void {
    this.#shell.session.fleet.subscribe(() => {
      this.#fleetNews.soon();
    });
    this.#fleetNews.now();
    void this.#lines.loadHistory();
    if (line !== '') this.#lines.submit(line);
    else void this.#greet();
  }

  /** Who has nothing yet is told what one can begin with. */
  async #greet(): Promise<void> {
    const { session } = this.#shell;
    this.#store.dispatch({ kind: 'next-steps', steps: await nextSteps(session) });
    if (!(await isFirstRun(session))) return;
    this.#store.dispatch({ kind: 'first-run', inventory: session.services.inventory.path });
  }

  /** Ends what goes on in the background; resolves when nothing is left to be written. */
  stop(): Promise<void> {
    this.#fleetNews.stop();
    this.#reader.interrupt();
    this.#filter.stop();
    this.#watch.stop();
    return this.#lines.saved();
  }

  onKey(event: KeyEvent): void {
    this.#typedAhead.press(event);
  }

  #press(event: KeyEvent): void {
    if (!['question', 'plan', 'plan-find'].includes(contextOf(this.#store.state)))
      this.#questions.goOn();
    const { state } = this.#store;
    const context = contextOf(state);
    if (context === 'waiting') this.#questions.hold();
    const pressed = this.#pressed(event, context);
    if (pressed?.kind === 'prefix') {
      this.#store.dispatch({ kind: 'pending-keys', keys: pressed.keys });
      return;
    }
    if (this.runner.isWriting && matchesKey(event, 'ctrl-c')) {
      this.#effects.perform('interrupt');
      return;
    }
    if (pressed === undefined) {
      const stray = strayText(state);
      if (stray === undefined) this.#lines.type(event);
      else this.#sayOnce(stray);
      return;
    }
    const { binding, index } = pressed;
    const reason = binding.disabled?.(state);
    if (reason !== undefined) {
      const { keys, hint, label } = binding;
      this.#sayOnce(`${keyText(keys[index] ?? '')} (${hint?.[1] ?? label}): ${reason}`);
    } else if (binding.run !== undefined || binding.start !== undefined) {
      this.#effects.type(binding, index);
    } else {
      this.#act(binding.action, event);
    }
  }

  /** A key that is no line. */
  #act(action: ViewAction | Effect, event: KeyEvent): void {
    const { state } = this.#store;
    if (action === 'end-of-input' && lineText(state.prompt.editing.line) !== '') {
      this.#lines.type(event);
    } else if (action === 'go-table' && takesEscape(state.prompt)) {
      this.#store.dispatch({ kind: 'vi', key: 'escape' });
    } else if (action === 'menu-accept' && state.prompt.menu?.chosen === undefined) {
      this.#effects.perform('run-line');
    } else if (action === 'press-in-table') {
      this.#pressInTable(event);
    } else if (isEffect(action)) {
      this.#effects.perform(action);
    } else {
      this.#store.dispatch({ kind: 'view', action });
      // With what other sessions have added since.
      if (action === 'search' && state.prompt.search === undefined) void this.#lines.loadHistory();
      if (this.#store.state.table.command !== state.table.command) this.#comeBack();
    }
  }

  /** Where it does nothing there, the focus stays where it is. */
  #pressInTable(event: KeyEvent): void {
    const { state } = this.#store;
    const inTable = { ...state, focus: 'table' } as const;
    const pressed = pressedKey(event, contextOf(inTable), state.keymap);
    if (pressed?.kind !== 'binding') {
      this.#lines.type(event);
      return;
    }
    this.#store.dispatch({ kind: 'view', action: 'go-table' });
    this.#press(event);
    if (pressed.binding.disabled?.(inTable) !== undefined)
      this.#store.dispatch({ kind: 'view', action: 'go-prompt' });
  }

  /** Another table is in sight again: what was read or changed meanwhile shows in it, too. */
  #comeBack(): void {
    const { command } = this.#store.state.table;
    this.#feed.takeSeen();
    if (this.#stale.delete(command)) void this.#reader.read();
  }

  /** A key of several presses that goes wrong is over; its last press means what it always does. */
  #pressed(event: KeyEvent, context: Context): Pressed | undefined {
    const { keymap, pendingKeys } = this.#store.state;
    if (pendingKeys === undefined) return pressedKey(event, context, keymap);
    this.#store.dispatch({ kind: 'pending-keys', keys: undefined });
    return pressedKey(event, context, keymap, pendingKeys) ?? pressedKey(event, context, keymap);
  }

  #afterLine(command: string, hasResults: boolean): void {
    if (this.#shell.session.fleet.connected.length === 0) void this.#greet();
    this.#fleetNews.now();
    const { table, fleet } = this.#store.state;
    const { scope } = table;
    const isUse = command === 'use' && (scope !== undefined || table.commandFilter !== '');
    // A device that comes takes no filter away; a table of other devices makes room for what is selected.
    const isElsewhere = scope !== undefined && !fleet.selected.some((name) => scope.includes(name));
    const isConnect = command === 'connect' || command === 'demo';
    if (isUse || (isConnect && isElsewhere)) this.#feed.reset();
    // Which devices were chosen shows in their records.
    if (command === 'use' && this.#store.state.overlay.kind !== 'none')
      this.#store.dispatch({ kind: 'table', source: this.#store.state.table });
    if (hasResults)
      for (const left of this.#store.state.tables.values()) this.#stale.add(left.command);
    this.#feed.takeSeen();
    const { reads } = this.#store.state.table;
    const failed = new Set(
      fleet.devices.filter(({ kind }) => kind === 'failed').map(({ name }) => name),
    );
    const isMissing = (name: string): boolean => !reads.has(name) && !failed.has(name);
    if (hasResults || fleet.selected.some(isMissing)) void this.#reader.read();
  }

  #showFleet(): void {
    const { fleet, isReadOnly, services } = this.#shell.session;
    const view = fleetView(fleet, isReadOnly, services.settings.get('on'));
    this.#store.dispatch({ kind: 'fleet', fleet: view });
    this.#lastSeen.look();
    this.#forms.takeFields();
    this.#feed.takeSeen();
  }

  /** Asked again, it is not said again. */
  #sayOnce(text: string): void {
    const said = visibleLines(text);
    if (this.#store.state.log.current.at(-1)?.text === said) return;
    this.#store.dispatch({ kind: 'log', lines: [{ tone: 'warning', text: said }] });
  }
}
