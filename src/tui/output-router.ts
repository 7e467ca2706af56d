import type { Invocation } from '../shell/command.ts';
import { notCoveredBy, type Plan } from '../change/plan.ts';
import type { StepResult } from '../change/verdict.ts';
import { DeclinedError, StoppedError, type DevshError } from '../errors.ts';
import {
  causeLines,
  errorLines,
  type Failure,
  type Streams,
  type Writer,
} from '../output/streams.ts';
import { planLines, summaryLine } from '../output/change-text.ts';
import { visible, visibleLines } from '../text/visible.ts';
import type {
  DriftOutput,
  MessageOutput,
  Output,
  ReadOutput,
  TableOutput,
} from '../shell/output.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import { failureLines } from './screen/layout.ts';
import { foldResults, planView, type PlanView } from './views/plan-lines.ts';
import type { LogLine, LogTone, RollOutState } from './state.ts';
import type { Store } from './store.ts';
import { viewFor } from './views/views.ts';
import type { TableFeed } from './table/feed.ts';

/** Each time the whole screen is drawn: more often nobody reads it. */
const PROGRESS_EVERY_MS = 100;

/** Longer texts are put over the table, to be scrolled. */
const MOST_LOG_LINES = 3;

/** A run on more devices than that is shown device by device while it goes on. */
const LARGE_RUN = 3;

const plainStyle = (_tone: string, text: string): string => text;

const MESSAGE_TONES = { info: 'plain', done: 'good', warning: 'warning' } as const;

interface RouterOptions {
  readonly store: Store;
  readonly feed: TableFeed;
  readonly line: string;
  readonly invocation: Invocation;
  /** For what has no view of its own, in the format that the line asks for. */
  readonly makeWriter: (streams: Streams) => Writer;
}

interface Open {
  readonly results: StepResult[];
  readonly failures: Failure[];
  lines: readonly LogLine[];
}

/** Puts why devices failed into the messages, where it is read again. */
export function keepFailures(store: Store, failures: readonly Failure[]): void {
  const lines = failureLines(failures);
  if (lines.length > 0) store.dispatch({ kind: 'log-keep', lines });
}

/** Puts what one line says where it belongs: table, messages, pager, or the plan of a question. */
export class OutputRouter {
  readonly results: StepResult[] = [];
  hasQuit = false;
  /** What is to be shown above the next question. */
  #plan: PlanView | undefined;
  #rollOut: RollOutState['devices'] = [];
  /** Where nothing can be planned. */
  #refused: readonly Failure[] = [];
  /** What stands under the table as long as it is so. */
  readonly #failures: Failure[] = [];
  readonly #store: Store;
  readonly #feed: TableFeed;
  readonly #line: string;
  /** The line without its secrets. */
  readonly #title: string;
  #hasTable = false;
  #hasRollOut = false;
  #hasCompared = false;
  readonly #invocation: Invocation;
  readonly #makeWriter: (streams: Streams) => Writer;
  #writer: Writer | undefined;
  #text = '';
  #progressAt = -Infinity;
  /** What stands at the end of the log and may still fold with what comes. */
  #logging: NodeJS.Immediate | undefined;
  #open: Open = { results: [], failures: [], lines: [] };

  constructor({ store, feed, line, invocation, makeWriter }: RouterOptions) {
    this.#store = store;
    this.#feed = feed;
    this.#line = line;
    this.#title = hideSecrets(line);
    this.#invocation = invocation;
    this.#makeWriter = makeWriter;
  }

  write(output: Output): void {
    const { format } = this.#invocation.given;
    if (format !== undefined && format !== 'table' && output.kind !== 'progress') {
      if (output.kind === 'result') this.results.push(output.result);
      if (output.kind === 'quit') this.hasQuit = true;
      this.#print(output);
      return;
    }
    switch (output.kind) {
      case 'read':
        if (output.view.layout === 'table') {
          this.#fill(output);
          const { device, outcome } = output;
          if (!outcome.ok) this.#failures.push({ device, error: outcome.error });
        } else this.#print(output);
        break;
      case 'plan':
        if (output.dryRun === true) this.#show(planLines(output.plan, plainStyle));
        else this.#take(output.plan);
        break;
      case 'progress': {
        const now = performance.now();
        if (now - this.#progressAt < PROGRESS_EVERY_MS && output.done < output.total) break;
        this.#progressAt = now;
        this.#store.dispatch({
          kind: 'work-progress',
          text: `${visible(output.text)} ${output.done}/${output.total}`,
        });
        break;
      }
      case 'result':
        if (output.isPast === true) {
          this.#print(output);
          break;
        }
        this.results.push(output.result);
        this.#showRollOut();
        this.#store.dispatch({ kind: 'roll-out-result', result: output.result });
        this.#open.results.push(output.result);
        this.#logSoon();
        break;
      case 'summary':
        this.#store.dispatch({ kind: 'roll-out-end' });
        // Told from the journal, with the results above it.
        if (this.#writer !== undefined) this.#print(output);
        else if (foldResults(this.results).length > 1)
          this.log('quiet', summaryLine(output, plainStyle));
        break;
      case 'change':
        this.#print(output);
        break;
      case 'drift':
        this.#hasCompared = true;
        this.#openView(output);
        break;
      case 'table':
        if (this.#openView(output)) break;
        if (this.#isConnecting()) this.#logConnected(output.rows.map(({ state }) => state));
        else this.#print(output);
        break;
      case 'text':
      case 'answer':
        this.#print(output);
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

  /** The first answer brings the table into sight; whoever goes elsewhere meanwhile is left there. */
  #fill(output: ReadOutput): void {
    this.#feed.add(this.#line, this.#invocation, output, !this.#hasTable);
    this.#hasTable = true;
  }

  /** What has a view of its own; a list with nothing in it is told in words. */
  #openView(output: TableOutput | DriftOutput): boolean {
    const found = viewFor(output, this.#invocation, this.#line);
    if (found === undefined) return false;
    if (output.kind === 'table' && output.rows.length === 0) {
      this.log('plain', found.nothing);
      return true;
    }
    const { watchMs: everyMs } = this.#invocation.given;
    if (output.kind === 'table' && everyMs !== undefined)
      this.#store.dispatch({ kind: 'watch', everyMs });
    this.#store.dispatch({ kind: 'view-over', overlay: found.over });
    return true;
  }

  #take(plan: Plan): void {
    this.#plan = planView(plan);
    const devices = plan.devices.map(({ device, steps, settled, wanted = [] }) => ({
      name: device.name,
      steps: steps.length + settled.length + wanted.length,
    }));
    this.#rollOut = devices.filter(({ steps }) => steps > 0);
    this.#store.dispatch({ kind: 'work-writes', devices: this.#rollOut.map(({ name }) => name) });
    this.#refused = notCoveredBy(plan);
    keepFailures(this.#store, this.#refused);
  }

  /** From the first verdict on, a run on several devices is watched device by device. */
  #showRollOut(): void {
    const devices = this.#rollOut;
    this.#rollOut = [];
    const refusals = causeLines(this.#refused);
    if (devices.length <= LARGE_RUN) return;
    this.#hasRollOut = true;
    const overlay = {
      kind: 'roll-out',
      rollOut: { devices, refusals, results: [] },
      top: 0,
    } as const;
    this.#store.dispatch({ kind: 'view-over', overlay });
  }

  /** The plan, for the question that follows it. */
  takePlan(): PlanView | undefined {
    const plan = this.#plan;
    this.#plan = undefined;
    return plan;
  }

  /** The line has ended; `error` is why it ended early. */
  end(error?: DevshError): void {
    this.#feed.flush();
    this.#logOpen();
    this.#flush();
    if (this.#hasRollOut) this.#store.dispatch({ kind: 'roll-out-end' });
    // What failed has been said where it failed.
    keepFailures(this.#store, this.#failures);
    if (error === undefined || error instanceof StoppedError) return;
    this.log(error instanceof DeclinedError ? 'plain' : 'bad', ...errorLines(error, plainStyle));
  }

  log(tone: LogTone, ...texts: readonly string[]): void {
    this.#logOpen();
    this.#open = { results: [], failures: [], lines: [] };
    const lines = texts.map((text): LogLine => ({ tone, text }));
    this.#store.dispatch({ kind: 'log', lines });
  }

  #isConnecting(): boolean {
    const { command, verb } = this.#invocation;
    const isAccepting = command.name === 'questions' && verb.name === 'accept';
    return isAccepting || ['connect', 'demo'].includes(command.name);
  }

  /** The bar shows the states; the failures stand under the table. */
  #logConnected(states: readonly unknown[]): void {
    const ready = states.filter((state) => state === 'connected').length;
    const all = ready === states.length;
    const text = `connected to ${ready}${all ? '' : ` of ${states.length}`} device${states.length === 1 ? '' : 's'}`;
    this.log(all ? 'good' : 'warning', all ? `✓ ${text}` : text);
  }

  #logMessage({ level, text }: MessageOutput): void {
    // The title of the comparison says the same.
    if (this.#hasCompared && level !== 'warning') return;
    const mark = { info: '', done: '✓ ', warning: 'warning: ' }[level];
    this.log(MESSAGE_TONES[level], mark + visibleLines(text));
  }

  #logError(error: DevshError, device: ReadOutput['device'] | undefined): void {
    // A device that is down stands under the table with its reason as long as it is.
    if (this.#isConnecting() && device !== undefined) {
      this.#failures.push({ device, error });
      return;
    }
    if (device === undefined) {
      this.log('bad', ...errorLines(error, plainStyle));
      return;
    }
    this.#open.failures.push({ device, error });
    this.#logSoon();
  }

  /** What comes at once is folded once. */
  #logSoon(): void {
    this.#logging ??= setImmediate(() => {
      this.#logOpen();
    });
  }

  #logOpen(): void {
    if (this.#logging === undefined) return;
    clearImmediate(this.#logging);
    this.#logging = undefined;
    const { results, failures } = this.#open;
    const lines = [...foldResults(results), ...failureLines(failures)];
    this.#store.dispatch({ kind: 'log-replace', old: this.#open.lines, lines });
    this.#open.lines = lines;
  }

  #print(output: Output): void {
    this.#writer ??= this.#makeWriter({
      out: (text) => (this.#text += text),
      err: (text) => (this.#text += text),
      isTty: true,
      isErrTty: false,
      columns: this.#store.state.size.columns - 2,
      color: false,
      quiet: false,
    });
    this.#writer.write(output);
  }

  /** What was written so far and waits for the end of the line: a question may be about it. */
  get written(): readonly string[] {
    return this.#text.trim() === '' ? [] : this.#text.trimEnd().split('\n');
  }

  #flush(): void {
    this.#writer?.end();
    this.#writer = undefined;
    const lines = this.#text.replace(/\n$/, '').split('\n');
    if (this.#text.trim() !== '') this.#show(lines);
    this.#text = '';
  }

  #show(lines: readonly string[]): void {
    if (lines.length <= MOST_LOG_LINES) {
      this.log('plain', ...lines);
    } else {
      const overlay = { kind: 'pager', title: visible(this.#title), lines, top: 0 } as const;
      this.#store.dispatch({ kind: 'view-over', overlay });
    }
  }
}
