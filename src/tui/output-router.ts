import type { Invocation } from '../shell/command.ts';
import { notCoveredBy, type Plan } from '../change/plan.ts';
import type { StepResult } from '../change/verdict.ts';
import { DeclinedError, StoppedError, type DevshError } from '../errors.ts';
import {
  causeLines,
  errorLines,
  failureOf,
  type Failure,
  type Streams,
  type Writer,
} from '../output/streams.ts';
import { endedTexts, owedTexts, planLines, resultLines } from '../output/change-text.ts';
import { visible, visibleLines } from '../text/visible.ts';
import type {
  DriftOutput,
  MessageOutput,
  Output,
  ReadOutput,
  SummaryOutput,
  TableOutput,
} from '../shell/output.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import { plainStyle, planView, type PlanView } from './views/plan-lines.ts';
import { barMeter } from './screen/progress.ts';
import type { LogLine, LogTone, RollOutState } from './state.ts';
import { memoized, Throttle, type Store } from './store.ts';
import { signTone } from './views/pager.ts';
import { viewFor } from './views/views.ts';
import type { TableFeed } from './table/feed.ts';

/** How often the elapsed time of a roll-out is shown. */
const CLOCK_MS = 1000;

/** Longer texts open in the pager over the table. */
const MOST_LOG_LINES = 3;

/** A run on more devices than this shows the progress of each device. */
const LARGE_RUN = 3;

const MESSAGE_TONES = { info: 'plain', done: 'good', warning: 'warning' } as const;

interface RouterOptions {
  readonly store: Store;
  readonly feed: TableFeed;
  readonly line: string;
  readonly invocation: Invocation;
  /** Writes output that has no view, in the format that the line asks for. */
  readonly makeWriter: (streams: Streams) => Writer;
}

interface LogGroup {
  readonly results: StepResult[];
  readonly failures: Failure[];
  lines: readonly LogLine[];
}

/** The devices of a plan, with their numbers of steps. */
function devicesIn({ devices }: Plan): RollOutState['devices'] {
  return devices
    .map(({ device, steps, settled, wanted = [] }) => ({
      name: device.name,
      steps: steps.length + settled.length + wanted.length,
    }))
    .filter(({ steps }) => steps > 0);
}

/** Failures of devices, each cause once; the list of messages has all names. */
export function failureLines(failures: readonly Failure[]): LogLine[] {
  const whole = causeLines(failures);
  return causeLines(failures, 'some').map((text, index): LogLine => {
    return { tone: 'bad', text, whole: whole[index] ?? text };
  });
}

/** Sends the output of one line to its place: table, messages, pager, or the plan of a question. */
export class OutputRouter {
  readonly results: StepResult[] = [];
  hasQuit = false;
  #plan: Plan | undefined;
  /** Whether the next question is about the plan. */
  #isAsked = false;
  /** Devices that the plan does not cover. */
  #refused: readonly Failure[] = [];
  readonly #failures: Failure[] = [];
  readonly #options: RouterOptions;
  readonly #store: Store;
  #hasTable = false;
  #startedAt: number | undefined;
  /** Set while the view of the run shows its elapsed time. */
  #clock: NodeJS.Timeout | undefined;
  #hasCompared = false;
  /** The message about the work that the run of the line leaves. */
  #owed: LogLine | undefined;
  /** Output that waits for the end of the line. */
  #printed: Output[] = [];
  #progress = '';
  readonly #meter = barMeter();
  readonly #progressUpdates = new Throttle(() =>
    this.#store.dispatch({ kind: 'work', work: { progress: this.#progress } }),
  );
  /** The timer of the next update of the last log lines, which later results may join. */
  #logging: NodeJS.Immediate | undefined;
  #group: LogGroup = { results: [], failures: [], lines: [] };

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  write(output: Output): void {
    const { feed, line, invocation } = this.#options;
    const { format, yes } = invocation.given;
    if (format !== undefined && format !== 'table' && output.kind !== 'progress') {
      if (output.kind === 'result') this.results.push(output.result);
      if (output.kind === 'quit') this.hasQuit = true;
      this.#printed.push(output);
      return;
    }
    switch (output.kind) {
      case 'read':
        if (output.view.layout === 'table') {
          // Only the first response shows the table, so that the user may change the view.
          feed.add(line, invocation, output, !this.#hasTable);
          this.#hasTable = true;
          const failure = failureOf(output);
          if (failure !== undefined) this.#failures.push(failure);
        } else this.#printed.push(output);
        break;
      case 'plan':
        if (output.dryRun === true) {
          const lines = planLines(output.plan, plainStyle);
          this.#show(() => lines);
        } else {
          this.#setPlan(output.plan);
          if (yes === true) this.begin();
        }
        break;
      case 'progress':
        this.#progress = this.#meter(output);
        this.#progressUpdates.schedule();
        break;
      case 'result':
        if (output.isPast === true) {
          this.#printed.push(output);
          break;
        }
        this.results.push(output.result);
        this.begin();
        this.#store.dispatch({ kind: 'result', result: output.result });
        this.#tick();
        // The summary names refused devices as not covered, and their reasons are shown already.
        if (!this.#refused.some(({ device }) => device.name === output.result.device.name))
          this.#group.results.push(output.result);
        this.#logSoon();
        break;
      case 'summary':
        this.#endRollOut();
        // A past run from the journal, with its results above.
        if (this.#printed.length > 0) this.#printed.push(output);
        else this.#logSummary(output);
        break;
      case 'drift':
        this.#hasCompared = true;
        this.#openView(output);
        break;
      case 'table':
        if (this.#openView(output)) break;
        if (this.#isConnecting()) this.#logConnected(output.rows.map(({ state }) => state));
        else if (output.isDataOnly !== true) this.#printed.push(output);
        break;
      case 'change':
      case 'text':
      case 'answer':
        this.#printed.push(output);
        break;
      case 'message':
        this.#logMessage(output);
        break;
      case 'error':
        this.#logError(output.error, output.device);
        break;
      case 'checkpoint':
        this.#flush();
        break;
      case 'quit':
        this.hasQuit = true;
        break;
    }
  }

  /** Removes the table of a line whose filter cannot be right: an empty table would look like an answer. */
  withdraw(): void {
    if (!this.#hasTable) return;
    this.#options.feed.flush();
    this.#store.dispatch({ kind: 'table-withdrawn', command: this.#options.line });
  }

  /** Opens the view for this output, if it has one; an empty list becomes a message. */
  #openView(output: TableOutput | DriftOutput): boolean {
    const { invocation, line } = this.#options;
    const found = viewFor(output, invocation, line);
    if (found === undefined) return false;
    if (output.kind === 'table' && output.rows.length === 0) {
      this.log('plain', found.nothing);
      return true;
    }
    const { watchMs: everyMs } = invocation.given;
    if (output.kind === 'table' && everyMs !== undefined)
      this.#store.dispatch({ kind: 'watch', everyMs });
    this.#store.dispatch({ kind: 'view-over', overlay: found.over });
    return true;
  }

  #setPlan(plan: Plan): void {
    this.#plan = plan;
    this.#isAsked = true;
    const writes = devicesIn(plan).map(({ name }) => name);
    this.#store.dispatch({ kind: 'work', work: { writes } });
    this.#refused = notCoveredBy(plan);
    this.#log(failureLines(this.#refused));
  }

  /** Milliseconds since the run began. */
  get ranMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  #tick(change: Partial<RollOutState> = {}): void {
    if (this.#clock === undefined) return;
    const elapsedMs = this.ranMs;
    this.#store.dispatch({ kind: 'roll-out-change', change: { ...change, elapsedMs } });
  }

  /** Notes that the run begins. On several devices, it opens a view of each of them. */
  begin(): void {
    if (this.#startedAt !== undefined) return;
    this.#startedAt = performance.now();
    // Changes by others before the run must not count as its changes.
    this.#options.feed.addCachedReads();
    this.#store.dispatch({ kind: 'changes-seen' });
    const plan = this.#plan;
    const devices = plan === undefined ? [] : devicesIn(plan);
    const names = new Set(devices.map(({ name }) => name));
    const refusals = causeLines(this.#refused.filter(({ device }) => !names.has(device.name)));
    if (devices.length <= LARGE_RUN) return;
    const { canary, pauseMs } = this.#options.invocation.given;
    const rollOut = {
      ...{ devices, refusals, begun: [], results: [] },
      line: visible(hideSecrets(this.#options.line)),
      control: 'running',
      elapsedMs: 0,
      toSend: plan?.devices.filter(({ steps }) => steps.length > 0).length ?? 0,
      isSteady: canary === undefined && pauseMs === undefined,
    } as const;
    this.#store.dispatch({ kind: 'roll-out', rollOut });
    this.#clock = setInterval(() => this.#tick(), CLOCK_MS).unref();
  }

  #endRollOut(): void {
    clearInterval(this.#clock);
    this.#tick({ control: 'ended' });
    this.#clock = undefined;
  }

  /** Returns the plan once, for the question that follows it. */
  takePlan(): PlanView | undefined {
    // Planning has ended.
    this.#progressUpdates.stop();
    const view = this.#isAsked && this.#plan ? planView(this.#plan) : undefined;
    this.#isAsked = false;
    return view;
  }

  /** Ends the output of the line. `error`: why it ended early. */
  end(error?: DevshError): void {
    this.#options.feed.flush();
    this.#logGroup();
    this.#flush();
    this.#progressUpdates.stop();
    this.#endRollOut();
    this.#log(failureLines(this.#failures));
    if (error === undefined || error instanceof StoppedError) return;
    this.log(error instanceof DeclinedError ? 'plain' : 'bad', ...errorLines(error, plainStyle));
  }

  log(tone: LogTone, ...texts: readonly string[]): void {
    this.#log(texts.map((text) => ({ tone, text })));
  }

  #log(lines: readonly LogLine[]): void {
    this.#logGroup();
    this.#group = { results: [], failures: [], lines: [] };
    this.#store.dispatch({ kind: 'log', lines });
  }

  #isConnecting(): boolean {
    const { command, verb } = this.#options.invocation;
    const isAccepting = command.name === 'questions' && verb.name === 'accept';
    return isAccepting || ['connect', 'demo'].includes(command.name);
  }

  /** Logs the failures, and how many devices are connected. */
  #logConnected(states: readonly unknown[]): void {
    const ready = states.filter((state) => state === 'connected').length;
    const all = ready === states.length;
    this.#log(failureLines(this.#failures.splice(0)));
    const text = `connected to ${ready}${all ? '' : ` of ${states.length}`} device${states.length === 1 ? '' : 's'}`;
    this.log(all ? 'good' : 'warning', all ? `✓ ${text}` : text);
  }

  /** Logs one line with the results, and one with the work that is left. The list of messages has the rest. */
  #logSummary(output: SummaryOutput): void {
    this.#logGroup();
    const { lines } = this.#group;
    const isOne = lines.length === 1;
    // The counts replace these lines.
    const counted = lines.filter(({ tone }) => tone === 'good' || tone === 'quiet');
    if (!isOne) this.#store.dispatch({ kind: 'log-hide', lines: counted });
    const texts = endedTexts(output, plainStyle);
    if (!isOne && texts.length > 0) this.log('heading', texts.join(' · '));
    const owed = owedTexts(output, plainStyle).join(' · ');
    if (owed !== '') this.log('warning', owed);
    this.#owed = owed === '' ? undefined : this.#store.state.log.current.at(-1);
  }

  /** Adds to the line with the work that is left how to continue it. */
  #logNext(owed: LogLine, { text, settles = false }: MessageOutput): void {
    const next = visibleLines(text);
    const joined = `${owed.text}${next.startsWith('pending: ') ? next.slice(7) : ` · ${next}`}`;
    this.#owed = { tone: owed.tone, text: settles ? next : joined };
    this.#store.dispatch({ kind: 'log', old: [owed], lines: [this.#owed] });
  }

  #logMessage(output: MessageOutput): void {
    const { level, text } = output;
    // The title of the comparison has the same text.
    if (this.#hasCompared && level !== 'warning') return;
    const mark = { info: '', done: '✓ ', warning: 'warning: ' }[level];
    const line = { tone: MESSAGE_TONES[level], text: mark + visibleLines(text) };
    if (output.isAside === true) {
      this.#logGroup();
      const { current } = this.#store.state.log;
      this.#store.dispatch({ kind: 'log', old: current, lines: [line, ...current] });
    } else if (level === 'info' && this.#owed !== undefined) {
      this.#logNext(this.#owed, output);
    } else {
      this.#log([line]);
    }
  }

  #logError(error: DevshError, device: ReadOutput['device'] | undefined): void {
    if (this.#isConnecting() && device !== undefined) {
      this.#failures.push({ device, error });
      return;
    }
    if (device === undefined) {
      this.log('bad', ...errorLines(error, plainStyle));
      return;
    }
    this.#group.failures.push({ device, error });
    this.#logSoon();
  }

  /** Logs the results of one moment together, so that they are folded only once. */
  #logSoon(): void {
    this.#logging ??= setImmediate(() => this.#logGroup());
  }

  #logGroup(): void {
    if (this.#logging === undefined) return;
    clearImmediate(this.#logging);
    this.#logging = undefined;
    const { results, failures } = this.#group;
    const done = resultLines(results, this.#plan, plainStyle).map((text): LogLine => {
      return { tone: signTone(text) ?? 'plain', text };
    });
    const lines = [...done, ...failureLines(failures)];
    this.#store.dispatch({ kind: 'log', old: this.#group.lines, lines });
    this.#group.lines = lines;
  }

  /** The output that waits for the end of the line, for a question that is about it. */
  get written(): readonly string[] {
    return this.#linesOf(this.#printed, this.#store.state.size.columns - 2);
  }

  #linesOf(outputs: readonly Output[], columns: number): readonly string[] {
    let text = '';
    const add = (piece: string): string => (text += piece);
    const where = { isTty: true, isErrTty: false, columns, color: false, quiet: false };
    const writer = this.#options.makeWriter({ out: add, err: add, ...where });
    for (const output of outputs) writer.write(output);
    writer.end();
    return text.trim() === '' ? [] : text.trimEnd().split('\n');
  }

  #flush(): void {
    const outputs = this.#printed;
    this.#printed = [];
    this.#show(memoized((columns) => this.#linesOf(outputs, columns)));
  }

  #show(linesAt: (columns: number) => readonly string[]): void {
    const lines = linesAt(this.#store.state.size.columns - 2);
    if (lines.length === 0) return;
    if (lines.length <= MOST_LOG_LINES) {
      this.#log([{ tone: 'plain', text: lines.join('\n'), linesAt }]);
    } else {
      const title = visible(hideSecrets(this.#options.line));
      const overlay = { kind: 'pager', title, linesAt, top: 0 } as const;
      this.#store.dispatch({ kind: 'view-over', overlay });
    }
  }
}
