import { isRead, shownDevices } from './rows.ts';
import { nextWait } from '../../shell/watch.ts';
import { CancelledError, expectedError } from '../../errors.ts';
import { errorLines, type Failure } from '../../output/streams.ts';
import type { ReadOutput } from '../../shell/output.ts';
import type { ShellSession } from '../../shell/session.ts';
import type { Shell } from '../../shell/shell.ts';
import { someOf } from '../../text/one-line.ts';
import { failureLines } from '../output-router.ts';
import { visible } from '../../text/visible.ts';
import type { Questions } from '../questions.ts';
import { barMeter } from '../screen/progress.ts';
import type { LogLine } from '../state.ts';
import type { Store } from '../store.ts';
import type { TableFeed } from './feed.ts';

/** Reads the table in the background: after a key or a write, and for devices that were not read yet. */
export class TableReader {
  readonly #shell: Shell;
  readonly #store: Store;
  readonly #questions: Questions;
  readonly #feed: TableFeed;
  /** Why the last read failed, by device. */
  readonly #failing = new Map<string, string | undefined>();
  #stop: AbortController | undefined;
  /** Hidden tables whose devices were written to after the last read, by command. */
  readonly #stale = new Set<string>();

  constructor(shell: Shell, store: Store, questions: Questions, feed: TableFeed) {
    this.#shell = shell;
    this.#store = store;
    this.#questions = questions;
    this.#feed = feed;
  }

  get isReading(): boolean {
    return this.#stop !== undefined;
  }

  interrupt(): void {
    this.#stop?.abort(new CancelledError());
  }

  /** Adds a failure to `failures`, unless it has the same message as last time, which is in the list already. */
  #note({ device, outcome }: ReadOutput, failures: Failure[]): void {
    const message = outcome.ok ? undefined : outcome.error.message;
    if (!outcome.ok && this.#failing.get(device.name) !== message)
      failures.push({ device, error: outcome.error });
    this.#failing.set(device.name, message);
  }

  /** Whether the line that fills the table applies to any device. */
  #hasDevices(): boolean {
    const { fleet, services } = this.#shell.shell;
    if (this.#store.state.table.scope !== undefined || fleet.selection.length > 0) return true;
    return fleet.connected.length === 0 && services.settings.get('on') !== undefined;
  }

  /** Updates a table that is visible again, after reads and writes in the meantime. */
  showAgain(): void {
    const { command } = this.#store.state.table;
    this.#feed.addCachedReads();
    if (this.#stale.delete(command)) void this.read();
  }

  /** Updates the table after a line: it follows the selection, and reads what the line has changed. */
  afterLine(command: string, hasResults: boolean): void {
    const { table, fleet } = this.#store.state;
    const { scope } = table;
    const isUse = command === 'use' && (scope !== undefined || table.commandFilter !== '');
    // A new device keeps the filter; a table of other devices is replaced by the selection.
    const isElsewhere = scope !== undefined && !fleet.selected.some((name) => scope.includes(name));
    const isConnect = command === 'connect' || command === 'demo';
    if (isUse || (isConnect && isElsewhere)) this.#feed.reset();
    // The records show which devices are selected.
    if (command === 'use' && this.#store.state.overlay.kind !== 'none')
      this.#store.dispatch({ kind: 'table', source: this.#store.state.table });
    if (hasResults)
      for (const left of this.#store.state.tables.values()) this.#stale.add(left.command);
    this.#feed.addCachedReads();
    const { reads } = this.#store.state.table;
    const failed = new Set(
      fleet.devices.filter(({ kind }) => kind === 'failed').map(({ name }) => name),
    );
    const isMissing = (name: string): boolean => !reads.has(name) && !failed.has(name);
    if (hasResults || fleet.selected.some(isMissing)) void this.#readAgain(hasResults);
  }

  /** Reads the table, and after a write also an open comparison. */
  async #readAgain(hasResults: boolean): Promise<void> {
    await this.read();
    const { overlay } = this.#store.state;
    if (hasResults && overlay.kind === 'drift') await this.read(overlay.command);
  }

  /** Runs the line that fills the table, or compares devices again; cancels a read in progress. */
  async read(line = this.#store.state.table.command): Promise<void> {
    this.interrupt();
    // Lines with their own devices, such as `resume`, leave nothing to read.
    if (!this.#hasDevices()) return;
    const stop = new AbortController();
    this.#stop = stop;
    const { signal } = stop;
    const isCurrent = (): boolean => this.#stop === stop;
    this.#store.know({ reading: 'reading' });
    const meter = barMeter();
    const failures: Failure[] = [];
    try {
      const invocation = this.#shell.parse(line);
      const io = {
        signal,
        isOnScreen: true,
        isBeside: true,
        isPrompt: true,
        isRefreshing: true,
        asksLater: true,
        ask: (question: Parameters<Questions['ask']>[0]) =>
          this.#questions.ask(question, undefined, signal),
        readInput: () => Promise.resolve(''),
        progress: (text: string) => {
          if (isCurrent()) this.#store.know({ reading: visible(text) });
        },
        trace: () => undefined,
      };
      for await (const output of this.#shell.evaluate(invocation, io)) {
        if (!isCurrent()) continue;
        if (output.kind === 'read') {
          this.#feed.add(line, invocation, output);
          this.#note(output, failures);
        }
        // Updates a comparison that is still shown. It keeps its cursor.
        const { overlay } = this.#store.state;
        if (output.kind === 'drift' && overlay.kind === 'drift' && overlay.command === line)
          this.#store.dispatch({ kind: 'view-over', overlay: { ...overlay, output } });
        if (output.kind === 'progress')
          this.#store.know({ reading: meter({ ...output, text: 'reading' }) });
      }
    } catch (error) {
      const lines = errorLines(expectedError(error), (_tone, text) => text);
      if (isCurrent() && !signal.aborted) this.#store.logMessage('bad', lines.join('\n'));
    } finally {
      if (isCurrent()) {
        this.#stop = undefined;
        this.#feed.flush();
        this.#store.dispatch({ kind: 'log', lines: failureLines(failures) });
        this.#store.know({ reading: undefined });
      }
    }
  }
}

/** The time for which changes are highlighted. */
const SHOWN_MS = 4_000;

/** Delay before the next attempt while a question is open or a line runs. */
const BUSY_MS = 250;

/** Highlights changes for a moment, if `isStill` until the next one. Returns the function that stops it. */
export function watchTable(store: Store, reader: TableReader, isStill: boolean): () => void {
  let everyMs: number | undefined;
  let waitMs = 0;
  let round: NodeJS.Timeout | undefined;
  let shown: unknown;
  let fading: NodeJS.Timeout | undefined;
  const plan = (afterMs: number): void => {
    clearTimeout(round);
    if (everyMs !== undefined) round = setTimeout(() => void read(), afterMs);
  };
  const read = async (): Promise<void> => {
    const { questions, work } = store.state;
    // Records must not change while a question about them is open.
    if (questions.length > 0 || work !== undefined || reader.isReading) {
      plan(BUSY_MS);
      return;
    }
    await reader.read();
    if (everyMs === undefined) return;
    const { state } = store;
    const hasResponse = shownDevices(state).some((name) => isRead(state, name));
    waitMs = nextWait(everyMs, waitMs, hasResponse);
    plan(waitMs);
  };
  const fade = (): void => {
    // Below another view nobody has seen the changes, and those of a run count until it has ended.
    const { work, overlay } = store.state;
    if (work === undefined && overlay.kind === 'none')
      store.dispatch({ kind: 'changes-seen', isKept: isStill });
    else fading = setTimeout(fade, SHOWN_MS);
  };
  const unsubscribe = store.subscribe(() => {
    const { watchMs, changes } = store.state.table;
    if (watchMs !== everyMs) {
      everyMs = watchMs;
      waitMs = watchMs ?? 0;
      plan(waitMs);
    }
    if (changes === shown) return;
    shown = changes;
    clearTimeout(fading);
    const isSeen = changes?.isOfRun !== true && (changes?.before.size ?? 0) === 0;
    if (!isSeen) fading = setTimeout(fade, SHOWN_MS);
  });
  return () => {
    unsubscribe();
    clearTimeout(round);
    clearTimeout(fading);
  };
}

/** Says that a device is back. The user decides whether to read it, and to do what is pending there. */
export function noticeAbsent(shell: ShellSession, store: Store): () => void {
  if (!shell.services.settings.get('watchAbsent')) return () => undefined;
  let end: (() => void) | undefined;
  let said: { readonly names: readonly string[]; readonly line: LogLine } | undefined;
  const onBack = (found: string): void => {
    // One line names all devices that come back together.
    const isLast = said !== undefined && store.state.log.current.at(-1) === said.line;
    const names = [...(isLast ? (said?.names ?? []) : []), found];
    const isOwed = names.some((name) => store.state.pending.has(name));
    const next = isOwed ? '; "resume" does what is pending' : '';
    const text = `✓ back: ${someOf(names.map(visible))} · r in the table reads again${next}`;
    const line: LogLine = { tone: 'good', text };
    store.dispatch({ kind: 'log', old: isLast && said ? [said.line] : [], lines: [line] });
    said = { names, line };
  };
  const unsubscribe = store.subscribe(() => {
    if (store.state.fleet.devices.every(({ kind }) => kind !== 'failed')) return;
    unsubscribe();
    let isOver = false;
    end = () => (isOver = true);
    void import('../../shell/devices/absent.ts').then(({ watchAbsent }) => {
      if (!isOver) end = watchAbsent(shell, onBack);
    });
  });
  return () => {
    unsubscribe();
    end?.();
  };
}
