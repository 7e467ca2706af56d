import { expect, test } from 'vitest';
import type { StoredCredential } from '../../src/credentials/store.ts';
import { readLogin } from '../../src/credentials/read-login.ts';

const token = (secret: string, user?: string): StoredCredential => ({
  kind: 'token',
  user,
  secret,
});
const password = (secret: string, user?: string): StoredCredential => ({
  kind: 'basic',
  user,
  secret,
});

test.each<[string, StoredCredential | undefined]>([
  ['abc123\n', token('abc123')],
  ['\n  abc123  \r\n\n', token('abc123')],
  // A token may end like base64 does.
  ['YWJj=\n', token('YWJj=')],
  ['token=abc\n', token('abc')],
  ['username=admin\ntoken=abc\n', token('abc', 'admin')],
  ['username=admin\npassword= p=w \n', password(' p=w ', 'admin')],
  ['username=admin\r\npassword=pw\r\n', password('pw', 'admin')],
  ['password=pw\n', password('pw')],
  ['protocol=https\nhost=x\nusername=a\npassword=b\nquit=0\n', password('b', 'a')],
  ['username=__token__\npassword=abc\n', token('abc')],
  ['{"token":"abc"}', token('abc')],
  ['{"username":"admin","password":"p\\nw","more":1}\n', password('p\nw', 'admin')],
  ['{"password":"ключ"}', password('ключ')],
  ['', undefined],
  ['\n\n', undefined],
  ['two\nlines\n', undefined],
  ['username=admin\npassword=\n', undefined],
  ['{"token":5}', undefined],
  ['{"token":""}', undefined],
  ['{"__proto__":{"token":"x"}}', undefined],
  ['{not json', undefined],
])('%j', (output, login) => {
  const told = readLogin(output);
  expect(told).toEqual(login);
});
