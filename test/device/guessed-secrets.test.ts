import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DeviceRecord, isNested, isValueList, type Value } from '../../src/device/record.ts';
import { isGuess, isSecretName, maskedRecord } from '../../src/device/sensitive-fields.ts';
import { forgetDeclaredSecrets, openFields } from '../../src/device/secret-names.ts';
import { fieldText } from '../../src/output/cells.ts';
import { countComputing } from '../contention.ts';

const FOLDER = join(import.meta.dirname, '../real/lists');

interface RealLists {
  readonly lists: Readonly<Record<string, readonly DeviceRecord[]>>;
  /** Paths of fields: `user.password`. */
  readonly secrets: readonly string[];
}

/** Every plain value with its path, without the places in lists. */
function leaves(value: Value, path: string): [path: string, value: Value][] {
  if (!isNested(value)) return [[path, value]];
  if (isValueList(value)) return value.flatMap((item) => leaves(item, path));
  return Object.entries(value).flatMap(([field, part]) => leaves(part, `${path}.${field}`));
}

const products = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => {
    const { lists, secrets } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as RealLists;
    const values = Object.entries(lists).flatMap(([resource, records]) =>
      records.flatMap((record) => {
        const shown = leaves(maskedRecord(record), resource);
        return leaves(record, resource).map(([path, value]) => {
          const isMasked = !shown.some(([name, now]) => name === path && now === value);
          return { path, isMasked, isSecret: secrets.includes(path) };
        });
      }),
    );
    return { name: file.replace('.json', ''), values, secrets };
  });

test.each(products)('every secret in lists of $name is masked', ({ values, secrets }) => {
  const open = values.filter(({ isMasked, isSecret }) => isSecret && !isMasked);
  expect(open.map(({ path }) => path)).toEqual([]);
  expect(secrets.filter((path) => values.every((one) => one.path !== path))).toEqual([]);
});

test('at most 2 of 100 other values in lists of real products are masked', () => {
  const others = products.flatMap(({ name, values }) =>
    values
      .filter(({ isSecret }) => !isSecret)
      .map((one) => ({ ...one, path: `${name} ${one.path}` })),
  );
  const masked = [...new Set(others.filter(({ isMasked }) => isMasked).map(({ path }) => path))];
  expect(others.length).toBeGreaterThan(500);
  expect(masked).toMatchInlineSnapshot(`
    [
      "rabbitmq connection.ssl_hash",
      "truenas user.api_keys",
      "truenas certificate.subject_name_hash",
    ]
  `);
  expect(others.filter(({ isMasked }) => isMasked).length / others.length).toBeLessThan(0.02);
});

test.each([
  ...['pass', 'pw', 'pwd', 'psk', 'key', 'community', 'hash', 'salt', 'token', 'secret', 'otp'],
  ...['pin', 'passphrase', 'credential', 'admin_pass', 'snmpCommunity', 'radius_key', 'wifi_pass'],
  ...['enable-pass', 'tacacs_key', 'wpa_key', 'access_key', 'admin_pw', 'keys', 'WPAKey', 'key2'],
  ...[
    'privpass',
    'bindpw',
    'rwcommunity',
    'contraseña',
    'Schlüssel',
    'mot_de_passe',
    'snmpCommunityName',
  ],
  ...[
    '登录密码',
    'ＰＡＳＳＷＯＲＤ',
    'ΚΩΔΙΚΌΣ',
    'wpa2psk',
    'snmpv3authpass',
    'password_admin',
    'radiussecret1',
  ],
])('%s is closed by its name', (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each([
  ...['public_key', 'ssh_keys', 'authorized_keys', 'primary_key', 'routing_key', 'commit_hash'],
  ...['key_id', 'hash_algorithm', 'token_count', 'bypass', 'compass', 'keyboard', 'monkey', 'spin'],
  ...['password_changed_at', 'gpio_pin', 'salt_lake', 'pins_total', 'passed', 'secretary'],
  ...['pwdMaxAge', 'passwordminlength', 'token_endpoint', 'cycle', 'dnskey', 'pwIndex', 'overpass'],
])('%s names no secret', (name) => {
  expect(isSecretName(name)).toBe(false);
});

const CODE = 'Zm9vYmFyQmF6MTIzNDU2Nzg5MGFiY2RlZkdISktM';
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';

test.each<[string, string, Value]>([
  ['a private key', 'note', '-----BEGIN PRIVATE KEY-----\nMIIE'],
  ['a hash of a password', 'note', '$6$salt$hash'],
  ['a JSON Web Token', 'note', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N'],
  ['long base64', 'extra', CODE],
  ['long hexadecimal', 'extra', HEX],
  ['a seed', 'note', 'otpauth://totp/fw1:ann?secret=JBSWY3DPEHPK3PXP'],
  ['a number', 'pin', 4711],
  ['a word', 'snmp_community', 'public'],
])('%s is masked', (_, field, value) => {
  expect(maskedRecord({ [field]: value })).toEqual({ [field]: '***' });
  expect(maskedRecord({ deep: [{ [field]: [value] }] })).not.toEqual({
    deep: [{ [field]: [value] }],
  });
});

test.each<[string, string, Value]>([
  ['a boolean', 'otp', true],
  ['null', 'key', null],
  ['an empty text', 'pass', ''],
  ['a number', 'weight', 1_234_567_890],
  ['a date', 'key', '2026-11-02'],
  ['a reference', 'ssh_key', 'https://192.0.2.1/api/key/3/'],
  ['a path', 'key', '/api/key/3/'],
  ['a fingerprint', 'key', 'SHA256:uNiVztksCsDhcc0u9e8BrrQXVUpKZIDTMczCvj3tD2s'],
  ['an entity tag', 'etag', HEX],
  ['a public key', 'key', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE ann'],
  ['a certificate', 'data', '-----BEGIN CERTIFICATE-----\nMIIE'],
  ['a UUID', 'extra', '123e4567-e89b-12d3-a456-426614174000'],
  ['an id', 'member_id', HEX],
  ['a natural key', 'name', CODE],
  ['a long word', 'extra', 'GigabitEthernetInterfaceOfTheBackboneRouter'],
  ['a long path', 'extra', '/usr/lib/Python3/dist-packages/Example/Plugins2'],
  ['a sentence', 'note', 'the password policy has changed in November 2026'],
])('%s is never masked', (_, field, value) => {
  expect(maskedRecord({ [field]: value })).toEqual({ [field]: value });
});

test('a guess is shown as one, and a profile opens it', () => {
  onTestFinished(forgetDeclaredSecrets);
  expect(fieldText('password', 'x')).toBe('•••');
  expect(fieldText('snmp_location', CODE)).toBe('•••?');
  expect(fieldText('snmp_community', 'public')).toBe('•••?');
  openFields(['snmp_location', 'snmp_community', 'password']);
  expect(fieldText('snmp_location', CODE)).toBe(CODE);
  expect(fieldText('snmp_community', 'public')).toBe('public');
  // What certainly is a secret stays one.
  expect(fieldText('password', 'x')).toBe('•••');
  expect(isGuess('password', 'x')).toBe(false);
});

test('a name of 300,000 letters is judged at once', () => {
  const computedMs = countComputing();
  expect(isSecretName('x'.repeat(300_000))).toBe(false);
  expect(computedMs()).toBeLessThan(2_000);
});
