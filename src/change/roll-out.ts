import { UnauthorizedError } from '../device/errors.ts';
import type { DevicePlan } from './plan.ts';
import type { StepResult } from './verdict.ts';

/** So many devices refused the login: nothing more is sent, a wrong password must not lock accounts. */
const MAX_REFUSED_LOGINS = 2;

/** In which portions a plan goes out, and when it stops by itself. */
export interface RollOut {
  /** So many devices first; then it is asked whether to go on. 0: none. */
  readonly canary: number;
  /** So many devices in each further portion; undefined: all of them. */
  readonly batch: number | undefined;
  /** Between two portions. */
  readonly pauseMs: number;
  /** Stops when more devices than this have failed. */
  readonly maxFailures: { readonly kind: 'count' | 'percent'; readonly limit: number } | undefined;
}

export const IN_ONE_GO: RollOut = {
  canary: 0,
  batch: undefined,
  pauseMs: 0,
  maxFailures: undefined,
};

/** The devices of a plan in the portions of its roll-out; the canary, if any, is the first. */
export function portionsOf(
  devices: readonly DevicePlan[],
  { canary, batch }: RollOut,
): readonly (readonly DevicePlan[])[] {
  const first = canary > 0 ? [devices.slice(0, canary)] : [];
  const rest = devices.slice(canary);
  const size = batch ?? Math.max(1, rest.length);
  const others = Array.from({ length: Math.ceil(rest.length / size) }, (_, index) =>
    rest.slice(index * size, (index + 1) * size),
  );
  return [...first, ...others].filter((portion) => portion.length > 0);
}

/** Whether a result means that the device is as it was meant to be. */
export function isGood({ verdict }: StepResult): boolean {
  return verdict === 'done' || verdict === 'unchanged';
}

/** Watches the results and says, once, why nothing more is to be sent. */
export class StopRule {
  readonly #rollOut: RollOut;
  readonly #deviceCount: number;
  readonly #unreadCount: number;
  readonly #failed = new Set<string>();
  readonly #refusedLogins = new Set<string>();
  #reason: string | undefined;

  /**
   * @param deviceCount of all devices that are to be changed
   * @param unreadCount how many of them could not be read: they have failed before the first write
   */
  constructor(rollOut: RollOut, deviceCount: number, unreadCount = 0) {
    this.#rollOut = rollOut;
    this.#deviceCount = deviceCount;
    this.#unreadCount = unreadCount;
    this.#checkFailures();
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  get failedDevices(): readonly string[] {
    return [...this.#failed];
  }

  stop(reason: string): void {
    this.#reason ??= reason;
  }

  add(result: StepResult): void {
    if (isGood(result)) return;
    this.#failed.add(result.device.name);
    if (result.error instanceof UnauthorizedError && result.error.code === 'unauthorized') {
      this.#refusedLogins.add(result.device.name);
      if (this.#refusedLogins.size >= MAX_REFUSED_LOGINS) this.stop('the login was refused twice');
    }
    this.#checkFailures();
  }

  #checkFailures(): void {
    const { maxFailures } = this.#rollOut;
    if (maxFailures === undefined) return;
    const count = this.#failed.size + this.#unreadCount;
    const { kind, limit } = maxFailures;
    const share = (100 * count) / this.#deviceCount;
    if (kind === 'count' ? count > limit : share > limit) {
      const allowed = kind === 'count' ? String(limit) : `${limit}%`;
      this.stop(
        `${count} of ${this.#deviceCount} devices failed, more than the ${allowed} that --max-failures allows`,
      );
    }
  }
}
