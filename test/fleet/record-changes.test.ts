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

test('another order, a number spelt as text and a missing empty field are no change', () => {
  const before = [alice, { ...bob, age: 7, note: '' }];
  expect(recordChanges(before, [{ ...bob, age: '7' }, alice], 'username')).toEqual([]);
});

test('records with the same key are compared in order', () => {
  const twins = [alice, { ...alice, lang: 'de' }];
  expect(recordChanges(twins, twins.slice(0, 1), 'username')).toEqual([
    { kind: 'removed', key: 'alice', record: twins[1] },
  ]);
});
