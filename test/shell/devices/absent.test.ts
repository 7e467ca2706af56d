import { expect, onTestFinished, test, vi } from 'vitest';
import { lookInTurn, watchAbsent } from '../../../src/shell/devices/absent.ts';
import { Shell } from '../../../src/shell/shell.ts';
import { startScreen } from '../../tui/session-screen.ts';

/** How often a device is looked at. */
const FAST_MS = 16;

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
  const end = watchAbsent(shell.shell, (found) => back.push(found), FAST_MS);
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

test('devices are looked at in turn, one after the other', async () => {
  const devices = Array.from({ length: 20 }, (_, index) => ({ index }));
  const looks: number[] = [];
  const end = lookInTurn(
    () => devices,
    ({ index }) => Promise.resolve(void looks.push(index)),
    FAST_MS,
  );
  onTestFinished(end);
  await vi.waitUntil(() => looks.length >= 60, { timeout: 20_000 });
  const order = devices.map(({ index }) => index);
  expect(looks.slice(0, 60)).toEqual([...order, ...order, ...order]);
});

test('a device that does not answer is not asked twice at a time, and holds up no other one', async () => {
  const [silent, other] = [{ name: 'silent' }, { name: 'other' }];
  const looks: string[] = [];
  const end = lookInTurn(
    () => [silent, other],
    ({ name }) => {
      looks.push(name);
      return name === 'silent' ? new Promise(() => undefined) : Promise.resolve();
    },
    FAST_MS,
  );
  onTestFinished(end);
  await vi.waitUntil(() => looks.filter((name) => name === 'other').length > 3);
  expect(looks.filter((name) => name === 'silent')).toHaveLength(1);
});
