import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DeviceRecord } from '../../src/device/record.ts';
import type { ListEnd } from '../../src/fleet/device-session.ts';
import { eventsOf } from '../../src/history/events.ts';
import { eventText } from '../../src/history/fold-events.ts';
import { wholeStateBefore } from '../../src/history/history-files.ts';
import { Keeper } from '../../src/history/kept.ts';
import { nextLines } from '../../src/history/next-lines.ts';
import { replay } from '../../src/history/replay.ts';

const keeper = new Keeper(createHash('sha256').update('test').digest());

/** u1 to u`count`, without some of them. */
function users(count: number, ...without: readonly number[]): DeviceRecord[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return numbers.filter((number) => !without.includes(number)).map((number) => user(`u${number}`));
}

function user(username: string): DeviceRecord {
  return { username, lang: 'de' };
}

type Proof = readonly [index: number, key: string];

/** @param proof the reading after which a record was proven absent, and its key */
function changesIn(...given: Parameters<typeof historyOf>): string[] {
  return eventsOf('fw1', replay(historyOf(...given)).periods).map(eventText);
}

function historyOf(
  lists: readonly (readonly DeviceRecord[])[],
  proof?: Proof,
  list?: ListEnd,
): string {
  return lists.reduce((lines, records, index) => {
    const to = 1_000_000 + index * 1_000;
    const identity = { name: 'fw1', address: 'fw1:443', pin: 'p', digestKey: 'k' };
    const absent = new Set(proof?.[0] === index ? [proof[1]] : []);
    const common = {
      absent,
      list,
      identity,
      resource: 'user',
      keyField: 'username',
      moving: [],
      idFields: [],
    };
    const reading = { ...common, records, from: to, to };
    return lines + (nextLines(lines, reading, keeper, to, 0)?.text ?? '');
  }, '');
}

const CUT = ['user u21 no longer in the list', 'user u22 no longer in the list'];

test('records that a list stops to show are not taken for deleted', () => {
  expect(changesIn([users(22), users(20)])).toEqual(CUT);
  expect(changesIn([users(22), users(20), users(20)])).toEqual(CUT);
});

test('what a longer list shows again was never gone, and may have changed', () => {
  expect(changesIn([users(22), users(20), users(22)])).toEqual([]);
  const [last = {}] = users(22).slice(-1);
  const changed = [...users(21), { ...last, lang: 'fr' }];
  expect(changesIn([users(22), users(20), changed])).toEqual(['user u22: lang de → fr']);
});

test('what no later list shows is gone only if its own path said so', () => {
  expect(changesIn([users(22), users(20), users(19)])).toEqual([
    ...CUT,
    'user u20 no longer in the list',
  ]);
  const lists = [users(22), users(20), users(20)];
  expect(changesIn(lists, [2, 'u22'])).toEqual([CUT[0], 'user u22 gone']);
  // It was added again since, and is not proven to be absent any more.
  const again = changesIn([...lists, users(22), users(20)], [2, 'u22']);
  expect(again).toEqual(['user u22 gone', 'user u22 added', ...CUT]);
});

test('what a list has stopped to show may have gone until the reading after which it was proven absent', () => {
  const lists = [users(22), users(21), users(21), users(21)];
  const { periods } = replay(historyOf(lists, [2, 'u22']));
  const [gone, ...others] = eventsOf('fw1', periods);
  expect(others).toEqual([]);
  expect(gone).toMatchObject({ kind: 'gone', after: 1_000_000, before: 1_002_000 });
});

test('what appears after a lost line is not taken for added, since that line may have shown it', () => {
  const text = historyOf([users(3)]).replace('u3', 'u4') + historyOf([users(2), users(3)]);
  expect(eventsOf('fw1', replay(text).periods).map(eventText)).toEqual(['user u3 in the list now']);
});

test('what appears in a list that was cut, or left records out, before, is not taken for added', () => {
  const next = (from: number, count: number): DeviceRecord[] => users(from + count).slice(from);
  expect(changesIn([users(20), next(1, 20)])).toEqual([
    'user u21 in the list now',
    'user u1 no longer in the list',
  ]);
  // A list that was longer at some time is not cut at 20.
  expect(changesIn([users(20), users(21)])).toEqual(['user u21 added']);
  expect(changesIn([users(20), next(1, 20)], undefined, 'ends')).toEqual([
    'user u21 added',
    'user u1 no longer in the list',
  ]);
  expect(changesIn([users(3), users(4)], undefined, 'hides')).toEqual(['user u4 in the list now']);
});

test('a whole state keeps what a list has stopped to show: it was never gone', () => {
  const lists = [
    users(22),
    ...Array.from({ length: 9 }, (_, at) => [...users(19), user(`x${at}`)]),
  ];
  const text = historyOf([...lists, [...users(22), user('x8')]]);
  const bytes = Buffer.from(text);
  const start = wholeStateBefore(bytes, 1_000_000 + 8_500) ?? 0;
  expect(start).toBeGreaterThan(0);
  const { periods } = replay(bytes.toString('utf8', start));
  expect(eventsOf('fw1', periods).map(eventText)).toEqual([
    'user x8 added',
    'user x7 no longer in the list',
  ]);
});
