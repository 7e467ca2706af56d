import { DeviceError } from '../device/errors.ts';
import type { DeviceRef } from '../device/record.ts';
import type { Note } from '../output/sentences.ts';

/** How the user holds a run or ends it early; the step under way is always finished. */
export class RunControl {
  #isPaused = false;
  readonly #stop = new AbortController();
  #waiting: (() => void)[] = [];

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The run begins no further device. */
  get isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Aborted as soon as no further device is begun. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Pauses before the next step, or continues. */
  togglePause(): void {
    this.#isPaused = !this.#isPaused;
    if (!this.#isPaused) this.#wake();
  }

  /** Ends the run when the devices under way have all their steps. */
  stopAfterDevice(): void {
    this.#stop.abort();
    this.#isPaused = false;
    this.#wake();
  }

  /** Resolves when the next step may be sent; to true if it had to wait, so that earlier reads are old. */
  async ready(signal: AbortSignal): Promise<boolean> {
    const hadToWait = this.#isPaused;
    while (this.#isPaused && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return hadToWait;
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The run stops: on further devices no login would be left. */
export class StopsRunError extends DeviceError {
  override readonly code = 'login-unknown';
  readonly stopReason: string;

  constructor(device: DeviceRef, what: Note, stopReason: string) {
    super(device, what);
    this.stopReason = stopReason;
  }
}
