import { expect, test } from 'vitest';
import { isSecretField, maskedForm, maskedRecord } from '../../src/device/sensitive-fields.ts';

test.each([
  'password',
  'new_passwd',
  'api-key',
  'authToken',
  'PSK',
  'private_key',
  'password2',
  'pasword',
  'passwrod',
  'passwort',
])('%s names a secret', (name) => {
  expect(isSecretField(name)).toBe(true);
});

test.each([
  ...['salt', 'password_salt', 'derived_key', 'storedKey', 'server_key', 'secret_key'],
  ...['password_hash', 'hashed_password', 'pwHash', 'nt-hash', 'passwd_sha512', 'password_digest'],
  ...['password_history', 'recovery_codes', 'backupCode', 'recovery_key', 'otp_seed', 'pw'],
])('%s, which can reveal a secret, is one', (name) => {
  expect(isSecretField(name)).toBe(true);
});

test.each([
  ...['username', 'token_count', 'lang', 'uuid', 'secretary_name', 'config_hash'],
  ...['sha256', 'fingerprint', 'ssh_keys', 'public_key', 'error_code', 'bypass', 'pw_length'],
])('%s names no secret', (name) => {
  expect(isSecretField(name)).toBe(false);
});

test.each([
  '$2b$12$KIXQ3yqbYJ5Wl0oQ0i2p1u9V5o9mYw0',
  '$6$salt$hash',
  '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$hash',
  'pbkdf2_sha256$600000$salt$hash=',
  '{SSHA}fI1S2VZZxWt5',
])('%s is the hash of a password, whatever its field is called', (hash) => {
  expect(maskedRecord({ username: 'bob', x: hash, deep: [{ y: hash }] })).toEqual({
    username: 'bob',
    x: '***',
    deep: [{ y: '***' }],
  });
});

test.each(['$5 a month, $6 a year', '{SHAPE} of a thing', '$1', 'pbkdf2', '$2b', '{CRYPTO}xxxxx'])(
  '%s is no hash of a password',
  (text) => {
    expect(maskedRecord({ x: text })).toEqual({ x: text });
  },
);

test('masks secrets in records and forms, but shows that one is empty', () => {
  expect(maskedRecord({ username: 'bob', password: 'x', token: null, secret: '' })).toEqual({
    username: 'bob',
    password: '***',
    token: null,
    secret: '',
  });
  expect(maskedRecord({ tokens: {}, secrets: [], keys: 1, api_token: { a: 1 } })).toEqual({
    tokens: {},
    secrets: [],
    keys: 1,
    api_token: '***',
  });
  expect(
    maskedForm([
      ['username', 'bob'],
      ['password', 'x'],
    ]),
  ).toEqual([
    ['username', 'bob'],
    ['password', '***'],
  ]);
});

test('a nested value that is still text is masked as a whole', () => {
  expect(maskedRecord({ settings: '{"psk": "x", "on": true}', note: '{"a": 1}' })).toEqual({
    settings: '***',
    note: '{"a": 1}',
  });
});
