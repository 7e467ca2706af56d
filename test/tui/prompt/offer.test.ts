import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Shell } from '../../../src/shell/shell.ts';
import { startScreen } from '../session-screen.ts';

test('Esc right after a key closes the proposals, and they stay closed', async () => {
  const { controller, store, shell } = await startScreen((session) => new Shell(session));
  const complete = vi.spyOn(shell, 'complete');
  const press = (name: string, text = ''): void =>
    controller.onKey({ kind: 'key', name, ctrl: false, meta: false, shift: false, text });
  const proposed = async (times: number): Promise<unknown> => {
    await expect.poll(() => complete.mock.results.length).toBe(times);
    await complete.mock.results.at(-1)?.value;
    await nextTurn();
    return store.state.prompt.menu?.completion.proposals.map(({ text }) => text);
  };

  press('r', 'r');
  expect(await proposed(1)).toContain('resume');
  press('e', 'e');
  expect(store.state.prompt.menu).toBeDefined();
  press('escape');
  expect(await proposed(2)).toBeUndefined();
  press('s', 's');
  expect(await proposed(3)).toContain('resume');
});
