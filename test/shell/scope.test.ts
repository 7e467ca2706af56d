import { expect, test, vi } from 'vitest';
import { promptText } from '../../src/shell/session.ts';
import { startSession } from './session.ts';

test('a device that is tried again is not connected before it answers', async () => {
  const { session, device, read } = await startSession();
  device.setFault('refuse');
  await read();
  expect(promptText(session.fleet)).toBe('devsh sim1 · not connected> ');
  device.clearFaults();
  device.setFault('silence', true, { method: 'GET' });
  const again = read();
  await vi.waitUntil(() => device.log.length > 0, 10_000);
  expect(promptText(session.fleet)).toBe('devsh sim1 · not connected> ');
  device.clearFaults();
  await session.close();
  await again.catch(() => undefined);
});
