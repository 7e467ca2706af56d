import { expect, test, vi } from 'vitest';
import { Shell } from '../../src/shell/shell.ts';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import { titleLine } from '../../src/tui/screen/bar-lines.ts';
import type { State } from '../../src/tui/state.ts';
import { isRead, shownDevices, tableRows } from '../../src/tui/table/rows.ts';
import { emptyLines } from '../../src/tui/table/view.ts';
import { startScreen } from './session-screen.ts';

const reasonOf = (state: State, action: string): string | undefined =>
  KEYMAP.find((key) => key.context === 'table' && key.action === action)?.disabled?.(state);

test('what was read earlier is a table of its own: merged, sorted, dated, and not to be changed', async () => {
  const { controller, store, devices, names } = await startScreen((session) => new Shell(session));
  const isShown = async (): Promise<void> => {
    await vi.waitUntil(
      () =>
        !controller.runner.isRunning &&
        store.state.reading === undefined &&
        shownDevices(store.state).every((name) => isRead(store.state, name)),
      { timeout: 20_000 },
    );
  };
  const keys = (): unknown[] => tableRows(store.state).rows.map(({ record }) => record['username']);
  controller.start('user list');
  await isShown();
  const before = keys();
  const then = Date.now();
  for (const device of devices) device.putUser({ username: 'mallory', lang: 'de' });
  await vi.waitUntil(() => Date.now() > then);
  await controller.runner.submit('user list');
  await isShown();
  expect(keys()).toContain('mallory');

  await controller.runner.submit(`user list --at ${new Date(then).toISOString()}`);
  await isShown();
  expect(store.state.overlay.kind).toBe('none');
  expect(keys()).toEqual(before);
  expect(titleLine(store.state).left).toMatch(
    /^ users › as of (?:yesterday )?\d\d:\d\d · 3 devices · /,
  );
  expect(reasonOf(store.state, 'edit-form')).toContain('esc goes back to what is so now');
  expect(reasonOf(store.state, 'delete')).toContain('esc goes back to what is so now');

  // Another time replaces it; a write to the devices leaves it as it was.
  await controller.runner.submit(`user list --at ${new Date(then - 1).toISOString()}`);
  await controller.runner.submit(`user delete mallory --on ${names[0] ?? ''} --yes`);
  await isShown();
  expect(keys()).toEqual(before);
  store.act('go-table');
  store.act('back');
  await isShown();
  expect(titleLine(store.state).left).toMatch(/^ users · \d+: /);
  expect(keys()).toContain('mallory');
});

test('of a time before the first reading nothing is claimed, not even that no device responds', async () => {
  const { controller, store } = await startScreen((session) => new Shell(session));
  controller.start('user list');
  await vi.waitUntil(() => !controller.runner.isRunning && tableRows(store.state).rows.length > 0, {
    timeout: 20_000,
  });
  await controller.runner.submit('user list --at 2020-01-02');
  expect(titleLine(store.state).left).toBe(' users › in the past · 0 of 3 devices read');
  expect(emptyLines(store.state)).toEqual(['', 'nothing is known of that time']);
});
