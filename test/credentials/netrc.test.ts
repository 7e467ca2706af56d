import { execFileSync } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { netrcEntryFor, parseNetrc, readNetrc } from '../../src/credentials/netrc.ts';
import { CredentialError } from '../../src/errors.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';
import { contention } from '../contention.ts';

const parse = (text: string) => parseNetrc(text, '.netrc');

test.each([
  ['in one line', 'machine fw1 login admin password pw'],
  ['in lines of its own', 'machine fw1\n  login admin\n  password pw\n'],
  ['with comments', '# mine\nmachine fw1 # the old one\nlogin admin\n#password x\npassword pw'],
  ['with an account', 'machine fw1 login admin account ftp password pw'],
  ['after a macro', 'machine fw1 login admin password pw\nmacdef init\ncd /tmp\nmachine no\n\n'],
])('reads an entry %s', (_title, text) => {
  expect(parse(text)).toEqual([{ machine: 'fw1', login: 'admin', password: 'pw' }]);
});

test('a quoted password keeps blanks, quotes, backslashes and what looks like a comment', () => {
  const text = String.raw`machine fw1 login "o'neil" password "a b\"c\\d #e"`;
  expect(parse(text)).toEqual([{ machine: 'fw1', login: "o'neil", password: 'a b"c\\d #e' }]);
  expect(parse('machine fw1 login a password #hash')[0]?.password).toBe('#hash');
});

test.each([
  ['login admin', 'must begin with "machine NAME"'],
  ['machine', 'nothing follows "machine"'],
  ['machine fw1 login admin password', 'nothing follows "password"'],
  ['machine fw1 password "secret-word', 'a quotation mark is not closed'],
  ['machine fw1\nlogon secret-word', '.netrc:2'],
  ['\u0000\u0001secret-word', 'not a .netrc file'],
])('%j is refused, without repeating what it holds', (text, message) => {
  expect(() => parse(text)).toThrow(CredentialError);
  expect(() => parse(text)).toThrow(message);
  expect(() => parse(text)).not.toThrow('secret-word');
});

test('any text is parsed or refused', () => {
  const text = fc.string({
    unit: fc.constantFrom('machine', ' ', '\n', '"', '\\', 'login', 'password', '#', 'macdef', 'x'),
    maxLength: 60,
  });
  fc.assert(
    fc.property(text, (drawn) => {
      try {
        parse(drawn);
      } catch (error) {
        expect(error).toBeInstanceOf(CredentialError);
      }
    }),
  );
});

test('a megabyte of blanks and quotes is read at once', () => {
  const startedAt = performance.now();
  parse(' \n'.repeat(500_000));
  expect(() => parse(`machine x password "${'\\a'.repeat(400_000)}`)).toThrow(CredentialError);
  expect(performance.now() - startedAt).toBeLessThan(2_000 * contention());
});

const ENTRIES = parse(`
machine 10.0.0.5 login admin password host
machine 10.0.0.5:8443 login admin password port
machine 10.0.0.5 login viewer password other
machine fe80::1 login admin password six
machine nopassword login admin
default login admin password everywhere
`);

test.each([
  ['10.0.0.5:443', undefined, 'host'],
  ['10.0.0.5:8443', undefined, 'port'],
  ['10.0.0.5:9443', 'admin', 'host'],
  ['10.0.0.5:443', 'viewer', 'other'],
  ['10.0.0.5:443', 'nobody', undefined],
  ['[fe80::1]:443', undefined, 'six'],
  ['nopassword:443', undefined, undefined],
])('for %s as %s it finds %s', (address, user, password) => {
  expect(netrcEntryFor(ENTRIES, address, user)?.password).toBe(password);
});

test('the entry "default" goes to no device', () => {
  expect(netrcEntryFor(ENTRIES, '10.9.9.9:443', undefined)).toBeUndefined();
});

test('a file that others can read is refused, with the way out', async () => {
  const path = join(await makeTempFolder(), '.netrc');
  await writeFile(path, 'machine fw1 login admin password pw\n', { mode: 0o600 });
  expect(await readNetrc(path)).toHaveLength(1);
  for (const mode of [0o644, 0o640, 0o602]) {
    await chmod(path, mode);
    await expect(readNetrc(path)).rejects.toThrow(`chmod 600 ${path}`);
  }
});

test('a folder, a missing file and a pipe in its place are refused at once', async () => {
  const folder = await makeTempFolder();
  await expect(readNetrc(join(folder, 'none'))).rejects.toThrow('there is no');
  await chmod(folder, 0o700);
  await expect(readNetrc(folder)).rejects.toThrow(CredentialError);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', ['-m', '600', pipe]);
  await expect(readNetrc(pipe)).rejects.toThrow('is not a file');
});
