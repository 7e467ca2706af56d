import { expect, test } from 'vitest';
import { offsetText } from '../../src/shell/past/coverage.ts';
import { deviceAt, serve } from './server.ts';

/** What is known of the clock of a device that sends these headers. */
async function offsetWith(headersNow: () => Readonly<Record<string, string>>) {
  const server = await serve((_request, response) => {
    response.sendDate = false;
    response.writeHead(200, { 'content-type': 'application/json', ...headersNow() });
    response.end('[]');
  });
  const device = deviceAt(server);
  expect(device.clockOffset).toBeUndefined();
  await device.list('user');
  return device.clockOffset;
}

test.each([0, 7_200_000, -90_000])(
  'a clock that is %i ms ahead is between the bounds',
  async (ms) => {
    const headersNow = () => ({ date: new Date(Date.now() + ms).toUTCString() });
    const [least = NaN, most = NaN] = (await offsetWith(headersNow)) ?? [];
    expect(least).toBeLessThanOrEqual(ms);
    expect(most).toBeGreaterThanOrEqual(ms);
    expect(most - least).toBeGreaterThanOrEqual(1000);
  },
);

test.each([
  { date: 'soon' },
  { date: '1' },
  { date: '2026-11-22' },
  {},
  { date: new Date().toUTCString(), age: '30' },
])('nothing is known of a clock from %j', async (headers) => {
  expect(await offsetWith(() => headers as Readonly<Record<string, string>>)).toBeUndefined();
});

test.each([
  [-300, 800, 'agrees within 0.8 s'],
  [-1000, 4, 'agrees within 1 s'],
  [11_700, 12_800, '00:00:12.2 ahead (± 0.7 s)'],
  [-12_800, -11_700, '00:00:12.2 behind (± 0.7 s)'],
  [7_199_500, 7_200_500, '02:00:00.0 ahead (± 0.6 s)'],
  [172_859_900, 172_861_100, '2 d 00:01:00.5 ahead (± 0.7 s)'],
  [-1_000_000_000_500, -1_000_000_000_000, '11574 d 01:46:40.2 behind (± 0.4 s)'],
] as const)('shows an offset from %i to %i ms as %s', (least, most, text) => {
  expect(offsetText([least, most])).toBe(text);
});
