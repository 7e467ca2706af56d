import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkNewSecret, generateSecret } from '../../src/credentials/new-secret.ts';
import { CredentialError, RefusedError, UsageError } from '../../src/errors.ts';
import { rounds } from '../rounds.ts';

const admin = { user: 'admin', kind: 'basic' } as const;

test('a generated secret has each kind of character, and is never refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 60 }), (length) => {
      const secret = generateSecret(length);
      checkNewSecret(secret, admin);
      expect(secret).toHaveLength(length);
      for (const kind of [/[a-z]/, /[A-Z]/, /[2-9]/, /[-._]/]) expect(secret).toMatch(kind);
    }),
    { numRuns: rounds(300) },
  );
});

test('each character is as probable as any other of its kind', () => {
  const counts = new Map<string, number>();
  for (let round = 0; round < 2_000; round += 1) {
    for (const character of generateSecret()) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  expect(counts.size).toBe(59);
  // Of 48,000 characters about 800 are each letter: a little fewer, because a symbol is never absent.
  const letters = [...counts].flatMap(([one, count]) => (/[a-z]/i.test(one) ? [count] : []));
  expect(Math.min(...letters)).toBeGreaterThan(800 - 7 * 28);
  expect(Math.max(...letters)).toBeLessThan(800 + 6 * 28);
});

test('no two are equal, and none has characters that look alike', () => {
  const secrets = new Set(Array.from({ length: 500 }, () => generateSecret(16)));
  expect(secrets.size).toBe(500);
  expect([...secrets].join('')).not.toMatch(/[0O1lI]/);
});

test('a secret that would be weak is an error', () => {
  expect(() => generateSecret(7)).toThrow(UsageError);
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
