import { visibleLines } from '../visible.ts';
import type { Shell } from '../shell/shell.ts';
import { fleetView } from './fleet-view.ts';
import { FilterRunner } from './filter-runner.ts';
import { FormRunner } from './form/form-runner.ts';
import { disabledReason } from './disabled-keys.ts';
import { takesEscape } from './editor/vi-prompt.ts';
import { isEffect, type Context, type Effect } from './keys/key-binding.ts';
import { contextOf, keyText, pressedKey, type Pressed } from './keymap.ts';
import { lineText, type Line } from './line.ts';
import { LineRunner } from './line-runner.ts';
import { Outside, type Programs } from './outside.ts';
import { Questions } from './questions.ts';
import { searchedLine } from './reduce-prompt.ts';
import type { Store } from './store.ts';
import {
  addForm,
  addLine,
  copyLines,
  deleteLines,
  editTextLines,
  deviceLine,
  driftLine,
  editForm,
  editLine,
  jumpLine,
  resourceLine,
  runLine,
  useLine,
} from './table-commands.ts';
import { TableFeed } from './table-feed.ts';
import { TableReader } from './table-reader.ts';
import type { KeyEvent } from './terminal/keys.ts';
import { TableWatch } from './table-watch.ts';
import { TypedLines } from './typed-lines.ts';

/** What the controller needs of the terminal. */
export interface Surface extends Programs {
  /** Draws everything anew. */
  repaint(): void;
  /** Ctrl-Z. */
  suspend(): void;
  /** The session is over. */
  leave(): void;
}

/** Changes of the fleet within this time are drawn together. */
const GATHER_MS = 16;

/** Turns keys into actions, lines and answers. All that reaches outside starts here. */
export class Controller {
  readonly runner: LineRunner;
  readonly #shell: Shell;
  readonly #store: Store;
  readonly #surface: Surface;
  readonly #questions: Questions;
  readonly #filter: FilterRunner;
  readonly #watch: TableWatch;
  readonly #feed: TableFeed;
  readonly #reader: TableReader;
  readonly #lines: TypedLines;
  readonly #forms: FormRunner;
  readonly #outside: Outside;
  #fleetTimer: NodeJS.Timeout | undefined;
  /** The lines of tables out of sight that something was written since. */
  readonly #stale = new Set<string>();
  #isLeaving = false;

  constructor(shell: Shell, store: Store, surface: Surface) {
    this.#shell = shell;
    this.#store = store;
    this.#surface = surface;
    this.#questions = new Questions(store);
    this.#filter = new FilterRunner(store);
    this.#feed = new TableFeed(store, shell.session.fleet, shell.session.services.columns);
    this.#reader = new TableReader(shell, store, this.#questions, this.#feed);
    this.#watch = new TableWatch(store, this.#reader);
    this.runner = new LineRunner({
      shell,
      store,
      questions: this.#questions,
      feed: this.#feed,
      edit: (draft, signal) => surface.edit(draft, signal),
      onEnd: (_line, { command }, results) => {
        if (this.#isLeaving) surface.leave();
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
    this.#outside = new Outside(store, surface);
    this.#forms = new FormRunner(shell.session.fleet, store, this.runner);
  }

  /** Runs the first line; resolves at once. */
  start(line: string): void {
    this.#shell.session.fleet.subscribe(() => {
      this.#fleetTimer ??= setTimeout(() => {
        this.#takeFleet();
      }, GATHER_MS);
    });
    this.#takeFleet();
    void this.#lines.loadHistory();
    if (line !== '') this.#lines.submit(line);
  }

  stop(): void {
    clearTimeout(this.#fleetTimer);
    this.#reader.interrupt();
    this.#filter.stop();
    this.#watch.stop();
  }

  onKey(event: KeyEvent): void {
    const { state } = this.#store;
    const context = contextOf(state);
    if (context === 'waiting') this.#questions.hold();
    const pressed = this.#pressed(event, context);
    if (pressed?.kind === 'prefix') {
      this.#store.dispatch({ kind: 'pending-keys', keys: pressed.keys });
      return;
    }
    const action = pressed?.binding.action;
    const reason = action && disabledReason(action, state);
    if (pressed !== undefined && reason !== undefined) {
      const { keys, hint, label } = pressed.binding;
      this.#sayOnce(`${keyText(keys[pressed.index] ?? '')} (${hint?.text ?? label}): ${reason}`);
    } else if (action === undefined) {
      this.#lines.type(event);
    } else if (action === 'end-of-input' && lineText(state.prompt.editing.line) !== '') {
      this.#lines.type(event);
    } else if (action === 'go-table' && takesEscape(state.prompt)) {
      this.#store.dispatch({ kind: 'vi', key: 'escape' });
    } else if (action === 'menu-accept' && state.prompt.menu?.chosen === undefined) {
      this.#perform('run-line');
    } else if (action === 'jump-device') {
      this.#use(jumpLine(state, pressed?.index ?? 0));
    } else if (isEffect(action)) {
      this.#perform(action);
    } else if (action === 'search' && context !== 'search') {
      this.#store.dispatch({ kind: 'view', action });
      // With what other sessions have added since.
      void this.#lines.loadHistory();
    } else {
      this.#store.dispatch({ kind: 'view', action });
      if (this.#store.state.table.command !== state.table.command) this.#comeBack();
    }
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

  #use(command: string | undefined): void {
    if (command !== undefined) this.#lines.submit(command, true);
  }

  #perform(effect: Exclude<Effect, 'jump-device'>): void {
    const { state } = this.#store;
    const { line } = state.prompt.editing;
    switch (effect) {
      case 'run-line':
        this.#lines.run(lineText(line));
        break;
      case 'search-run': {
        const found = searchedLine(state.prompt.history, state.prompt.search);
        this.#store.dispatch({ kind: 'view', action: 'search-accept' });
        if (found !== undefined) this.#lines.run(found);
        break;
      }
      case 'complete':
        if (lineText(line) === '') this.#store.dispatch({ kind: 'view', action: 'go-table' });
        else void this.#lines.complete();
        break;
      case 'interrupt':
        this.#interrupt();
        break;
      case 'end-of-input':
      case 'quit':
        this.#leave();
        break;
      case 'repaint':
        this.#surface.repaint();
        break;
      case 'suspend':
        this.#surface.suspend();
        break;
      case 'add':
        this.#store.dispatch({ kind: 'set-line', line: addLine(state) });
        break;
      case 'edit-record':
        this.#prefill(editLine(state));
        break;
      case 'add-form':
        this.#forms.open(addForm(state));
        break;
      case 'edit-line':
        void this.#outside.editLine();
        break;
      case 'edit-text':
        this.#editText();
        break;
      case 'edit-form': {
        if (state.table.marks.size > 1) {
          this.#editText();
          break;
        }
        const opening = editForm(state);
        if (opening !== undefined) this.#forms.open(opening);
        break;
      }
      case 'run-form':
        this.#forms.run();
        break;
      case 'delete':
        for (const command of deleteLines(state)) this.#lines.submit(command, true);
        break;
      case 'undo':
        this.#lines.submit('undo', true);
        break;
      case 'runs':
        this.#lines.submit('runs', true);
        break;
      case 'devices':
      case 'resources':
        this.#lines.submit(effect, true);
        break;
      case 'drift':
      case 'compare-again':
        this.#lines.submit(driftLine(state), true);
        break;
      case 'open-device':
      case 'connect-device':
      case 'disconnect-device':
      case 'trust-device':
        this.#use(deviceLine(state, effect));
        break;
      case 'open-resource':
        this.#use(resourceLine(state));
        break;
      case 'show-run':
      case 'resume-run':
      case 'retry-run':
      case 'undo-run':
      case 'report-run': {
        const command = runLine(state, effect);
        // What a run did is a step further; what it does now is seen in the table.
        if (effect !== 'show-run' && effect !== 'report-run')
          this.#store.dispatch({ kind: 'view', action: 'close' });
        if (command !== undefined) this.#lines.submit(command, true);
        break;
      }
      case 'refresh':
        void this.#reader.read();
        break;
      case 'next-device':
      case 'previous-device': {
        this.#use(useLine(state, effect === 'next-device' ? 1 : -1));
        break;
      }
      case 'all-devices':
        this.#use('use all');
        break;
      case 'copy':
        void this.#outside.copy(copyLines(state));
        break;
      case 'answer':
        this.#questions.answer();
        break;
      case 'decline':
        this.#questions.decline();
        break;
    }
  }

  #interrupt(): void {
    const { state } = this.#store;
    if (this.runner.isRunning) this.runner.interrupt();
    else if (state.questions.length > 0) this.#questions.decline();
    else if (this.#reader.isReading) this.#reader.interrupt();
    else if (state.focus === 'prompt' && lineText(state.prompt.editing.line) !== '')
      this.#store.dispatch({ kind: 'view', action: 'clear-line' });
    else if (state.overlay.kind !== 'none') this.#store.dispatch({ kind: 'view', action: 'close' });
    else if (state.form !== undefined) this.#store.dispatch({ kind: 'view', action: 'close-form' });
    else this.#store.dispatch({ kind: 'view', action: 'clear-line' });
  }

  #editText(): void {
    for (const command of editTextLines(this.#store.state)) this.#use(command);
  }

  #prefill(line: Line | undefined): void {
    if (line !== undefined) this.#store.dispatch({ kind: 'set-line', line });
  }

  #afterLine(command: string, hasResults: boolean): void {
    this.#takeFleet();
    const { table, fleet } = this.#store.state;
    const followsSelection = table.scope === undefined && table.commandFilter === '';
    if (['use', 'connect', 'demo'].includes(command) && !followsSelection) this.#feed.reset();
    // Which devices were chosen shows in their records.
    if (command === 'use' && this.#store.state.overlay.kind !== 'none')
      this.#store.dispatch({ kind: 'table', source: this.#store.state.table });
    if (hasResults)
      for (const left of this.#store.state.tables.values()) this.#stale.add(left.command);
    this.#feed.takeSeen();
    const { reads } = this.#store.state.table;
    const isMissing = (name: string): boolean =>
      !reads.has(name) &&
      fleet.devices.some((device) => device.name === name && device.kind !== 'failed');
    if (hasResults || fleet.selected.some(isMissing)) void this.#reader.read();
  }

  #takeFleet(): void {
    clearTimeout(this.#fleetTimer);
    this.#fleetTimer = undefined;
    const { fleet, isReadOnly } = this.#shell.session;
    this.#store.dispatch({ kind: 'fleet', fleet: fleetView(fleet, isReadOnly) });
    this.#forms.takeFields();
    this.#feed.takeSeen();
  }

  #say(tone: 'good' | 'bad' | 'warning', text: string): void {
    this.#store.dispatch({ kind: 'log', lines: [{ tone, text: visibleLines(text) }] });
  }

  /** Asked again, it is not said again. */
  #sayOnce(text: string): void {
    if (this.#store.state.log.current.at(-1)?.text !== text) this.#say('warning', text);
  }

  /** Leaves at once, or as soon as what runs has ended; asked again, at once. */
  #leave(): void {
    if (this.runner.isRunning && !this.#isLeaving) {
      this.#isLeaving = true;
      this.runner.interrupt();
      this.#say('warning', 'leaving as soon as the request in flight is finished');
      return;
    }
    this.#surface.leave();
  }
}
