import { expect, test } from 'vitest';
import { countUses } from '../../../src/shell/completion/complete.ts';

test('what was used more counts more, and later counts more than before', () => {
  const usage = countUses(['devices', 'devices', 'user list lang=de', 'user list lang=en']);
  expect(usage('', 'devices')).toBeGreaterThan(0);
  expect(usage('', 'user')).toBeGreaterThan(usage('', 'devices'));
  expect(usage('user', 'lang=en')).toBeGreaterThan(usage('user', 'lang=de'));
  expect(usage('user', 'lang=')).toBeGreaterThan(usage('user', 'lang=en'));
});

test('a word counts for the command that it was used with', () => {
  const usage = countUses(['user list', 'user list']);
  expect(usage('trust', 'list')).toBe(0);
  expect(usage('', 'list')).toBe(0);
});
