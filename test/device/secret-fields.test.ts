import { expect, test } from 'vitest';
import { isSecretField, maskedForm, maskedRecord } from '../../src/device/secret-fields.ts';

test.each(['password', 'new_passwd', 'api-key', 'authToken', 'PSK', 'private_key', 'password2'])(
  '%s names a secret',
  (name) => {
    expect(isSecretField(name)).toBe(true);
  },
);

test.each(['username', 'token_count', 'lang', 'key', 'uuid', 'secretary_name'])(
  '%s names no secret',
  (name) => {
    expect(isSecretField(name)).toBe(false);
  },
);

test('masks secrets in records and forms, but shows that one is empty', () => {
  expect(maskedRecord({ username: 'bob', password: 'x', token: null, secret: '' })).toEqual({
    username: 'bob',
    password: '***',
    token: null,
    secret: '',
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
