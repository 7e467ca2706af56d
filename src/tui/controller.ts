import { visibleLines } from '../text/visible.ts';
import { isFirstRun, nextSteps } from '../shell/help/first-run.ts';
import type { Shell } from '../shell/shell.ts';
import { fleetView } from './screen/fleet-view.ts';
import { FilterRunner } from './table/filter-runner.ts';
import { FormRunner } from './form/form-runner.ts';
import { Gathering } from './gathering.ts';
import { Effects, type Surface } from './effects.ts';
import { takesEscape } from './prompt/reduce-prompt.ts';
import { isEffect, type Effect, type ViewAction } from './keys/key-binding.ts';
import type { Context } from './state.ts';
import { contextOf, keyText, pressedKey, strayText, type Pressed } from './keys/keymap.ts';
import { lineText } from './editor/line.ts';
import { LastSeen } from './table/last-seen.ts';
import { LineRunner } from './line-runner.ts';
import { Outside } from './outside.ts';
import { Questions } from './questions.ts';
import type { Store } from './store.ts';
import { TypedAhead } from './keys/typed-ahead.ts';
import { TableFeed } from './table/feed.ts';
import { TableReader } from './table/reader.ts';
import { matchesKey } from './terminal/key-name.ts';
import type { KeyEvent } from './terminal/keys.ts';
import { TableWatch } from './table/watch.ts';
import { TypedLines } from './prompt/typed-lines.ts';

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
