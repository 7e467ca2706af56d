import { expect, test } from 'vitest';
import type { DeviceRecord } from '../../src/device/record.ts';
import { FilterCheck } from '../../src/fleet/filter-check.ts';
import { parseFilter } from '../../src/fleet/filter.ts';
import { textOf } from '../../src/output/sentences.ts';

function unknownIn(record: DeviceRecord, filter: string): string | undefined {
  const check = new FilterCheck(parseFilter(filter));
  check.add([record], 0);
  const found = check.unknownValue('no record');
  return found && textOf(found);
}

test('a value that no record has comes back with those that there are', () => {
  expect(unknownIn({ lang: 'de' }, 'lang=x')).toBe('no record has lang=x; the values are de');
});

const HASH = '$6$abcdefgh$Zk1mPqT5vY8wXcB3nD7sF9gH2jK4lL6aQeRtYuIoPzXcVbNmAsDfGhJkL';

test.each<[string, DeviceRecord]>([
  ['note=x', { note: HASH }],
  ['note=x', { note: ['open', HASH] }],
  ['data=x', { data: { key: HASH } }],
  ['data.key=x', { data: { key: HASH } }],
  ['password=x', { password: HASH }],
])('of what tables mask, %s names no value', (filter, record) => {
  expect(unknownIn(record, filter) ?? '').not.toContain(HASH);
});
