import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DeviceRecord } from '../../src/device/record.ts';
import { eventsOf, mayBeCut } from '../../src/history/events.ts';
import { eventText } from '../../src/history/fold-events.ts';
import { Keeper } from '../../src/history/kept.ts';
import { nextLines } from '../../src/history/next-lines.ts';
import { replay } from '../../src/history/replay.ts';

const keeper = new Keeper(createHash('sha256').update('test').digest());

/** u1 to u`count`, without some of them. */
function users(count: number, ...without: readonly number[]): DeviceRecord[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return numbers
    .filter((number) => !without.includes(number))
    .map((number) => ({ username: `u${number}`, lang: 'de' }));
}

function changesIn(...lists: readonly (readonly DeviceRecord[])[]): string[] {
  const text = lists.reduce((lines, records, index) => {
    const to = 1_000_000 + index * 1_000;
    const identity = { name: 'fw1', address: 'fw1:443', pin: 'p', digestKey: 'k' };
    const common = { identity, resource: 'user', keyField: 'username', moving: [], idFields: [] };
    return lines + (nextLines(lines, { ...common, records, from: to, to }, keeper, to)?.text ?? '');
  }, '');
  return eventsOf('fw1', replay(text).periods).map(eventText);
}

const CUT = [
  'user u21 not in the list, which may be cut',
  'user u22 not in the list, which may be cut',
];

test('records that are known and not in a list of a round number are not taken for deleted', () => {
  expect(changesIn(users(22), users(20))).toEqual(CUT);
  expect(changesIn(users(22), users(20), users(20))).toEqual(CUT);
});

test('what a longer list shows again was never gone, and may have changed', () => {
  expect(changesIn(users(22), users(20), users(22))).toEqual([]);
  const [last = {}] = users(22).slice(-1);
  const changed = [...users(21), { ...last, lang: 'fr' }];
  expect(changesIn(users(22), users(20), changed)).toEqual(['user u22: lang de → fr']);
});

test('what a list of another length does not show, either, is gone', () => {
  expect(changesIn(users(22), users(20), users(19))).toEqual([
    'user u21 gone',
    'user u22 gone',
    'user u20 gone',
  ]);
});

test.each<[string, number, number, number, boolean]>([
  ['a single deletion', 20, 0, 1, false],
  ['another record instead', 20, 1, 1, true],
  ['a third of the list', 100, 0, 50, true],
  ['no round number', 99, 0, 50, false],
  ['a short list', 10, 0, 50, false],
  ['an empty list', 0, 0, 50, false],
  ['only new records', 1_000, 50, 0, false],
])('%s', (_, size, added, gone, isCut) => {
  const records = (count: number) => Array.from({ length: count });
  expect(mayBeCut(size, { added: records(added), gone: records(gone) })).toBe(isCut);
});
