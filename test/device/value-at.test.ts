import { expect, test } from 'vitest';
import { foldRecords } from '../../src/fleet/fold.ts';
import { differencesOf } from '../../src/change/compare.ts';
import { valueAt } from '../../src/device/record.ts';

test.each(['constructor', 'toString', '__proto__'])('a record without %s has none', (field) => {
  expect(valueAt({ username: 'ann' }, field)).toBeUndefined();
  expect(valueAt(undefined, field)).toBeUndefined();
  const own = JSON.parse(`{"${field}":"own"}`) as Record<string, string>;
  expect(valueAt(own, field)).toBe('own');
});

test('inherited properties are neither stored nor compared', () => {
  expect(differencesOf({ constructor: 'x' }, { username: 'ann' })).toEqual([
    { field: 'constructor', sent: 'x', held: undefined },
  ]);
  const device = (name: string) => ({ name, address: name });
  const rows = foldRecords(
    [
      { device: device('fw1'), records: [{ username: 'ann', constructor: 'x' }] },
      { device: device('fw2'), records: [{ username: 'ann' }] },
    ],
    'username',
    [],
  );
  expect(rows.map(({ differing }) => differing)).toEqual([['constructor'], ['constructor']]);
});
