import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MASK } from '../../../src/text/one-line.ts';
import { hideSecrets, maskedLine } from '../../../src/shell/grammar/hide-secrets.ts';
import { parseLine } from '../../../src/text/words.ts';
import { countComputing } from '../../contention.ts';

test.each([
  [
    'user add username=bob password=hunter2 lang=de',
    'user add username=bob password=••••••• lang=de',
  ],
  [`user set bob 'pass'word="a b" lang=de`, `user set bob 'pass'word=••••• lang=de`],
  [`user set bob "password=a b" lang=de`, `user set bob "password=•••• lang=de`],
  ['user set bob password="not closed', 'user set bob password=•••••••••••'],
  [`post /x config='{"psk": "a b"}'`, `post /x config='{"psk":••••••••`],
  ['get /x Authorization: Token abc', 'get /x Authorization:••••••••••'],
  ['user list --password hunter2 --on fw1', 'user list --password•••••••••••••••••'],
  ['user list --token hunter2', 'user list --token •••••••'],
  ['user list --pasword hunter2', 'user list --pasword •••••••'],
  ['user list -token hunter2', 'user list -token •••••••'],
  ['connect fw1 -u admin -p hunter2', 'connect fw1 -u admin -p •••••••'],
  ['connect fw1 -u admin:hunter2', 'connect fw1 -u admin:•••••••'],
  ['user list --user=admin:hunter2', 'user list --user=admin:•••••••'],
  ['connect fw1 -phunter2', 'connect fw1 -p•••••••'],
  ['user set bob password hunter2', 'user set bob password •••••••'],
  ['username bob secret 5 $1$abc', 'username bob secret ••••••••'],
  [
    'login fw1 --token 4e396af41d2998c96fb780450a83d2f4b9dafc04',
    'login fw1 --token ••••••••••••••••••••••••••••••••••••••••',
  ],
  ['user set bob pasword=hunter2', 'user set bob pasword=•••••••'],
  ['user list token!=abc # secret=x', 'user list token!=••• # secret=•'],
  ['user list api_key~^abc', 'user list api_key~••••'],
  ['connect https://root:hunter2@fw1', 'connect https://root:•••••••@fw1'],
  ['connect root:a/b@c@fw1 fw2', 'connect root:•••••@fw1 fw2'],
  [`use "https://root:a b@fw1"`, `use "https://root:•••@fw1"`],
  ['device list --proxy=http://u:p@h', 'device list --proxy=http://u:•@h'],
  ['device list --proxy u:p@h:3128', 'device list --proxy u:•@h:3128'],
  ['connect https://me@corp:pw@fw1', 'connect https://me@corp:••@fw1'],
  ['connect https://root:hunter2', 'connect https://root:•••••••'],
  ['connect https://me@corp:p', 'connect https://me@corp:•'],
  [`use "https://root:a b`, `use "https://root:•••`],
  ['connect https://root:8443x', 'connect https://root:•••••'],
])('%s is shown as %s', (line, shown) => {
  expect(hideSecrets(line)).toBe(shown);
});

test.each([
  'user add username=bob lang=de',
  'login --token-stdin',
  'login --token fw1',
  'login --token --to vault fw1',
  'rotate --on fw1 password bob --generate',
  'user list --columns username,password lang=de',
  'user list password --on fw1',
  'user list --password-stdin --on fw1',
  'user list last_past=1',
  'get /api/token/',
  'connect https://fw1:8443 --on @lab',
  'connect https://fw1:',
  'use "https://fw1:8443"',
  'get https://[fe80::1]:8443/api/',
  'user list mail~a:b@c',
  'user set bob at=10:30@x',
  '',
])('there is nothing to hide in "%s"', (line) => {
  expect(hideSecrets(line)).toBe(line);
});

test('a value of any length is looked through at once', () => {
  const value = 'x'.repeat(500_000);
  const computedMs = countComputing();
  expect(hideSecrets(`user add first_name=${value} password=abc`)).toContain(
    `${value} password=•••`,
  );
  expect(computedMs()).toBeLessThan(1000);
});

test('a password in an address is hidden from its first character that is no digit of a port', () => {
  const typed = 'connect https://root:hunter2@fw1:8443';
  for (let end = 0; end <= typed.length; end += 1) {
    expect(hideSecrets(typed.slice(0, end))).not.toMatch(/root:[^•]/);
  }
});

test('a secret parameter of a query is masked wherever it stands', () => {
  const words = parseLine("get '/api/user/?lang=de&token=hunter2&page=2'").words;
  expect(maskedLine(words)).toBe('get /api/user/?lang=de&token=***&page=2');
});

test('columns stay where they are, and no part of a secret is seen while it is typed', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ unit: fc.constantFrom('x', '"', "'", '\\', ' ') }),
      (a, b) => {
        expect(hideSecrets(a)).toHaveLength(a.length);
        const typed = `user add password="${b.replace(/["\\]/g, '\\$&')}`;
        for (let end = 0; end <= typed.length; end += 1) {
          expect(hideSecrets(typed.slice(0, end))).not.toContain('x');
        }
      },
    ),
  );
});

test.each([
  'user set bob password_old=abc',
  'user set bob password:="abc"',
  'user delete --where password~abc',
  'user delete --where password!=abc',
  'user list token_value=abc lang=de',
])('what is kept of a line masks each value that is dotted while it is typed: %s', (line) => {
  const kept = maskedLine(parseLine(line).words);
  expect(kept).not.toContain('abc');
  expect(kept).toContain(MASK);
});
