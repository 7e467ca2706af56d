import { expect, test } from 'vitest';
import { recordChanges } from '../../src/fleet/compared.ts';

const alice = { username: 'alice', lang: 'en' };
const bob = { username: 'bob', lang: 'de' };

test('reports added and removed records, and the fields that differ', () => {
  const after = [{ username: 'carol' }, { ...alice, lang: 'fr', phone: '7' }];
  expect(recordChanges([alice, bob], after, 'username')).toEqual([
    { kind: 'added', key: 'carol', record: { username: 'carol' } },
    {
      kind: 'changed',
      key: 'alice',
      before: alice,
      record: after[1],
      fields: ['lang', 'phone'],
    },
    { kind: 'removed', key: 'bob', record: bob },
  ]);
});

test('another order and a number spelt as text are no change; a field that is missing is one', () => {
  const before = [alice, { ...bob, age: 7 }];
  expect(recordChanges(before, [{ ...bob, age: '7' }, alice], 'username')).toEqual([]);
  const empty = [alice, { ...bob, note: '' }];
  expect(recordChanges(empty, [alice, bob], 'username')).toMatchObject([{ fields: ['note'] }]);
  expect(recordChanges([alice, bob], empty, 'username')).toMatchObject([{ fields: ['note'] }]);
});

test('records with the same key are compared in order', () => {
  const twins = [alice, { ...alice, lang: 'de' }];
  expect(recordChanges(twins, twins.slice(0, 1), 'username')).toEqual([
    { kind: 'removed', key: 'alice', record: twins[1] },
  ]);
});
