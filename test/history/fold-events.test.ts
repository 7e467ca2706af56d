import { expect, test } from 'vitest';
import type { Event } from '../../src/history/events.ts';
import { eventText, foldEvents, intervalText } from '../../src/history/fold-events.ts';

const gone = (device: string, after: number, before: number, run?: string): Event => ({
  ...{ kind: 'gone', device, period: 'l', resource: 'user', key: 'jdoe', after, before },
  record: { key: 'jdoe', fields: { username: 'jdoe', uuid: device } },
  ...(run !== undefined && { author: { kind: 'run', run, line: 'user delete jdoe' } }),
});

const changed = (fields: Extract<Event, { kind: 'changed' }>['fields']): Event => ({
  ...{ kind: 'changed', device: 'fw1', period: 'l', resource: 'user', key: 'bob' },
  ...{ after: 1, before: 2, fields, record: { key: 'bob', fields: {} } },
});

test('folds what may have happened at the same moment, and nothing else', () => {
  const folded = foldEvents([gone('fw1', 0, 10), gone('fw2', 5, 20), gone('fw3', 15, 30)]);
  expect(folded.map(({ devices, after, before }) => ({ devices, after, before }))).toEqual([
    { devices: ['fw3'], after: 15, before: 30 },
    { devices: ['fw1', 'fw2'], after: 0, before: 20 },
  ]);
});

test('folds what one run did, whenever it reached the device, but not with what it did not do', () => {
  const folded = foldEvents([
    gone('fw1', 0, 10, 'k3f'),
    gone('fw2', 5, 10),
    gone('fw3', 50, 60, 'k3f'),
  ]);
  expect(folded.map(({ devices }) => devices)).toEqual([['fw1', 'fw3'], ['fw2']]);
});

test('keeps two changes of one device apart', () => {
  expect(foldEvents([gone('fw1', 0, 10), gone('fw1', 5, 20)])).toHaveLength(2);
});

test('says what changed, never the value of a secret', () => {
  expect(eventText(gone('fw1', 0, 1))).toBe('user jdoe gone');
  const lang = { field: 'lang', before: 'de', after: 'en', isSecret: false };
  const password = { field: 'password', before: '***', after: '***', isSecret: true };
  const mail = { field: 'mail', before: undefined, after: '', isSecret: false };
  expect(eventText(changed([lang, password, mail]))).toBe(
    'user bob: lang de → en, password changed, mail + ""',
  );
});

test('rounds an interval outwards: to minutes, a short one to seconds', () => {
  const at = (minute: number, second: number): number =>
    new Date(2026, 10, 22, 9, minute, second).getTime();
  const now = new Date(2026, 10, 22, 10);
  expect(intervalText({ after: at(12, 1), before: at(40, 2) }, now)).toBe('09:12 – 09:41');
  expect(intervalText({ after: at(12, 1), before: at(12, 9) + 0.5 }, now)).toBe('09:12:10');
  expect(intervalText({ after: undefined, before: at(12, 9) + 0.5 }, now)).toBe('before 09:13');
});
