import { afterAll, beforeAll } from 'vitest';
import { SETTLE_DELAYS_MS } from '../src/change/run-step.ts';

/** In the tests of this file, devsh waits for no late effect. Files share the modules of `src`: it is put back. */
export function settleAtOnce(): void {
  const delays = [...SETTLE_DELAYS_MS];
  beforeAll(() => {
    SETTLE_DELAYS_MS.fill(1);
  });
  afterAll(() => {
    SETTLE_DELAYS_MS.splice(0, delays.length, ...delays);
  });
}
