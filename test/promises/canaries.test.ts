import { expect, test } from 'vitest';
import { Canaries } from './canaries.ts';

const canaries = new Canaries();
const secret = canaries.make('password');

test.each([
  ['plain', secret],
  ['JSON', JSON.stringify({ secret })],
  ['a form', new URLSearchParams({ secret }).toString()],
  ['a URL', encodeURIComponent(secret)],
  ['UTF-16', Buffer.from(secret, 'utf16le')],
  [
    'every letter escaped in JSON',
    Array.from(secret)
      .map((one) => `\\u00${Buffer.from(one).toString('hex').slice(-2)}`)
      .join(''),
  ],
  [
    'every letter escaped in a URL',
    `%${Buffer.from(secret).toString('hex').match(/../g)?.join('%') ?? ''}`,
  ],
  ['hexadecimal', Buffer.from(secret).toString('hex').toUpperCase()],
  ...['', 'a', 'ab', 'abc'].map((user): [string, string] => [
    `base64 behind "${user}"`,
    Buffer.from(`${user}${secret}`).toString('base64'),
  ]),
  ['base64url', Buffer.from(secret).toString('base64url')],
])('a canary is found in %s', (_how, text) => {
  expect(canaries.foundIn(text).join()).toContain('password');
});

test('nothing is found if there is none', () => {
  expect(canaries.foundIn('user list\n'.repeat(1000))).toEqual([]);
});
