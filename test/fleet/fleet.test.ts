import { expect, test } from 'vitest';
import { startSession } from '../shell/session.ts';

test('a device that is replaced leaves no earlier connection open', async () => {
  const { session: shell, read } = await startSession();
  const { fleet } = shell;
  await read();
  const [before] = fleet.connected;
  if (before === undefined) throw new Error('no device');
  expect(before.state.kind).toBe('ready');

  // Meant otherwise for one line, it stays connected as it is.
  fleet.sessions([{ ...before.entry, profile: 'drf' }]);
  expect(fleet.sessions([before.entry])).toEqual([before]);
  expect(before.state.kind).toBe('ready');

  fleet.join(fleet.sessions([{ ...before.entry, profile: 'drf' }]));
  expect(before.state.kind).toBe('new');
  expect(fleet.connected).not.toContain(before);
});
