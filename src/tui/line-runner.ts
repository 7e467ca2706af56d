import type { StepResult } from '../change/verdict.ts';
import type { Draft } from '../os/editor.ts';
import { CancelledError, DevshError, UsageError } from '../errors.ts';
import { visible } from '../text/visible.ts';
import type { Invocation } from '../shell/grammar/bind.ts';
import type { ShellIo } from '../shell/io.ts';
import type { Shell } from '../shell/shell.ts';
import { shortened } from '../text/width.ts';
import { writerFor } from '../output/writer-for.ts';
import { OutputRouter } from './output-router.ts';
import type { Questions } from './questions.ts';
import type { Store } from './store.ts';
import type { TableFeed } from './table/feed.ts';

/** A line that names many records is known again by less than all of it. */
const LONGEST_ECHO = 400;

export interface RunnerOptions {
  readonly shell: Shell;
  readonly store: Store;
  readonly questions: Questions;
  readonly feed: TableFeed;
  /** Lends the terminal to the user's editor. */
  readonly edit: (draft: Draft, signal: AbortSignal) => Promise<string>;
  /** A line has ended; what it changed. */
  readonly onEnd: (line: string, invocation: Invocation, results: readonly StepResult[]) => void;
  /** The line could not be understood after all. */
  readonly onProblem: (line: string, error: UsageError) => void;
  readonly onQuit: () => void;
}

/** A line has ended: what it changed, and why it ended early. */
export type LineEnd = (results: readonly StepResult[], error: DevshError | undefined) => void;

interface Made {
  /** The line as it is shown: nobody has seen it typed. */
  readonly shown: string;
  readonly onEnd?: LineEnd;
}

interface Job {
  readonly line: string;
  readonly invocation: Invocation;
  /** A key or a form made this line. */
  readonly made: Made | undefined;
}

/** Carries out lines one after the other; the keys go on being heard meanwhile. */
export class LineRunner {
  readonly changes: StepResult[] = [];
  readonly #options: RunnerOptions;
  readonly #jobs: Job[] = [];
  #stop: AbortController | undefined;
  #running: Invocation | undefined;
  #leave: (() => void) | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#stop !== undefined;
  }

  /** What runs may change devices. */
  get isWriting(): boolean {
    return this.isRunning && this.#running?.verb.options.includes('yes') === true;
  }

  /** Throws a `UsageError`, and does nothing, when the line cannot be understood. */
  submit(line: string, made?: Made): void {
    const invocation = this.#options.shell.parse(line);
    this.#jobs.push({ line, invocation, made });
    const { store } = this.#options;
    if (this.isRunning) store.dispatch({ kind: 'work-waiting', waiting: this.#jobs.length });
    else void this.#drain();
  }

  /** Ctrl-C: lets the request in flight finish; a second time, does not wait for it. */
  interrupt(): void {
    if (this.#stop === undefined) return;
    this.#jobs.length = 0;
    if (this.#stop.signal.aborted) {
      this.#leave?.();
      return;
    }
    this.#options.store.dispatch({ kind: 'work-stopping' });
    this.#stop.abort(new CancelledError());
  }

  async #drain(): Promise<void> {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      const stop = new AbortController();
      this.#stop = stop;
      this.#running = job.invocation;
      const left = new Promise<void>((resolve) => (this.#leave = resolve));
      const { store } = this.#options;
      this.#options.questions.attend();
      store.dispatch({ kind: 'log-clear' });
      store.dispatch({ kind: 'work-start', waiting: this.#jobs.length });
      await Promise.race([this.#run(job, stop.signal), left]);
      this.#stop = undefined;
      store.dispatch({ kind: 'work-end' });
    }
  }

  async #run({ line, invocation, made }: Job, signal: AbortSignal): Promise<void> {
    const { shell, store, feed, onEnd, onQuit } = this.#options;
    const makeWriter = await writerFor(invocation.given.format ?? 'table');
    const shown = made?.shown ?? line;
    const router = new OutputRouter({ store, feed, line: shown, invocation, makeWriter });
    if (made !== undefined)
      router.log('quiet', `› ${visible(shortened(made.shown, LONGEST_ECHO))}`);
    const io = this.#ioOf(router, signal);
    let failure: DevshError | undefined;
    try {
      // Who went on without it must not find it begin now.
      signal.throwIfAborted();
      for await (const output of shell.evaluate(invocation, io)) {
        router.write(output);
        if (output.kind === 'result' && output.isPast !== true) this.changes.push(output.result);
      }
      router.end(signal.aborted ? new CancelledError() : undefined);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      failure = error;
      const isProblem =
        error instanceof UsageError && error.column !== undefined && made === undefined;
      router.end(isProblem ? undefined : error);
      if (isProblem) this.#options.onProblem(line, error);
    }
    made?.onEnd?.(router.results, failure);
    onEnd(line, invocation, router.results);
    if (router.hasQuit) onQuit();
  }

  #ioOf(router: OutputRouter, signal: AbortSignal): ShellIo {
    return {
      signal,
      isOnScreen: true,
      isPrompt: true,
      isRefreshing: true,
      asksLater: true,
      ask: async (question) => {
        const { questions, store } = this.#options;
        const details = [...router.written, ...(question.details ?? [])];
        const answer = await questions.ask({ ...question, details }, router.takePlan(), signal);
        // What was said while planning is over.
        store.dispatch({ kind: 'work-progress', text: 'working' });
        return answer;
      },
      edit: (draft) => this.#options.edit(draft, signal),
      readInput: () => Promise.resolve(''),
      arriving: (text) => {
        this.#options.store.dispatch({ kind: 'work-progress', text: visible(text) });
      },
      trace: (line) => {
        router.log('quiet', visible(line));
      },
    };
  }
}
