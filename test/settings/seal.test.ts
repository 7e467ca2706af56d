import { expect, test } from 'vitest';
import { isSealed, seal } from '../../src/settings/seal.ts';

test('what was sealed is known again, also from a file', () => {
  const sealed = seal({ at: 'now', byResource: { user: { 1: 'a', __proto__: null } } });
  expect(isSealed(JSON.parse(JSON.stringify(sealed)))).toBe(true);
});

test.each([
  ['nothing', undefined],
  ['a text', 'sealed'],
  ['no seal', { at: 'now' }],
  ['another content', { ...seal({ at: 'now' }), at: 'then' }],
  ['more than was sealed', { ...seal({ at: 'now' }), more: 1 }],
  ['a seal that is no text', { at: 'now', seal: 1 }],
])('%s is not taken for sealed', (_what, data) => {
  expect(isSealed(data)).toBe(false);
});
