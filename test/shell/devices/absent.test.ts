import { setImmediate as idle, setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Clock, lookInTurn, watchAbsent } from '../../../src/shell/devices/absent.ts';
import { Shell } from '../../../src/shell/shell.ts';
import { startScreen } from '../../tui/session-screen.ts';

/** A second in a millisecond. */
const FAST: Clock = {
  now: () => performance.now() * 1000,
  sleep: (ms) => sleep(ms / 1000),
};

/** Two of three devices refuse the connection, after their certificates were pinned. */
async function startAbsent() {
  const screen = await startScreen((session) => new Shell(session));
  const { controller, store, shell, devices, names } = screen;
  const [first, second] = devices;
  for (const device of [first, second]) device?.setFault('refuse');
  controller.start('user list');
  const kinds = (): string => store.state.fleet.devices.map(({ kind }) => kind).join();
  await vi.waitUntil(() => kinds() === 'failed,failed,ready', { timeout: 20_000 });
  await vi.waitUntil(
    () => !controller.runner.isRunning && store.state.reading === undefined,
    20_000,
  );
  const requests = (): number => devices.flatMap(({ log }) => log).length;
  const back: string[] = [];
  const end = watchAbsent(shell.shell, (found) => back.push(found), FAST);
  onTestFinished(end);
  return { first, second, kinds, requests, back, names };
}

test('a device that is back is noticed once, without a request, and stays as it was', async () => {
  const { first, second, kinds, requests, back, names } = await startAbsent();
  const before = requests();
  first?.setFault('refuse', false);
  await vi.waitUntil(() => back.length > 0, { timeout: 20_000 });
  second?.setFault('refuse', false);
  await vi.waitUntil(() => back.length > 1, { timeout: 20_000 });
  expect(back).toEqual(names.slice(0, 2));
  expect(requests()).toBe(before);
  expect(kinds()).toBe('failed,failed,ready');
});

test('a device with another certificate is not back', async () => {
  const { first, second, requests, back, names } = await startAbsent();
  const before = requests();
  first?.setFault('certificate-change');
  first?.setFault('refuse', false);
  second?.setFault('refuse', false);
  await vi.waitUntil(() => back.length > 0, { timeout: 20_000 });
  expect(back).toEqual([names[1]]);
  expect(requests()).toBe(before);
});

test.each([1, 3, 20, 21, 100])(
  '%i devices are looked at in turn, none waits longer than it must, and none twice at a time',
  async (count) => {
    let time = 0;
    let wake: (() => void) | undefined;
    const clock: Clock = {
      now: () => time,
      sleep: (ms) =>
        new Promise((resolve) => {
          wake = () => {
            time += ms;
            resolve();
          };
        }),
    };
    const looks: { readonly device: number; readonly at: number }[] = [];
    const devices = Array.from({ length: count }, (_, index) => index);
    const stop = new AbortController();
    const look = (device: number): Promise<void> => {
      looks.push({ device, at: time });
      return Promise.resolve();
    };
    const ended = lookInTurn(() => devices, look, stop.signal, clock);
    while (time < 120_000) {
      wake?.();
      await idle();
    }
    stop.abort();
    wake?.();
    await ended;
    const most = count > 20 ? count * 250 : 5_000;
    for (const device of devices) {
      const times = looks.filter((one) => one.device === device).map(({ at }) => at);
      const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
      expect(times[0]).toBeLessThanOrEqual(most);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(most);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4_000);
    }
    const perSecond = count > 20 ? 4 : 5;
    for (const { at } of looks)
      expect(looks.filter((one) => one.at >= at && one.at < at + 1000).length).toBeLessThanOrEqual(
        perSecond,
      );
  },
);

test('a device that does not answer is not asked twice at a time, and holds up no other one', async () => {
  const looks: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const look = (device: string): Promise<void> => {
    looks.push(device);
    return device === 'silent' ? new Promise(() => undefined) : Promise.resolve();
  };
  void lookInTurn(() => ['silent', 'other'], look, stop.signal, FAST);
  await vi.waitUntil(() => looks.filter((name) => name === 'other').length > 3);
  expect(looks.filter((name) => name === 'silent')).toHaveLength(1);
});
