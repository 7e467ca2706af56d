import { expect, test } from 'vitest';
import { bodyText, mebibytes } from '../../src/device/exchange.ts';

const TEXT = '[{"name":"Jürgen"}]';

test.each([
  ['says nothing and is UTF-8', '', Buffer.from(TEXT)],
  ['says nothing and is Latin-1', '', Buffer.from(TEXT, 'latin1')],
  ['says UTF-8 and is Latin-1', 'application/json; charset=utf-8', Buffer.from(TEXT, 'latin1')],
  ['says Latin-1', 'application/json; charset="latin1"', Buffer.from(TEXT, 'latin1')],
  ['says UTF-16', 'application/json; charset=utf-16le', Buffer.from(TEXT, 'utf16le')],
  ['says what nobody knows', 'application/json; charset=klingon', Buffer.from(TEXT)],
])('a body that %s is read without loss', (_, contentType, bytes) => {
  expect(bodyText(bytes, contentType)).toBe(TEXT);
});

test('a byte order mark wins over the header, and is kept', () => {
  const bytes = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
  expect(bodyText(bytes, 'application/json; charset=utf-8')).toBe(`\ufeff${TEXT}`);
});

test('a replacement character sent by the device does not change how the rest is read', () => {
  const text = '[{"name":"J\ufffdrgen"}]';
  expect(bodyText(Buffer.from(text))).toBe(text);
});

test('one broken byte in UTF-8 is replaced, and the rest stays unchanged', () => {
  const bytes = Buffer.concat([Buffer.from('Jürgen '), Buffer.from([0xe4])]);
  expect(bodyText(bytes)).toBe('Jürgen \ufffd');
});

test.each([
  [32 * 1024 * 1024, '32 MiB'],
  [1_500_000, '1.4 MiB'],
  [1024 ** 4, '1048576 MiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(mebibytes(bytes)).toBe(text);
});
