import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { CredentialError } from '../../src/errors.ts';
import { Credential } from '../../src/device/credential.ts';

test.each([
  [Credential.basic('admin', 'hünter2:x'), 'Basic YWRtaW46aMO8bnRlcjI6eA==', 'as admin'],
  [Credential.token('abc123'), 'Token abc123', 'with a token'],
])('%s is sent as its header and shown without the secret', (credential, header, shown) => {
  expect(credential.header()).toBe(header);
  const printed = [
    inspect(credential, { depth: 9, showHidden: true }),
    JSON.stringify(credential),
    String(credential),
  ];
  for (const text of printed) expect(text).not.toMatch(/hünter2|abc123|YWRtaW4/);
  expect(String(credential)).toBe(shown);
});

test('redacts its secret in any spelling that was sent', () => {
  const basic = Credential.basic('admin', 'hunter 2');
  const encoded = basic.header().slice('Basic '.length);
  expect(basic.redact(`a hunter 2 b hunter%202 c ${encoded}`)).toBe('a *** b *** c ***');
  expect(Credential.token('').redact('nothing')).toBe('nothing');
});

test.each(['a\tb', 'a\nb', 'a\u0000', '\u007f', 'a\u0085'])(
  'the password %j is not sent',
  (password) => {
    expect(() => Credential.basic('admin', password)).toThrow(/control character/);
  },
);

test.each(['', 'a b', 'abc\r\nX-Evil: 1', 'tökén'])('the token %j is not sent', (token) => {
  expect(() => Credential.token(token).header()).toThrow(CredentialError);
});
