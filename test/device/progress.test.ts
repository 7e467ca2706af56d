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

test.each([
  ['a bare list', JSON.stringify(USERS)],
  ['a list in an envelope', JSON.stringify({ links: ['a'], meta: { page: 1 }, results: USERS })],
])('%s that takes long reports its bytes and records', async (_what, text) => {
  const told: string[] = [];
  const server = await comesSlowly(text);
  const device = deviceAt(server, { timeoutMs: () => 500, progress: (line) => told.push(line) });
  const listing = await device.list('user');
  expect(listing.records).toHaveLength(3000);
  const counts = told.map((line) => {
    const [, megabytes = '', count = ''] = /: (\d\.\d) MB, ([\d,]+) users$/.exec(line) ?? [];
    return { megabytes: Number(megabytes), count: Number(count.replace(',', '')) };
  });
  expect(counts.length).toBeGreaterThan(0);
  for (const { megabytes, count } of counts) {
    expect(megabytes).toBeGreaterThan(0);
    // As much of the records has come as of the bytes.
    expect(count).toBeGreaterThan(1000);
    expect(count).toBeLessThanOrEqual(3000);
  }
});

test('a body that is no JSON list is reported in bytes alone', () => {
  expect(progressText({ bytes: 12_400_000, records: 0 }, 'user')).toBe('12.4 MB');
  expect(progressText({ bytes: 2_100, records: 0 }, 'user')).toBe('3 KB');
  expect(progressText({ bytes: 12_400_000, records: 41_000 }, 'user')).toBe(
    '12.4 MB, 41,000 users',
  );
});
