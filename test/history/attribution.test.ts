import { expect, test } from 'vitest';
import { attributed, mayBeBy, type WrittenStep } from '../../src/history/attribution.ts';
import { journaled } from '../../src/device/sensitive-fields.ts';
import type { Event } from '../../src/history/events.ts';

const at = { device: 'fw1', resource: 'user', period: 'L', after: 100, before: 200, key: 'bob' };
const event: Event = {
  ...at,
  kind: 'changed',
  fields: [{ field: 'lang', before: 'de', after: 'en', isSecret: false }],
};
const step: WrittenStep = {
  ...{ run: 'k3f', step: 0, line: 'user set bob lang=en', device: 'fw1', resource: 'user' },
  ...{ key: 'bob', action: 'set', sentAt: 150, endedAt: 160 },
  ...{ before: { username: 'bob', lang: 'de' }, held: undefined, wrote: { lang: 'en' } },
};

test('a step within the interval that wrote what changed did it', () => {
  expect(attributed([event], [step])).toMatchObject([{ by: { run: 'k3f', step: 0 } }]);
});

test('a step whose change showed late did it', () => {
  const late = { ...step, sentAt: 90, endedAt: 210 };
  expect(attributed([event], [late])).toMatchObject([{ by: { run: 'k3f' } }]);
});

test('a step did it that took effect after another process had read', () => {
  const early = { ...step, sentAt: 90, endedAt: 110 };
  expect(attributed([event], [early])).toMatchObject([{ by: { run: 'k3f' } }]);
});

test('a step whose read-back the interval begins with did not', () => {
  const early = { ...step, sentAt: 90, endedAt: 110 };
  const fields = [{ field: 'lang', before: 'en', after: 'fr', isSecret: false }];
  const later: Event = { ...at, kind: 'changed', fields };
  expect(attributed([later], [early])).toEqual([later]);
});

test.each<[string, Partial<WrittenStep>]>([
  ['before the interval', { sentAt: 80, endedAt: 90 }],
  ['after the interval', { sentAt: 210, endedAt: 220 }],
  ['on another device', { device: 'fw2' }],
  ['of another record', { key: 'amy' }],
  ['of another field', { wrote: { email: 'x' } }],
  ['that deleted', { action: 'delete' }],
])('a step %s did not', (_, other) => {
  expect(attributed([event], [{ ...step, ...other }])).toEqual([event]);
});

test.each<[string, Partial<WrittenStep>, boolean]>([
  ['by the old clock, after the last reading', { sentAt: 510, endedAt: 90 }, true],
  ['by the new clock, before the next reading', { sentAt: 95, endedAt: 105 }, true],
  ['when the clock was there again', { sentAt: 600, endedAt: 610 }, false],
  ['long before', { sentAt: 80, endedAt: 85 }, false],
])('where the clock was set back, a step that was sent %s', (_, times, isOwn) => {
  const across: Event = { ...event, after: 500, before: 100, setBack: [550, 90] };
  const [found] = attributed([across], [{ ...step, ...times }]);
  expect(found?.by?.run).toBe(isOwn ? 'k3f' : undefined);
});

test('what others did before and after the step is not attributed to it', () => {
  const fields = [{ field: 'lang', before: 'fr', after: 'it', isSecret: false }];
  expect(
    attributed([{ ...at, kind: 'changed', fields }], [step]).map((one) => [
      'fields' in one && one.fields,
      one.by?.run,
    ]),
  ).toMatchObject([
    [
      [
        { before: 'fr', after: 'de' },
        { before: 'en', after: 'it' },
      ],
      undefined,
    ],
    [[{ before: 'de', after: 'en' }], 'k3f'],
  ]);
});

test.each<[string, [before: string, after: string][], (string | undefined)[]]>([
  ['of a step that left it as it was is by nobody known', [['a', 'a']], [undefined]],
  ['of a step that changed it is its own', [['a', 'b']], ['k3f']],
  [
    'between two steps is by others, too',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    ['k3f', undefined, 'k3g'],
  ],
  [
    'of which nothing is known is by both steps',
    [
      ['', ''],
      ['', ''],
    ],
    ['k3f', 'k3g'],
  ],
])('a new secret %s', (_, shown, runs) => {
  const mask = (text: string): string => (text === '' ? '***' : journaled(text));
  const fields = [{ field: 'password', before: '***', after: '***', isSecret: true }];
  const steps = shown.map(([before, after], index): WrittenStep => {
    const images = { before: { password: mask(before) }, wrote: { password: mask(after) } };
    return { ...step, run: ['k3f', 'k3g'][index] ?? '', sentAt: 150 + index, ...images };
  });
  const found = attributed([{ ...at, kind: 'changed', fields }], steps);
  expect(found.map(({ by }) => by?.run)).toEqual(runs);
});

test('a field beside those of the step is an entry of its own', () => {
  const more = { field: 'is_staff', before: false, after: true, isSecret: false };
  const both: Event = { ...event, fields: [...('fields' in event ? [] : []), more] };
  expect(attributed([both], [step])).toMatchObject([{ fields: [more] }]);
  expect(attributed([both], [step])[0]?.by).toBeUndefined();
});

test('a new and a deleted record', () => {
  const record = { key: 'bob', fields: { username: 'bob', lang: 'en' } };
  const added: Event = { ...at, kind: 'added', record };
  const gone: Event = { ...at, kind: 'gone', record };
  const add: WrittenStep = { ...step, action: 'add', before: undefined };
  expect(attributed([added], [add])).toMatchObject([{ kind: 'added', by: { run: 'k3f' } }]);
  expect(attributed([gone], [{ ...step, action: 'delete' }])[0]?.by?.run).toBe('k3f');
  expect(attributed([gone], [add])[0]?.by).toBeUndefined();
  expect(attributed([added], [{ ...add, wrote: { lang: 'de' } }])).toMatchObject([
    { kind: 'added', by: { run: 'k3f' } },
    { kind: 'changed', fields: [{ field: 'lang', before: 'de', after: 'en' }] },
  ]);
});

test('what a run added and deleted again was added by somebody else', () => {
  const record = { key: 'bob', fields: { username: 'bob', lang: 'en' } };
  const added: Event = { ...at, kind: 'added', record };
  const add: WrittenStep = { ...step, action: 'add', before: undefined };
  const remove: WrittenStep = { ...step, action: 'delete', sentAt: 170, endedAt: 180 };
  expect(attributed([added], [add, remove])).toEqual([added]);
});

test('what a later step changed on a new record is its own', () => {
  const record = { key: 'bob', fields: { username: 'bob', lang: 'en' } };
  const added: Event = { ...at, kind: 'added', record };
  const add: WrittenStep = { ...step, action: 'add', before: undefined, wrote: { lang: 'de' } };
  const set: WrittenStep = { ...step, run: 'm7x', sentAt: 170, endedAt: 180 };
  const runs = attributed([added], [add, set]).map((one) => [one.kind, one.by?.run]);
  expect(runs).toEqual([
    ['added', 'k3f'],
    ['changed', 'm7x'],
  ]);
});

test.each([
  ['was sent within the interval', 150, 160, true, true],
  ['took effect after another process had read', 90, 210, true, true],
  ['was read back when the interval began', 90, 110, true, false],
  ['may have had an effect later', 90, 110, false, true],
  ['had ended before', 80, 90, false, false],
  ['was sent after it', 210, 220, false, false],
])('a change may be by a request that %s', (_, sentAt, endedAt, isShown, isNear) => {
  expect(mayBeBy(event, { sentAt, endedAt, isShown })).toBe(isNear);
});
