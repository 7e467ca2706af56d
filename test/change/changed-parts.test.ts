import { expect, test } from 'vitest';
import { changedParts } from '../../src/change/compare.ts';
import type { Value } from '../../src/device/record.ts';

test.each<[before: Value | undefined, after: Value | undefined, parts: unknown[][]]>([
  ['a', 'b', [['f', 'a', 'b']]],
  [['a'], ['a', 'b'], [['f', ['a'], ['a', 'b']]]],
  [{ a: 1, b: 2 }, { a: 1, b: 3 }, [['f.b', 2, 3]]],
  [{ a: { x: 1, y: [1] } }, { a: { y: [1], x: 2 } }, [['f.a.x', 1, 2]]],
  [
    { a: 1 },
    { b: 2 },
    [
      ['f.a', 1, undefined],
      ['f.b', undefined, 2],
    ],
  ],
  [{ a: {} }, { a: 'text' }, [['f.a', {}, 'text']]],
  [null, { a: 1 }, [['f', null, { a: 1 }]]],
])('from %j to %j', (before, after, parts) => {
  const found = changedParts('f', before, after);
  expect(found.map((part) => [part.field, part.before, part.after])).toEqual(parts);
});
