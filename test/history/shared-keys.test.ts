import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';
import { type Event, eventsOf } from '../../src/history/events.ts';
import { eventText } from '../../src/history/fold-events.ts';
import { compacted } from '../../src/history/compact.ts';
import { Keeper } from '../../src/history/kept.ts';
import { lineText, replay } from '../../src/history/replay.ts';
import { lastLine, nextLines, type NewReading, sameLine } from '../../src/history/next-lines.ts';
import { rounds } from '../rounds.ts';

const keeper = new Keeper(createHash('sha256').update('test').digest());

type List = readonly DeviceRecord[];

function readingOf(records: List, index: number, idFields = ['user_id']): NewReading {
  const to = 1_000_000 + index * 1_000;
  return {
    identity: { name: 'fw1', address: 'fw1:443', pin: 'p', digestKey: 'k' },
    ...{ resource: 'user', keyField: 'name', idFields, moving: [], from: to - 10, to, records },
  };
}

function linesOf(text: string, reading: NewReading): string {
  const same = sameLine(lastLine(text.slice(-4096), 'user'), reading, keeper);
  return same ? lineText(same) : (nextLines(text, reading, keeper, reading.to)?.text ?? '');
}

function historyOf(...lists: readonly List[]): string {
  return lists.reduce((text, list, index) => text + linesOf(text, readingOf(list, index)), '');
}

function changesIn(text: string): string[] {
  return eventsOf('fw1', replay(text).periods).map(eventText);
}

const ann = (user_id: number, lang = 'de') => ({
  ...{ user_id, name: 'ann', lang, password: `secret-${user_id}` },
});

test('of two records with one name, the one that went is named by its id', () => {
  const lists = [[ann(1), ann(2)], [ann(2)], [ann(3), ann(2)]];
  expect(changesIn(historyOf(...lists))).toEqual([
    'user ann (user_id 1) no longer in the list',
    'user ann (user_id 3) added',
  ]);
});

test('a second record of a name is added, and the first one stays what it is', () => {
  expect(changesIn(historyOf([ann(7, 'fr')], [ann(3), ann(7, 'fr')]))).toEqual([
    'user ann (user_id 3) added',
  ]);
});

test('a record that takes the name of another one is the same by its id', () => {
  const bob = { ...ann(5), name: 'bob' };
  const lists = [
    [ann(1), ann(2), bob],
    [ann(1), ann(2), { ...bob, name: 'ann' }],
  ];
  expect(changesIn(historyOf(...lists))).toEqual(['user ann (user_id 5): name bob → ann']);
});

test('a file that numbered the records of one name by their content goes on by id', () => {
  const old = linesOf('', readingOf([ann(2, 'de'), ann(1, 'fr')], 0, []));
  expect(old).toContain('"ann#2"');
  const text = old + linesOf(old, readingOf([ann(1, 'fr'), ann(2, 'it')], 1));
  expect(changesIn(text)).toEqual(['user ann (user_id 2): lang de → it']);
  expect(changesIn(text + linesOf(text, readingOf([ann(2, 'it')], 2))).at(-1)).toBe(
    'user ann (user_id 1) no longer in the list',
  );
});

test.each([
  ['some records have no id', [{ name: 'ann' }, ann(1)], [ann(1), { name: 'ann' }]],
  ['two records share an id', [ann(1), ann(1, 'fr')], [ann(1, 'fr'), ann(1)]],
])('where %s, another order is no change', (_, one, other) => {
  expect(changesIn(historyOf(one, other))).toEqual([]);
});

const happening = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name: fc.nat(1) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(5) }),
  fc.record({ kind: fc.constant('lang' as const), at: fc.nat(5), to: fc.nat(2) }),
  fc.record({ kind: fc.constant('password' as const), at: fc.nat(5), to: fc.nat(2) }),
  fc.record({ kind: fc.constant('rename' as const), at: fc.nat(5), to: fc.nat(1) }),
  fc.record({ kind: fc.constant('turn' as const), at: fc.nat(5) }),
  fc.record({ kind: fc.constant('compact' as const), back: fc.nat(5) }),
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** What was read, and the history that it left. */
function world(happenings: readonly Happening[]): { readonly lists: List[]; text: string } {
  let list: List = [];
  let [last, text] = [0, ''];
  const lists: List[] = [];
  const edit = (at: number, fields: DeviceRecord): void => {
    list = list.map((one, index) => (index === at % list.length ? { ...one, ...fields } : one));
  };
  for (const one of happenings) {
    switch (one.kind) {
      case 'add':
        last += 1;
        list = [...list, { user_id: last, name: `n${one.name}`, lang: 'l0', password: 'secret-0' }];
        break;
      case 'remove':
        list = list.filter((_, index) => index !== one.at % list.length);
        break;
      case 'lang':
        edit(one.at, { lang: `l${one.to}` });
        break;
      case 'password':
        edit(one.at, { password: `secret-${one.to}` });
        break;
      case 'rename':
        edit(one.at, { name: `n${one.to}` });
        break;
      case 'turn':
        list = [...list.slice(one.at), ...list.slice(0, one.at)];
        break;
      case 'compact':
        text = compacted(text, 1_000_000 + (lists.length - one.back) * 1_000);
        break;
      case 'read':
        text += linesOf(text, readingOf(list, lists.length));
        lists.push(list);
    }
  }
  return { lists, text };
}

/** The names that a list has shown before and after others that have not: such a record was never gone. */
function namesBack(lists: readonly List[]): ReadonlySet<string> {
  const shown = lists.map((list) => new Set(list.map(({ name }) => valueText(name))));
  const isBack = (name: string): boolean => {
    const [first, last] = [
      shown.findIndex((one) => one.has(name)),
      shown.findLastIndex((one) => one.has(name)),
    ];
    return shown.slice(first, last).some((one) => !one.has(name));
  };
  return new Set([...new Set(shown.flatMap((one) => [...one]))].filter(isBack));
}

const isShared = (list: List): boolean => new Set(list.map(({ name }) => name)).size < list.length;

test('where records share a name, the changes are exactly those of the records with these ids', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const { lists, text } = world(happenings);
      expect(text).not.toContain('secret-');
      const { periods, damaged } = replay(text);
      expect(damaged).toBe(0);
      const events = eventsOf('fw1', periods);
      const readings = periods[0]?.resources.get('user') ?? [];
      const since = lists.findIndex(isShared);
      const back = namesBack(lists);
      const left = new Set(events.flatMap((event) => (event.kind === 'left' ? event.fields : [])));
      for (const [index, list] of lists.entries()) {
        const to = 1_000_000 + index * 1_000;
        const reading = readings.find((one) => one.to === to);
        const before = lists[index - 1];
        // Compacted, or the first one that is left.
        if (reading === undefined || reading === readings[0] || before === undefined) continue;
        const found = events.filter((event) => event.before === to).flatMap(rowsOf);
        const expected = since >= 0 && index >= since ? byId(before, list) : byName(before, list);
        const rows = (all: readonly string[]): string[] =>
          all
            .filter(
              (row) => !left.has(row.split(' ')[1] ?? '') && !back.has(row.split(' ')[0] ?? ''),
            )
            .sort();
        expect(rows(found)).toEqual(rows(expected));
      }
    }),
    { numRuns: rounds(1_000) },
  );
});

const FIELDS = ['user_id', 'name', 'lang', 'password'];

function differences(before: List, after: List, by: string): string[] {
  const [old, now] = [before, after].map(
    (list) => new Map(list.map((one) => [valueText(one[by]), one])),
  );
  return [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])].flatMap((key) => {
    const [one, other] = [old?.get(key), now?.get(key)];
    if (one === undefined) return [`${key} added`];
    if (other === undefined) return [`${key} unlisted`];
    const fields = FIELDS.filter((field) => one[field] !== other[field]);
    return fields.map((field) => `${key} ${field}`);
  });
}

const byId = (before: List, after: List): string[] => differences(before, after, 'user_id');
const byName = (before: List, after: List): string[] => differences(before, after, 'name');

function rowsOf(event: Event): string[] {
  if (!('key' in event)) return [];
  const name = event.id?.text ?? event.key;
  if (event.kind !== 'changed') return [`${name} ${event.kind}`];
  return event.fields.map(({ field }) => `${name} ${field}`);
}
