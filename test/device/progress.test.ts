import { expect, test } from 'vitest';
import { progressText } from '../../src/device/exchange.ts';
import { deviceAt, serveBytes } from './server.ts';

const USERS = Array.from({ length: 3000 }, (_, index) => ({
  uuid: `id-${index}`,
  groups: [{ name: 'a "quoted" }{ [text' }, { name: 'b' }],
}));

/** Half of the list at once, the rest in twenty pieces, one every 50 ms. */
function comesSlowly(text: string) {
  const size = Math.ceil(text.length / 40);
  return serveBytes((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`);
    let sent = size * 20;
    socket.write(text.slice(0, sent));
    const timer = setInterval(() => {
      socket.write(text.slice(sent, sent + size));
      sent += size;
      if (sent >= text.length) clearInterval(timer);
    }, 50);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
}

test('a list that takes long reports how many bytes have arrived', async () => {
  const told: string[] = [];
  const text = JSON.stringify(USERS);
  const server = await comesSlowly(text);
  const device = deviceAt(server, { timeoutMs: 500, progress: (line) => told.push(line) });
  const listing = await device.list('user');
  expect(listing.records).toHaveLength(3000);
  const megabytes = told.map((line) => Number(/: (\d\.\d) MB$/.exec(line)?.[1]));
  expect(megabytes.length).toBeGreaterThan(0);
  for (const arrived of megabytes) {
    expect(arrived).toBeGreaterThan(0);
    expect(arrived).toBeLessThanOrEqual(text.length / 1_000_000 + 0.1);
  }
});

test('the records of earlier pages are named beside the bytes of this one', () => {
  expect(progressText(12_400_000, 0, 'user')).toBe('12.4 MB');
  expect(progressText(2_100, 0, 'user')).toBe('3 KB');
  expect(progressText(12_400_000, 41_000, 'user')).toBe('12.4 MB, after 41,000 users');
});
