import { expect, test } from 'vitest';
import type { Device } from '../../src/device/device.ts';
import { deviceAt, serve } from './server.ts';

/** A device that returns these lists of users in turn. */
async function listing(
  ...bodies: readonly string[]
): Promise<{ device: Device; warned: string[] }> {
  const server = await serve((_request, response, count) => {
    response.setHeader('content-type', 'application/json');
    response.end(bodies[count - 1]);
  });
  const warned: string[] = [];
  const device = deviceAt(server, { warn: (text) => warned.push(text) });
  return { device, warned };
}

test('an oddity of a list is reported at each reading', async () => {
  const odd = '[{"uuid": "1", "username": "ann", "lang": "de", "lang": "en"}]';
  const { device, warned } = await listing(odd, odd);
  await device.list('user');
  await device.list('user');
  expect(warned).toHaveLength(2);
});
