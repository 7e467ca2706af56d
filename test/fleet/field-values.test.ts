import { expect, test } from 'vitest';
import { valueText } from '../../src/device/record.ts';
import { groupByValue } from '../../src/fleet/drift.ts';

/** `de fw1 fw2 · en fw3 odd`: the groups of these values, by device. */
function grouped(
  values: readonly (readonly [string, string])[],
  unread: readonly string[] = [],
  unknown = 0,
) {
  const holders = values.map(([name, lang]) => ({ name, record: { lang } }));
  const isRead = (name: string): boolean => !unread.includes(name);
  const reading = { isRead, unknown };
  return groupByValue(holders, { ...reading, textOf: ({ record }) => valueText(record['lang']) })
    .map(({ text, devices, isOdd }) => [text, ...devices, ...(isOdd ? ['odd'] : [])].join(' '))
    .join(' · ');
}

test.each([
  ['a majority makes the others odd', 'fw1 de, fw2 en, fw3 de', 'de fw1 fw3 · en fw2 odd'],
  ['a tie has no odd value', 'fw1 de, fw2 en', 'de fw1 · en fw2'],
  [
    'half of the devices are no majority',
    'fw1 de, fw2 de, fw3 en, fw4 fr',
    'de fw1 fw2 · en fw3 · fr fw4',
  ],
  ['three values may all differ', 'fw1 de, fw2 en, fw3 fr', 'de fw1 · en fw2 · fr fw3'],
  ['one value is never odd', 'fw1 de, fw2 de', 'de fw1 fw2'],
  ['an empty value may be the odd one', 'fw1 de, fw2 de, fw3 ', 'de fw1 fw2 ·  fw3 odd'],
  ['a device that has the key twice votes once', 'fw1 de, fw1 de, fw2 en', 'de fw1 · en fw2'],
])('%s', (_name, values, expected) => {
  const pairs = values.split(', ').map((pair): [string, string] => {
    const [name = '', value = ''] = pair.split(' ');
    return [name, value];
  });
  expect(grouped(pairs)).toBe(expected);
});

test('a device that is not read makes no majority, and is never odd', () => {
  const values = [
    ['fw1', 'de'],
    ['fw2', 'en'],
    ['fw3', 'en'],
  ] as const;
  expect(grouped(values)).toBe('en fw2 fw3 · de fw1 odd');
  expect(grouped(values, ['fw3'])).toBe('de fw1 · en fw2 fw3');
  expect(grouped(values, ['fw1'])).toBe('en fw2 fw3 · de fw1');
});

test('a value is odd only if no device that was not read can make it the most common', () => {
  const values = [
    ['fw1', 'de'],
    ['fw2', 'en'],
    ['fw3', 'en'],
    ['fw4', 'en'],
  ] as const;
  expect(grouped(values, [], 1)).toBe('en fw2 fw3 fw4 · de fw1 odd');
  expect(grouped(values, [], 2)).toBe('en fw2 fw3 fw4 · de fw1');
});

test('values that count as equal are one group, shown as on the first device', () => {
  const holders = [true, 'true', false].map((active, index) => ({
    name: `fw${index + 1}`,
    record: { active },
  }));
  const groups = groupByValue(holders, {
    textOf: ({ record }) => JSON.stringify(record['active']),
    sameAs: ({ record }) => valueText(record['active']),
    isRead: () => true,
  });
  expect(groups.map(({ text, devices }) => [text, ...devices])).toEqual([
    ['true', 'fw1', 'fw2'],
    ['false', 'fw3'],
  ]);
});
