import { runForm, showForm, updateFields } from './form/form-runner.ts';
import { type Effect, isEffect, type ViewAction } from './keys/key-binding.ts';
import { lineText } from './editor/line.ts';
import { LineRunner } from './line-runner.ts';
import { readRecordHistory } from './views/record-history.ts';
import { PALETTE } from './views/palette.ts';
import { Questions, QUIET_MS, Typeahead } from './questions.ts';
import type { Context, KeyBinding, LogLine, State } from './state.ts';
import { Throttle, type Store } from './store.ts';
import { copyCommands, editLine, type Surface } from './surface.ts';
import { addForm, editForm } from './table/commands.ts';
import { noticeAbsent, TableReader, watchTable } from './table/reader.ts';
import { TypedLines } from './prompt/typed-lines.ts';
import { attempt, DevshError } from '../errors.ts';
import { changesNothing } from '../shell/command.ts';
import { visibleLines } from '../text/visible.ts';
import { isFirstRun, nextSteps } from '../shell/help/first-run.ts';
import type { Shell } from '../shell/shell.ts';
import { fleetView } from './screen/fleet-view.ts';
import { filterInSlices } from './table/filter-runner.ts';
import {
  contextOf,
  hasCommandKeys,
  isAtPrompt,
  isTypedView,
  keyText,
  type Pressed,
  pressedKey,
  shortLabel,
  unboundKeyText,
} from './keys/keymap.ts';
import { pendingLookup, TableFeed } from './table/feed.ts';
import { type KeyEvent, matchesKey, parseKey } from './terminal/keys.ts';

const NOTHING_RUNS =
  'nothing is running; Ctrl-C again asks whether to leave, Ctrl-D at the prompt leaves';

/** A key that is held down repeats within this time. */
const REPEAT_MS = 1000;

/** A message counts as read if a key follows after this time. */
const READ_MS = 15_000;

/** The action of Ctrl-C in a context where the user types a search or a filter. */
const CANCELS: Partial<Record<Context, ViewAction>> = {
  search: 'search-cancel',
  filter: 'clear-filter',
  find: 'clear-find',
  palette: 'close',
};

/** Turns keys into actions, lines and answers. Starts every effect outside of the screen. */
export class Controller {
  readonly runner: LineRunner;
  readonly #shell: Shell;
  readonly #surface: Surface;
  readonly #store: Store;
  readonly #questions: Questions;
  readonly #background: readonly (() => void)[];
  readonly #feed: TableFeed;
  readonly #reader: TableReader;
  readonly #lines: TypedLines;
  readonly #lookForPending: (isDue?: boolean) => void;
  readonly #fleetUpdates: Throttle;
  readonly #typeahead: Typeahead;
  /** The time at which q closed a view, in ms of `performance.now()`. */
  #closedAt = -Infinity;
  /** Closes a view unless another key follows. */
  #closing: NodeJS.Timeout | undefined;
  /** Whether the user asked to leave while a line was running: the session ends when the line does. */
  #isLeaving = false;
  /** The messages at the last key, and the time of the first key at which they were shown. */
  #seen: { readonly log: State['log']; readonly atMs: number } | undefined;
  /** The last message of a key that did nothing. */
  #warning: LogLine | undefined;
  /** Keys with an effect outside of the screen. */
  readonly #effects: Readonly<Record<Effect, () => void>> = {
    'run-line': () => {
      const ran = this.#lines.run(lineText(this.#store.state.prompt.editing.line));
      this.#typeahead.hold(ran, { isTyped: true });
    },
    complete: () => {
      if (lineText(this.#store.state.prompt.editing.line) === '') this.#store.act('go-table');
      else this.#typeahead.hold(this.#lines.complete());
    },
    'edit-line': () => void editLine(this.#store, this.#surface),
    interrupt: () => this.#interrupt(),
    'end-of-input': () => this.#leave(),
    quit: () => this.#leave(),
    repaint: () => this.#surface.repaint(),
    suspend: () => this.#surface.suspend(),
    'add-form': () => this.#showForm(addForm),
    'edit-form': () => this.#showForm(editForm),
    'run-form': () => runForm(this.#store, this.runner),
    refresh: () => {
      // The user asks for this reading, so a refused login may be tried again.
      this.#shell.shell.gate.forgetRefusals();
      this.#store.dispatch({ kind: 'log-hide', lines: this.#store.state.log.current });
      void this.#reader.read();
    },
    'pause-run': () => this.runner.control('pause'),
    'stop-run': () => this.runner.control('stop'),
    copy: () => void copyCommands(this.#store, this.#surface),
    answer: () => this.#questions.answer(),
    decline: () => this.#questions.decline(),
    choose: () => this.#choose(),
  };

  /** @param reduceMotion whether nothing on the screen may change by itself */
  constructor(shell: Shell, store: Store, surface: Surface, reduceMotion: boolean) {
    this.#shell = shell;
    this.#surface = surface;
    this.#store = store;
    this.#fleetUpdates = new Throttle(() => this.#showFleet());
    this.#questions = new Questions(store);
    this.#typeahead = new Typeahead(
      store,
      (event) => this.#press(event),
      () => this.#warn('dropped the keys that were typed before the focus changed'),
    );
    this.#lookForPending = pendingLookup(shell.shell, store);
    this.#feed = new TableFeed(store, shell.shell.fleet, shell.shell.services.settings);
    this.#reader = new TableReader(shell, store, this.#questions, this.#feed);
    this.#background = [
      filterInSlices(store),
      watchTable(store, this.#reader, reduceMotion),
      readRecordHistory(shell, store),
      noticeAbsent(shell.shell, store),
    ];
    this.runner = new LineRunner({
      shell,
      store,
      questions: this.#questions,
      feed: this.#feed,
      onEnd: ({ command, verb, args }, results, isOtherRunning) => {
        const isChange = command.name === 'config' && ['set', 'unset'].includes(verb.name);
        const isThemed = isChange && args.optional('NAME') === 'theme';
        if (isThemed) surface.showTheme(shell.shell.services.settings.get('theme'));
        // The prompt must show the scope of the next line before that line begins.
        this.#fleetUpdates.runNow();
        if (isOtherRunning && (this.#isLeaving || command.name !== 'use')) return;
        if (this.#isLeaving) surface.leave();
        else this.#afterLine(command.name, results.length > 0);
      },
      onProblem: (line, error) => this.#lines.showProblem(line, error),
      surface,
    });
    this.#lines = new TypedLines(shell, store, this.#questions, this.runner);
  }

  /** Runs the first line; returns at once. */
  start(line: string): void {
    this.#shell.shell.fleet.subscribe(() => this.#fleetUpdates.schedule());
    this.#fleetUpdates.runNow();
    void this.#lines.history.load();
    if (line !== '') void this.#lines.submit(line);
    else void this.#greet();
  }

  #showForm(openingOf: typeof editForm): void {
    showForm(this.#shell.shell.fleet, this.#store, openingOf(this.#store.state));
  }

  /** Shows the first steps to a user who has not set up anything. */
  async #greet(): Promise<void> {
    const { shell } = this.#shell;
    this.#store.know({ nextSteps: await nextSteps(shell) });
    if (!(await isFirstRun(shell))) return;
    const firstRun = { inventory: shell.services.inventory.path };
    this.#store.know({ firstRun });
  }

  /** Ends the background work; resolves when nothing is left to write. */
  stop(): Promise<void> {
    this.#fleetUpdates.stop();
    this.#lines.stop();
    this.#reader.interrupt();
    for (const end of this.#background) end();
    return this.#lines.history.saved();
  }

  onKey(event: KeyEvent): void {
    this.#typeahead.press(event);
  }

  /** Hides messages that the user has had time to read. Failures and warnings stay until the next line. */
  #forgetRead(): void {
    const { log } = this.#store.state;
    const atMs = performance.now();
    if (log !== this.#seen?.log) this.#seen = { log, atMs };
    if (atMs - this.#seen.atMs < READ_MS) return;
    const lines = log.current.filter(({ tone }) => tone !== 'bad' && tone !== 'warning');
    this.#store.dispatch({ kind: 'log-hide', lines });
  }

  #press(event: KeyEvent): void {
    clearTimeout(this.#closing);
    this.#forgetRead();
    if (this.#store.state.questions[0]?.isOpen !== true) this.#questions.cancelLate();
    const { state } = this.#store;
    const context = contextOf(state);
    if (context === 'waiting') this.#questions.restartDelay(event);
    if (event.kind === 'paste' && hasCommandKeys(context)) {
      this.#store.act('go-prompt');
      this.#typeahead.hold(this.#lines.type(event));
      return;
    }
    const pressed = this.#pressed(event, context);
    if (pressed?.kind === 'prefix') {
      this.#store.know({ pendingKeys: pressed.keys });
      return;
    }
    if (this.runner.isWriting && matchesKey(event, 'ctrl-c')) {
      this.#effects.interrupt();
      return;
    }
    const warning = pressed === undefined ? unboundKeyText(state) : undefined;
    if (this.#isHeldDown(event, pressed))
      this.#warn('the view was just closed: press it again to leave devsh');
    else if (warning !== undefined) this.#warn(warning);
    else if (pressed === undefined) this.#typeahead.hold(this.#lines.type(event));
    else this.#perform(pressed.binding, pressed.index, event);
  }

  /** Whether the key is still the `q` that has just closed a view: while it is held down, it must not leave devsh. */
  #isHeldDown(event: KeyEvent, pressed: Exclude<Pressed, { kind: 'prefix' }> | undefined): boolean {
    const now = performance.now();
    const action = pressed?.binding.action;
    const isAgain = action === 'quit' && now - this.#closedAt < REPEAT_MS;
    const closes = isAgain || (action === 'close' && !matchesKey(event, 'escape'));
    this.#closedAt = closes ? now : -Infinity;
    return isAgain;
  }

  #perform(binding: KeyBinding, index: number, event: KeyEvent): void {
    const { state } = this.#store;
    const reason = binding.disabled?.(state);
    if (reason !== undefined) {
      const key = keyText(binding.keys[index] ?? '');
      this.#warn(`${key} (${shortLabel(binding, state)}): ${reason}`);
    } else if (binding.run !== undefined) {
      this.#type(binding, index);
    } else {
      this.#act(binding.action, event);
    }
  }

  /** Performs the action of a key that does not run a line. */
  #act(action: ViewAction | Effect, event: KeyEvent): void {
    const { state } = this.#store;
    const isTyped = action === 'end-of-input' && lineText(state.prompt.editing.line) !== '';
    if (action === 'close-typed' && isTypedView(state)) this.#closeSoon(event);
    if (isTyped || action === 'close-typed') {
      this.#typeahead.hold(this.#lines.type(event));
    } else if (action === 'menu-accept' && state.prompt.menu?.chosen === undefined) {
      this.#effects['run-line']();
    } else if (action === 'press-in-table') {
      this.#pressInTable(event);
    } else if (isEffect(action)) {
      this.#effects[action]();
    } else {
      this.#store.act(action);
      // Includes lines that other sessions have added.
      if (action === 'palette') this.#typeahead.hold(this.#fillPalette());
      if (action === 'search' && state.prompt.search === undefined)
        this.#typeahead.hold(this.#lines.history.load());
      if (this.#store.state.table.command !== state.table.command) this.#reader.showAgain();
    }
  }

  /** Fills the palette, which is open already. Keys wait until it is filled, because a better match may follow. */
  async #fillPalette(): Promise<void> {
    const found = await this.#shell.findable();
    const { overlay } = this.#store.state;
    if (overlay.kind !== 'palette') return;
    const entries = [...overlay.entries, ...found];
    this.#store.dispatch({ kind: 'view-over', overlay: { ...overlay, entries, isFilling: false } });
  }

  /** Enter in the palette: presses a key, runs a line that changes nothing, or starts it at the prompt. */
  readonly #choose = (): void => {
    const entry = PALETTE.current(this.#store.state);
    if (entry === undefined) return;
    this.#store.act('close');
    if ('binding' in entry) {
      this.#store.act('go-table');
      this.#perform(entry.binding, 0, {
        kind: 'key',
        text: '',
        ...parseKey(entry.binding.keys[0] ?? ''),
      });
      return;
    }
    const { line } = entry;
    if (this.#isHarmless(line)) this.#typeahead.hold(this.#lines.submit(line, true));
    else this.#store.dispatch({ kind: 'set-line', line });
  };

  /** Whether a line is complete and changes nothing. */
  #isHarmless(line: string): boolean {
    if (line.endsWith(' ')) return false;
    const invocation = attempt(DevshError, () => this.#shell.parse(line));
    return (
      invocation?.verb.changes === 'choice' || (invocation && changesNothing(invocation)) === true
    );
  }

  /** Closes the view of a typed line if no key follows the `q`. With another key, it begins a word, as `questions`. */
  #closeSoon({ text }: KeyEvent): void {
    this.#closing = setTimeout(() => {
      const { state } = this.#store;
      if (!isAtPrompt(state) || lineText(state.prompt.editing.line) !== text) return;
      this.#store.act('clear-line');
      this.#store.act('close-typed');
    }, QUIET_MS).unref();
  }

  /** Performs a key of the table. If it does nothing there, the focus stays at the prompt. */
  #pressInTable(event: KeyEvent): void {
    const { state } = this.#store;
    const inTable = { ...state, focus: 'table' } as const;
    const pressed = pressedKey(event, contextOf(inTable), state.keymap);
    if (pressed?.kind !== 'binding') {
      this.#typeahead.hold(this.#lines.type(event));
      return;
    }
    this.#store.act('go-table');
    this.#press(event);
    if (pressed.binding.disabled?.(inTable) !== undefined) this.#store.act('go-prompt');
  }

  /** Runs the line of a key. `index`: which of the binding's keys it was. */
  #type(binding: KeyBinding, index: number): void {
    const { state } = this.#store;
    const line = binding.run?.(state, index);
    if (line !== undefined && this.runner.waitsForRollOut(line)) {
      const key = keyText(binding.keys[index] ?? '');
      this.#warn(`${key} (${shortLabel(binding, state)}): not before the run has ended`);
      return;
    }
    if (binding.run !== undefined && binding.closes === true) this.#store.act('close');
    // The user completes a line that ends with a blank.
    if (line?.endsWith(' ')) this.#store.dispatch({ kind: 'set-line', line });
    else if (line !== undefined) this.#typeahead.hold(this.#lines.submit(line, true));
  }

  /** Ctrl-C: stops a write, else clears the input, else stops reading, else closes what is open. */
  #interrupt(): void {
    const { state } = this.#store;
    const cancel = this.runner.isWriting ? undefined : CANCELS[contextOf(state)];
    const isTyped = lineText(state.prompt.editing.line) !== '';
    const isAsking = state.questions.length > 0;
    if (this.runner.isWriting || (this.runner.isRunning && isAsking)) this.runner.interrupt();
    else if (cancel !== undefined) this.#store.act(cancel);
    else if (isAsking) this.#questions.decline();
    else if (state.focus === 'prompt' && isTyped) this.#store.act('clear-line');
    else if (this.runner.isRunning) this.runner.interrupt();
    else if (this.#reader.isReading) this.#reader.interrupt();
    else if (state.overlay.kind !== 'none') this.#store.act('close');
    else if (state.form !== undefined) this.#store.act('close-form');
    else if (isTyped) this.#store.act('clear-line');
    else void this.#offerToLeave();
  }

  /** Says at Ctrl-C that there is nothing to stop. While that message is shown, the next Ctrl-C asks to leave. */
  async #offerToLeave(): Promise<void> {
    if (this.#store.state.log.current.at(-1)?.text !== NOTHING_RUNS) {
      this.#store.logMessage('quiet', NOTHING_RUNS);
      return;
    }
    const text = 'Leave devsh? Type y and Enter to leave, Esc to stay:';
    const answer = await this.#questions.ask({ kind: 'confirm', text, expected: 'y' });
    if (answer !== undefined) this.#surface.leave();
  }

  /** Leaves when the running line has ended. If the user asks again, leaves at once. */
  #leave(): void {
    if (this.runner.isRunning && !this.#isLeaving) {
      this.#isLeaving = true;
      this.runner.interrupt(true);
      this.#store.logMessage('warning', 'leaving as soon as the request in flight is finished');
    } else {
      this.#surface.leave();
    }
  }

  /** The meaning of a key. If the key does not continue the pending sequence, it has its usual meaning. */
  #pressed(event: KeyEvent, context: Context): Pressed | undefined {
    const { keymap, pendingKeys } = this.#store.state;
    if (pendingKeys === undefined) return pressedKey(event, context, keymap);
    this.#store.know({ pendingKeys: undefined });
    return pressedKey(event, context, keymap, pendingKeys) ?? pressedKey(event, context, keymap);
  }

  #afterLine(command: string, hasResults: boolean): void {
    if (this.#shell.shell.fleet.connected.length === 0) void this.#greet();
    this.#lookForPending(
      hasResults || command === 'pending' || command === 'resume' || command === 'connect',
    );
    this.#reader.afterLine(command, hasResults);
  }

  #showFleet(): void {
    const { fleet, isReadOnly, services } = this.#shell.shell;
    const view = fleetView(fleet, isReadOnly, services.settings.get('on'));
    this.#store.dispatch({ kind: 'fleet', fleet: view });
    this.#lookForPending();
    updateFields(fleet, this.#store);
    this.#feed.addCachedReads();
  }

  /** Says why a key did nothing. Replaces the message before: a word in the wrong place warns once, not per letter. */
  #warn(text: string): void {
    const old = this.#warning;
    this.#warning = { tone: 'warning', text: visibleLines(text) };
    this.#store.dispatch({ kind: 'log', old: old ? [old] : [], lines: [this.#warning] });
  }
}
