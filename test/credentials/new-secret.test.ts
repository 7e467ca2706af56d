import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkNewSecret,
  generateSecret,
  SECRET_CLASSES,
} from '../../src/credentials/new-secret.ts';
import { CredentialError, RefusedError, UsageError } from '../../src/errors.ts';
import { rounds } from '../rounds.ts';

const admin = { user: 'admin', kind: 'basic' } as const;

test('a generated secret has each class that is asked for, and is never refused', () => {
  const lengths = fc.integer({ min: 8, max: 60 });
  const some = fc.subarray([...SECRET_CLASSES], { minLength: 1 });
  fc.assert(
    fc.property(lengths, some, (length, classes) => {
      const secret = generateSecret({ length, classes });
      checkNewSecret(secret, admin);
      expect(secret).toHaveLength(length);
    }),
    { numRuns: rounds(300) },
  );
});

test('each character is as probable as any other', () => {
  const counts = new Map<string, number>();
  for (let round = 0; round < 2_000; round += 1) {
    for (const character of generateSecret()) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  // 48,000 characters of 56: about 857 each, with a deviation of 29.
  expect(counts.size).toBe(56);
  expect(Math.min(...counts.values())).toBeGreaterThan(857 - 6 * 29);
  // A class of few characters comes a little more often, because none may be absent.
  expect(Math.max(...counts.values())).toBeLessThan(857 + 9 * 29);
});

test('no two are equal, and none has characters that look alike', () => {
  const secrets = new Set(Array.from({ length: 500 }, () => generateSecret({ length: 16 })));
  expect(secrets.size).toBe(500);
  expect([...secrets].join('')).not.toMatch(/[0O1lI]/);
});

test('a secret that would be weak is an error', () => {
  expect(() => generateSecret({ length: 7 })).toThrow(UsageError);
});

test.each([
  ['short', 'Ab3!xyz', 'has fewer than 8 characters'],
  ['repeating', 'abababababab', 'repeats a few characters'],
  ['the name', 'Jdoe-backup', 'is the name of the account'],
  ['cut off', 'hunter2-hunter2 ', 'ends with a space'],
])('a weak secret is refused with the reason: %s', (_title, secret, reason) => {
  const attempt = () => {
    checkNewSecret(secret, { user: 'jdoe-backup', kind: 'basic' });
  };
  expect(attempt).toThrow(RefusedError);
  expect(attempt).toThrow(reason);
  expect(attempt).not.toThrow(secret);
});

test.each(['', 'pass\tword-123', 'pass\nword-123'])('%j cannot be sent', (secret) => {
  expect(() => {
    checkNewSecret(secret, admin);
  }).toThrow(CredentialError);
});

test('a token is one word of ASCII', () => {
  expect(() => {
    checkNewSecret('two words here', { user: 'admin', kind: 'token' });
  }).toThrow(CredentialError);
});
