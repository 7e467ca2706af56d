import { expect, onTestFinished, test, vi } from 'vitest';
import { Shell } from '../../src/shell/shell.ts';
import { parseKey } from '../../src/tui/terminal/keys.ts';
import { startScreen } from './session-screen.ts';

test('a message that was read goes with a later key, but nobody loses one by looking away, nor what failed', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { controller, store } = await startScreen((session) => new Shell(session));
  controller.start('user list');
  const isIdle = (): boolean => !controller.runner.isRunning && store.state.reading === undefined;
  await vi.waitUntil(isIdle, { timeout: 20_000 });
  const press = (): void => controller.onKey({ kind: 'key', text: '', ...parseKey('down') });
  // A note on the history may come at any time.
  const shown = (): string[] =>
    store.state.log.current.map(({ text }) => text).filter((text) => /^[✓✗]/.test(text));
  store.logMessage('good', '✓ done');
  store.logMessage('bad', '✗ failed');
  vi.advanceTimersByTime(600_000);
  // Only now somebody is there.
  press();
  expect(shown()).toEqual(['✓ done', '✗ failed']);
  vi.advanceTimersByTime(14_000);
  press();
  expect(shown()).toEqual(['✓ done', '✗ failed']);
  vi.advanceTimersByTime(1_000);
  expect(shown()).toEqual(['✓ done', '✗ failed']);
  press();
  expect(shown()).toEqual(['✗ failed']);
  expect(store.state.log.all.map(({ text }) => text)).toContain('✓ done');
});
