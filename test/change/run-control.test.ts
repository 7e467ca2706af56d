import { expect, test } from 'vitest';
import { RunControl } from '../../src/change/run-control.ts';

function signal(): AbortSignal {
  return new AbortController().signal;
}

test('a run that is not paused never waits', async () => {
  expect(await new RunControl().ready(signal())).toBe(false);
});

test('a paused run waits until it is continued, and knows that it had to wait', async () => {
  const control = new RunControl();
  control.togglePause();
  let hasGoneOn = false;
  const ready = control.ready(signal()).then((hadToWait) => {
    hasGoneOn = true;
    return hadToWait;
  });
  await Promise.resolve();
  expect(hasGoneOn).toBe(false);
  control.togglePause();
  expect(await ready).toBe(true);
});

test('Ctrl-C ends a pause', async () => {
  const control = new RunControl();
  const stop = new AbortController();
  control.togglePause();
  const ready = control.ready(stop.signal);
  stop.abort();
  expect(await ready).toBe(true);
  expect(await control.ready(stop.signal)).toBe(true);
});

test('a stop during a pause lets the device under way complete its steps', async () => {
  const control = new RunControl();
  control.togglePause();
  const ready = control.ready(signal());
  control.stopAfterDevice();
  expect(await ready).toBe(true);
  expect(control).toMatchObject({ isPaused: false, isStopping: true });
});
