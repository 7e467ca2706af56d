import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkNewSecret,
  generateSecret,
  SECRET_CLASSES,
  type SecretPolicy,
} from '../../src/credentials/new-secret.ts';
import { CredentialError, RefusedError, UsageError } from '../../src/errors.ts';
import { rounds } from '../rounds.ts';

const admin = { user: 'admin', kind: 'basic' } as const;

const policy: fc.Arbitrary<SecretPolicy> = fc.record(
  {
    min: fc.integer({ min: 0, max: 40 }),
    max: fc.integer({ min: 40, max: 60 }),
    classes: fc.subarray([...SECRET_CLASSES]),
    forbidden: fc.constantFrom('', '!*', 'abc', '23'),
  },
  { requiredKeys: [] },
);

test('a generated secret fits the policy, and is never refused', () => {
  fc.assert(
    fc.property(policy, fc.subarray([...SECRET_CLASSES], { minLength: 1 }), (drawn, classes) => {
      const secret = generateSecret({ classes }, drawn);
      checkNewSecret(secret, admin, drawn);
      expect(secret).toHaveLength(Math.max(24, drawn.min ?? 0));
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

test.each<[Parameters<typeof generateSecret>[0], SecretPolicy]>([
  [{ length: 8 }, { min: 12 }],
  [{ length: 40 }, { max: 32 }],
  [{}, { max: 2 }],
  [{ classes: ['digit'] }, { forbidden: '0123456789' }],
])('a secret that cannot fit is an error: %j for %j', (wanted, demanded) => {
  expect(() => generateSecret(wanted, demanded)).toThrow(UsageError);
});

test.each<[string, string, SecretPolicy, string]>([
  ['short', 'Ab3!xyz', {}, 'has fewer than 8 characters'],
  ['shorter than the policy', 'Ab3!xyzAb3', { min: 12 }, 'has fewer than 12 characters'],
  ['too long', 'a'.repeat(33), { max: 32 }, 'has more than 32 characters'],
  ['repeating', 'abababababab', {}, 'repeats a few characters'],
  ['the name', 'Jdoe-backup', {}, 'is the name of the account'],
  ['cut off', 'hunter2-hunter2 ', {}, 'ends with a space'],
  ['without a digit', 'abcdefghij', { classes: ['digit'] }, 'of the class digit'],
  ['with a forbidden character', 'abcd"efgh1', { forbidden: '"' }, 'that the profile'],
])('a weak secret is refused with the reason: %s', (_title, secret, demanded, reason) => {
  const attempt = () => {
    checkNewSecret(secret, { user: 'jdoe-backup', kind: 'basic' }, demanded);
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

test('a policy of fewer than eight characters counts', () => {
  checkNewSecret('4719', admin, { max: 4 });
});

test('a token is one word of ASCII', () => {
  expect(() => {
    checkNewSecret('two words here', { user: 'admin', kind: 'token' });
  }).toThrow(CredentialError);
});
