/** The part of `process` that ways out of the program go through. */
export type ProcessLike = Pick<NodeJS.Process, 'pid' | 'kill' | 'exit' | 'on' | 'off'> & {
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>;
};

export interface WayOutActions {
  /** Gives the terminal back; may be called again. */
  readonly restore: () => void;
  /** Removes what the program must not leave behind, when there is no time for more. */
  readonly cleanUp: () => void;
  /** Whether Ctrl-C and Ctrl-\ are for another program at the moment. */
  readonly ignoresKeys: () => boolean;
}

/** What a key of the terminal sends to every program in front. */
const KEY_SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const SIGNALS = [...KEY_SIGNALS, 'SIGTERM', 'SIGHUP'] as const;

/** Exit status for a bug in devsh (README, "Scripts"). */
const BUG = 70;

/** Restores the terminal however the program ends; SIGKILL alone cannot be helped. */
export class WaysOut {
  readonly #process: ProcessLike;
  readonly #actions: WayOutActions;

  constructor(processLike: ProcessLike, actions: WayOutActions) {
    this.#process = processLike;
    this.#actions = actions;
  }

  guard(): void {
    for (const signal of SIGNALS) this.#process.on(signal, this.#onSignal);
    this.#process.on('uncaughtException', this.#onBug);
    this.#process.on('unhandledRejection', this.#onBug);
    this.#process.on('exit', this.#actions.restore);
  }

  unguard(): void {
    for (const signal of SIGNALS) this.#process.off(signal, this.#onSignal);
    this.#process.off('uncaughtException', this.#onBug);
    this.#process.off('unhandledRejection', this.#onBug);
    this.#process.off('exit', this.#actions.restore);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (KEY_SIGNALS.some((one) => one === signal) && this.#actions.ignoresKeys()) return;
    this.#actions.restore();
    this.#actions.cleanUp();
    this.unguard();
    // Sent again, with nobody of ours listening, the signal ends the process, and its parent sees
    // which one it was. `process.exit()` would not say that, and aborts Node 20 on SIGHUP.
    // Later, so that other listeners of this signal get their turn first.
    setImmediate(() => {
      this.#process.kill(this.#process.pid, signal);
    });
  };

  readonly #onBug = (error: unknown): void => {
    this.#actions.restore();
    this.#actions.cleanUp();
    this.unguard();
    // Only the stack: other properties of an error may hold secrets. Printed after leaving the
    // alternate screen, which would take it along.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#process.stderr.write(`devsh: this is a bug in devsh\n${withoutControls(text)}\n`);
    this.#process.exit(BUG);
  };
}

function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => (character === '\n' ? '\n' : '\ufffd'));
}
