import { changesNothing, type Invocation } from '../shell/command.ts';
import { keysFirst } from '../fleet/fan-out.ts';
import type { StepResult } from '../change/verdict.ts';
import { attempt, CancelledError, DevshError, UsageError } from '../errors.ts';
import { someOf } from '../text/one-line.ts';
import { shortened, visible } from '../text/visible.ts';
import { RunControl } from '../change/run-control.ts';
import type { ShellIo } from '../shell/session.ts';
import type { Shell } from '../shell/shell.ts';
import { writerFor } from '../output/writers.ts';
import { OutputRouter } from './output-router.ts';
import type { Questions } from './questions.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';
import type { Surface } from './surface.ts';
import { isUnderWay } from './views/roll-out.ts';
import type { TableFeed } from './table/feed.ts';

/** A longer line is cut in its echo. The user recognizes it even so. */
const LONGEST_ECHO = 400;

/** A waiting line is cut to this length, because it stands beside the progress of another line. */
const LONGEST_WAITING = 40;

/** After a longer run the user may be looking elsewhere. */
const LONG_RUN_MS = 10_000;

interface RunnerOptions {
  readonly shell: Shell;
  readonly store: Store;
  readonly questions: Questions;
  readonly feed: TableFeed;
  /** Called when a line has ended, with its changes. */
  readonly onEnd: (
    invocation: Invocation,
    results: readonly StepResult[],
    isOtherRunning: boolean,
  ) => void;
  /** Called if a line turns out to be invalid while it runs. */
  readonly onProblem: (line: string, error: UsageError) => void;
  readonly surface: Surface;
}

/** Called when a line has ended, with its changes on the devices that it reached, and the error that ended it. */
export type LineEnd = (results: readonly StepResult[], error: DevshError | undefined) => void;

interface GeneratedLine {
  /** The line to show, as the user has not typed it. */
  readonly shown: string;
  readonly onEnd?: LineEnd;
}

interface Job {
  readonly line: string;
  readonly invocation: Invocation;
  /** Set if a key or a form made this line. */
  readonly generated: GeneratedLine | undefined;
  /** The prompt at submission, if the line had to wait. */
  readonly prompt: string | undefined;
  readonly onDone: () => void;
}

/** Executes lines one after the other. Keys work meanwhile. */
export class LineRunner {
  readonly changes: StepResult[] = [];
  /** The changes on devices that the run did not reach. */
  readonly unsent = new Set<StepResult>();
  readonly #options: RunnerOptions;
  readonly #jobs: Job[] = [];
  #stop: AbortController | undefined;
  #control = new RunControl();
  /** Lines that run beside another one: lines of keys that only read or select, and answers to questions. */
  readonly #beside = new Set<AbortController>();
  #running: Invocation | undefined;
  #leave: (() => void) | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#stop !== undefined || this.#beside.size > 0;
  }

  /** Whether the running line may change devices. */
  get isWriting(): boolean {
    const verb = this.#stop === undefined ? undefined : this.#running?.verb;
    // `connect` asks whether to keep a profile, and writes to no device.
    return verb?.options.includes('yes') === true && verb.changes === undefined;
  }

  /** Whether the line of a key would have to wait for a run on many devices. */
  waitsForRollOut(line: string): boolean {
    const { shell, store } = this.#options;
    const isRollOut = this.isWriting && isUnderWay(store.state);
    // A mistake in the line is reported when it is submitted.
    const invocation = isRollOut ? attempt(DevshError, () => shell.parse(line)) : undefined;
    return invocation !== undefined && !this.#goesBeside(invocation, true);
  }

  /** Whether a line runs at once beside another one. Not if lines wait: no key may select other devices before them. */
  #goesBeside(invocation: Invocation, isOfKey: boolean): boolean {
    const isLook = invocation.command.name === 'use' || changesNothing(invocation);
    // A list of runs would show the run in progress as an interrupted one.
    const isEarly = this.isWriting && invocation.command.section === 'Change sets';
    const isAtOnce = isOfKey && isLook && !isEarly && this.#jobs.length === 0;
    return isAtOnce || isAnswer(invocation, this.#options.store.state);
  }

  /** Runs a line. Resolves when it has ended. Throws, and does nothing, if it is invalid or must not run. */
  submit(line: string, generated?: GeneratedLine): Promise<void> {
    const invocation = this.#options.shell.parse(line);
    const { store } = this.#options;
    const waits = this.#stop !== undefined;
    const prompt = waits ? store.state.fleet.prompt : undefined;
    let onDone = (): void => undefined;
    const done = new Promise<void>((resolve) => (onDone = resolve));
    const job = { line, invocation, generated, prompt, onDone };
    if (waits && this.#goesBeside(invocation, generated !== undefined)) return this.#runBeside(job);
    this.#jobs.push(job);
    if (waits) store.dispatch({ kind: 'work', work: { waiting: this.#waiting } });
    else void this.#drain();
    return done;
  }

  get #waiting(): string[] {
    return this.#jobs.map(({ generated, invocation }) =>
      visible(shortened(generated?.shown ?? invocation.line, LONGEST_WAITING)),
    );
  }

  /**
   * Ctrl-C: stops the lines beside the running line, and that line itself if it writes or has none beside it. Its
   * request in flight may finish; a second Ctrl-C does not wait for it.
   */
  interrupt(isLeaving = false): void {
    const beside = [...this.#beside].filter(({ signal }) => !signal.aborted);
    for (const stop of beside) stop.abort(new CancelledError());
    if (beside.length > 0 && !this.isWriting && !isLeaving) return;
    if (this.#stop === undefined) return;
    const { store } = this.#options;
    const dropped = this.#waiting;
    if (dropped.length > 0) store.logMessage('warning', `not run: ${someOf(dropped)}`);
    this.#jobs.length = 0;
    if (this.#stop.signal.aborted) {
      this.#leave?.();
      store.dispatch({ kind: 'roll-out-change', change: { control: 'ended' } });
      store.logMessage('warning', 'not waiting for the request in flight: its result follows');
      return;
    }
    store.dispatch({ kind: 'work', work: { isStopping: true, waiting: [] } });
    const change = { control: 'interrupted', isSteady: false } as const;
    store.dispatch({ kind: 'roll-out-change', change });
    this.#stop.abort(new CancelledError());
  }

  /** `pause`: pauses the run before its next step, or continues it. `stop`: ends it before its next device. */
  control(what: 'pause' | 'stop'): void {
    const run = this.#control;
    if (!this.isWriting || run.isStopping || this.#stop?.signal.aborted === true) return;
    if (what === 'stop') run.stopAfterDevice();
    else run.togglePause();
    const control = what === 'stop' ? 'stopping' : run.isPaused ? 'paused' : 'running';
    const change = { control, isSteady: false } as const;
    this.#options.store.dispatch({ kind: 'roll-out-change', change });
  }

  async #drain(): Promise<void> {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      const stop = new AbortController();
      this.#stop = stop;
      this.#control = new RunControl();
      this.#running = job.invocation;
      const left = new Promise<void>((resolve) => (this.#leave = resolve));
      const { store } = this.#options;
      this.#options.questions.expectQuestions();
      store.dispatch({ kind: 'log-hide', lines: store.state.log.current });
      const waiting = this.#waiting;
      store.know({ work: { isStopping: false, progress: undefined, waiting, writes: [] } });
      await Promise.race([this.#run(job, stop.signal), left]);
      this.#stop = undefined;
      store.know({ work: undefined });
      job.onDone();
    }
  }

  async #runBeside(job: Job): Promise<void> {
    const stop = new AbortController();
    this.#beside.add(stop);
    this.#options.questions.expectQuestions();
    await this.#run(job, stop.signal, true);
    this.#beside.delete(stop);
  }

  async #run(job: Job, signal: AbortSignal, isBeside = false): Promise<void> {
    const { shell, store, feed, onEnd, surface } = this.#options;
    const { line, invocation, generated } = job;
    const makeWriter = await writerFor(invocation.given.format ?? 'table');
    const shown = generated?.shown ?? line;
    const router = new OutputRouter({ store, feed, line: shown, invocation, makeWriter });
    // If the prompt has changed since, the echo shows the devices that the line applies to.
    const { prompt } = store.state.fleet;
    const isElsewhere = job.prompt !== undefined && job.prompt !== prompt;
    if (generated !== undefined || isElsewhere) {
      const where = isElsewhere ? prompt : '› ';
      const echo = generated?.shown ?? invocation.line;
      router.log('quiet', visible(where + shortened(echo, LONGEST_ECHO)));
    }
    const io = this.#ioOf(router, signal, isBeside);
    let failure: DevshError | undefined;
    try {
      // A line that was abandoned before it began must not begin now.
      signal.throwIfAborted();
      for await (const output of shell.evaluate(invocation, io)) {
        // A large plan takes long to check, to show, and to check again.
        if (output.kind === 'plan') await keysFirst();
        // The screen shows the progress of the other line.
        if (!isBeside || output.kind !== 'progress') router.write(output);
        if (output.kind === 'plan') await keysFirst();
        if (output.kind === 'result' && output.isPast !== true) this.changes.push(output.result);
        if (output.kind === 'summary')
          for (const result of router.results)
            if (output.notCovered.some(({ device }) => device.name === result.device.name))
              this.unsent.add(result);
      }
      router.end(signal.aborted ? new CancelledError() : undefined);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      failure = error;
      const isProblem =
        error instanceof UsageError && error.column !== undefined && generated === undefined;
      router.end(isProblem ? undefined : error);
      if (error instanceof UsageError && generated === undefined) router.withdraw();
      if (isProblem) this.#options.onProblem(line, error);
    }
    const isLongRun = router.results.length > 0 && router.ranMs > LONG_RUN_MS;
    if (isLongRun && shell.shell.services.settings.get('bell')) surface.send('\x07');
    const reached = router.results.filter(
      (result) => !this.unsent.has(result) && wasReached(result),
    );
    generated?.onEnd?.(reached, failure);
    onEnd(invocation, router.results, isBeside && this.#stop !== undefined);
    if (router.hasQuit) surface.leave();
  }

  #ioOf(router: OutputRouter, signal: AbortSignal, isBeside: boolean): ShellIo {
    return {
      signal,
      ...(!isBeside && { control: this.#control }),
      isBeside,
      isOnScreen: true,
      isPrompt: true,
      isRefreshing: true,
      asksLater: true,
      ask: async (question) => {
        const { questions, store } = this.#options;
        const details = [...router.written, ...(question.details ?? [])];
        const plan = router.takePlan();
        const answer = await questions.ask({ ...question, details }, plan, signal);
        if (plan !== undefined && answer !== undefined) router.begin();
        // Replaces the progress of planning.
        store.dispatch({ kind: 'work', work: { progress: 'working' } });
        return answer;
      },
      onDevice: (name) => {
        const { store } = this.#options;
        const begun = [...(store.state.rollOut?.begun ?? []), name];
        store.dispatch({ kind: 'roll-out-change', change: { begun } });
      },
      readInput: () => Promise.resolve(''),
      progress: (text) =>
        this.#options.store.dispatch({ kind: 'work', work: { progress: visible(text) } }),
      trace: (line) => router.log('quiet', visible(line)),
    };
  }
}

/** Exit code of a device that is unreachable or has another certificate. */
const NOT_REACHED = 5;

function wasReached({ verdict, error }: StepResult): boolean {
  return verdict !== 'skipped' && !(verdict === 'failed' && error?.exitCode === NOT_REACHED);
}

/** Whether a line answers questions of devices that the running line does not change. */
function isAnswer({ command, args }: Invocation, { fleet, work }: State): boolean {
  if (command.name !== 'questions') return false;
  const named = args.all('DEVICE');
  const asking = fleet.questions.map(({ name }) => name);
  const devices = named.length > 0 && named.every((name) => asking.includes(name)) ? named : asking;
  return !devices.some((name) => work?.writes.includes(name));
}
