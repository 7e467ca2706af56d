import { type KeyEvent, matchesKey } from './terminal/keys.ts';

/** A key that is held down repeats within this time. */
const REPEAT_MS = 1000;

/** Keeps a `q` that has just closed a view from leaving devsh when it repeats. */
export class LateKeys {
  /** When q closed a view. */
  #closedAt = -Infinity;

  /** Why a key is not taken; `action`: of its binding, if there is one. */
  reason(event: KeyEvent, action: string | undefined): string | undefined {
    const now = performance.now();
    const isAgain = action === 'quit' && now - this.#closedAt < REPEAT_MS;
    const closes = isAgain || (action === 'close' && !matchesKey(event, 'escape'));
    this.#closedAt = closes ? now : -Infinity;
    return isAgain ? 'the view was just closed: press it again to leave devsh' : undefined;
  }
}
