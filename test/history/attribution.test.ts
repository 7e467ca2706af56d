import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Run, StepState } from '../../src/change/journal.ts';
import { type Deed, Deeds, deedsOf } from '../../src/history/attribution.ts';
import { journaled } from '../../src/device/sensitive-fields.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import type { Event, RecordEvent } from '../../src/history/events.ts';

const at = { device: 'fw1', resource: 'user', period: 'L', after: 100, before: 200, key: 'bob' };
const event: RecordEvent & Event = {
  ...at,
  kind: 'changed',
  record: { key: 'bob', fields: { id: '7', username: 'bob', lang: 'en' } },
  fields: [{ field: 'lang', before: 'de', after: 'en', isSecret: false }],
};
const device = { name: 'fw1', address: 'fw1:443' };

type Own = NonNullable<Deed['record']>;

function deed(more: Partial<Deed> = {}, record: Partial<Own> = {}): Deed {
  const before: DeviceRecord = { id: '7', username: 'bob', lang: 'de' };
  const asked = record.asked ?? { lang: 'en' };
  const own = {
    ...{ resource: 'user', key: 'bob', action: 'set' as const, verdict: 'done' as const },
    ...{ before, held: { ...before, ...asked }, asked },
    ...record,
  };
  const run = { run: 'k3f', line: 'user set bob lang=en' };
  return { ...run, device, pin: 'p', record: own, sentAt: 150, endedAt: 160, ...more };
}

function authorsOf(events: readonly Event[], ...deeds: readonly Deed[]): readonly string[] {
  const known = new Deeds(deeds, ({ device: name }) => [{ address: `${name}:443`, pin: 'p' }], []);
  return known.attributed(events).map(({ author }) => {
    if (author?.kind === 'run') return author.run;
    return author?.kind === 'perhaps' ? '?' : '-';
  });
}

function authorOf(one: RecordEvent & Event, ...deeds: readonly Deed[]): string {
  return authorsOf([one], ...deeds).join(' ');
}

const EARLY = { sentAt: 10, endedAt: 20 };

test.each<[string, string, Partial<Deed>, Partial<Own>?]>([
  ['within the interval did it', 'k3f', {}],
  ['that showed late did it', 'k3f', { sentAt: 90, endedAt: 210 }],
  ['that took effect after another reading did it', 'k3f', { sentAt: 90, endedAt: 110 }],
  ['without an effect so far did it', 'k3f', EARLY, { verdict: 'no effect' }],
  ['under another name of the device did it', 'k3f', { device: { ...device, name: 'old' } }],
  ['before the interval did not', '-', { sentAt: 80, endedAt: 90 }],
  ['after the interval did not', '-', { sentAt: 210, endedAt: 220 }],
  ['behind another certificate is unclear', '?', { pin: 'q' }],
  ['of the same id with these values elsewhere', '?', { device: { name: 'x', address: 'x:1' } }],
  ['of another record is unclear', '?', {}, { key: 'amy', held: { id: '8' } }],
  ['of another field is unclear', '?', {}, { asked: { email: 'x' } }],
  ['of another value is unclear', '?', {}, { asked: { lang: 'fr' } }],
  ['that was refused is unclear', '?', {}, { verdict: 'failed' }],
  ['that deleted is unclear', '?', {}, { action: 'delete', asked: {} }],
])('a step %s', (_, author, more, record) => {
  expect(authorOf(event, deed(more, record))).toBe(author);
});

test('an add without an effect so far has changed no record that was there', () => {
  const add = { action: 'add', before: undefined, held: undefined, verdict: 'no effect' } as const;
  expect(authorOf(event, deed(EARLY, add))).toBe('?');
  expect(authorOf({ ...event, kind: 'added' }, deed(EARLY, add))).toBe('k3f');
});

test('of two runs that wrote the same value, none is named', () => {
  expect(authorOf(event, deed(), deed({ run: 'm7x' }))).toBe('?');
  expect(authorOf(event, deed(), deed())).toBe('k3f');
});

test('a raw request makes what changed on its device then unclear', () => {
  expect(authorOf(event, deed({ record: undefined }))).toBe('?');
  expect(authorOf(event, deed({ record: undefined, ...EARLY }))).toBe('-');
});

test('fields that no run sent are an event of their own', () => {
  const more = { field: 'is_staff', before: false, after: true, isSecret: false };
  const fields = [...('fields' in event ? event.fields : []), more];
  expect(authorOf({ ...event, kind: 'changed', fields }, deed())).toBe('k3f ?');
});

test.each([
  ['left as it was', 'a', 'a', '?'],
  ['changed', 'a', 'b', 'k3f'],
  ['of which nothing is known', '', '', 'k3f'],
])('a secret that a step %s', (_, before, after, author) => {
  const mask = (text: string): string => (text === '' ? '***' : journaled(text));
  const fields = [{ field: 'password', before: '***', after: '***', isSecret: true }];
  const [asked, held] = [{ password: '***' }, { password: mask(after) }];
  const images = { before: { password: mask(before) }, asked, held };
  expect(authorOf({ ...event, kind: 'changed', fields }, deed({}, images))).toBe(author);
});

test('a new and a deleted record are by the run that made or deleted them as they are', () => {
  const record = { key: 'bob', fields: { username: 'bob', lang: 'en' } };
  const added = { ...at, kind: 'added', record } as const;
  const gone = { ...at, kind: 'unlisted', record } as const;
  expect(authorOf(added, deed({}, { action: 'add' }))).toBe('k3f');
  expect(authorOf(added, deed({}, { action: 'add', asked: { lang: 'de' } }))).toBe('?');
  const respelled = { asked: { lang: 'EN' }, held: { lang: 'en' }, verdict: 'differs' } as const;
  expect(authorOf(added, deed({}, { action: 'add', ...respelled }))).toBe('k3f');
  expect(authorOf(event, deed({}, respelled))).toBe('?');
  expect(authorOf(gone, deed({}, { action: 'delete' }))).toBe('k3f');
  expect(authorOf(gone, deed({}, { action: 'add' }))).toBe('?');
});

test('whatever happened, a named run sent just these values to that record there', () => {
  const value = fc.constantFrom('de', 'en', 'fr');
  const some = fc.record({
    run: fc.constantFrom('k3f', 'm7x'),
    address: fc.constantFrom('fw1:443', 'fw2:443'),
    name: fc.constantFrom('bob', 'amy'),
    lang: fc.option(value, { nil: undefined }),
    sentAt: fc.constantFrom(50, 150, 250),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 4 }), value, (all, after) => {
      const deeds = all.map(({ run, address, name, lang, sentAt }) => {
        const asked = { lang: lang ?? after };
        const verdict = lang === undefined ? ('failed' as const) : ('done' as const);
        const record = { key: name, held: { username: name, ...asked }, asked, verdict };
        const place = { name: 'fw1', address };
        return deed({ run, device: place, sentAt, endedAt: sentAt + 10 }, record);
      });
      const fields = [{ field: 'lang', before: 'xx', after, isSecret: false }];
      const author = authorOf({ ...event, kind: 'changed', fields }, ...deeds);
      const here = all.filter(({ address, sentAt }) => address === 'fw1:443' && sentAt === 150);
      const fits = here.filter(({ name, lang }) => name === 'bob' && lang === after);
      const runs = new Set(fits.map(({ run }) => run));
      if (!author.startsWith('?') && author !== '-') expect([...runs]).toEqual([author]);
      if (author === '-') expect(here).toEqual([]);
    }),
  );
});

test.each([510, 95, 600, 80])(
  'where the clock was set back, it is unclear whether a step did it that was sent at %i',
  (sentAt) => {
    const across = { ...event, after: 500, before: 100, isSetBack: true };
    expect(authorOf(across, deed({ sentAt, endedAt: sentAt + 10 }))).toBe('?');
  },
);

test.each([
  ['unknown', '?'],
  ['no effect', '?'],
  ['done', '-'],
] as const)('after the clock was set back, a step that was %s before is %s', (verdict, author) => {
  const later = { ...event, latest: 900 };
  const amy = { key: 'amy', held: { username: 'amy' }, asked: { email: 'x' }, verdict };
  expect(authorOf(later, deed({ sentAt: 850, endedAt: 860 }, amy))).toBe(author);
  expect(authorOf(later, deed({ sentAt: 950, endedAt: 960 }, amy))).toBe('-');
});

test.each([
  ['was sent within the interval', 150, 160, false, true],
  ['took effect after another process had read', 90, 210, false, true],
  ['was read back when the interval began', 90, 110, false, false],
  ['may have had an effect later', 90, 110, true, true],
  ['had ended before', 80, 90, false, false],
  ['was sent after it', 210, 220, false, false],
])('a change may be by a request that %s', (_, sentAt, endedAt, isOpen, isNear) => {
  const verdict = isOpen ? ('unknown' as const) : ('done' as const);
  const amy = { key: 'amy', held: { username: 'amy' }, asked: { email: 'x' }, verdict };
  expect(authorOf(event, deed({ sentAt, endedAt }, amy))).toBe(isNear ? '?' : '-');
});

const elsewhere = { device: { name: 'fw2', address: 'fw2:443' } };
const folded: Partial<Own> = { asked: { lang: 'EN' }, verdict: 'differs' };

test.each<[string, RecordEvent & Event, Partial<Own>]>([
  ['stored in another spelling there', event, { ...folded, held: { id: '7', lang: 'en' } }],
  [
    'wrote under the name of before',
    { ...event, key: 'bea' },
    { asked: { username: 'bea', lang: 'en' }, key: 'bob' },
  ],
  ['made there', { ...event, kind: 'added' }, { action: 'add', before: undefined }],
  ['deleted there', { ...event, kind: 'gone' }, { action: 'delete', asked: {} }],
  ['closed there, which the list hides', { ...event, kind: 'unlisted' }, { asked: { on: false } }],
  ['renamed there, where it appears at once', { ...event, kind: 'added' }, { key: 'rob' }],
  ['added a second one of the name to', { ...event, key: 'bob#2' }, { action: 'add' }],
  [
    'may have made as another one of the name',
    { ...event, id: { field: 'id', text: '9' } },
    { verdict: 'unknown' },
  ],
  ['sent there without an answer', event, { asked: { email: 'x' }, verdict: undefined }],
])('of a pair with one memory, it is unclear who did what a run %s', (_, given, record) => {
  expect(authorOf(given, deed(elsewhere, record))).toBe('?');
});

test('a change that also shows on a device that a run wrote to then is unclear', () => {
  const amy = { key: 'amy', held: { id: '8' }, asked: { email: 'x' } };
  const near = (other: Event, one: Event = event): string | undefined =>
    authorsOf([one, other], deed(elsewhere, amy))[0];
  const same = { ...event, device: 'fw2', after: 120, before: 180 };
  expect(near(same)).toBe('?');
  expect(near({ ...same, kind: 'added' }, { ...event, kind: 'added' })).toBe('?');
  expect(near({ ...same, kind: 'added' }, { ...event, kind: 'gone' })).toBe('-');
  const fields = [{ field: 'lang', before: 'de', after: 'fr', isSecret: false }];
  expect(near({ ...same, kind: 'changed', fields })).toBe('-');
  expect(near({ ...same, device: 'fw3' })).toBe('-');
  expect(near({ ...same, after: 210, before: 220 })).toBe('-');
});

const NOT_SENT = { kind: 'ended', at: '2026-11-29T02:00:09Z' } as const;
const SENT = { ...NOT_SENT, sentAt: '2026-11-29T02:00:05Z' };
const about = { device, resource: 'user', key: 'amy', action: 'set' } as const;

test.each<[string, string, StepState, StepState]>([
  [
    'found a device changed while it wrote to another one',
    '?',
    { ...NOT_SENT, result: { ...about, verdict: 'drift' } },
    { ...SENT, result: { ...about, verdict: 'done' } },
  ],
  [
    'found a device changed and wrote nothing',
    '-',
    { ...NOT_SENT, result: { ...about, verdict: 'drift' } },
    { ...NOT_SENT, result: { ...about, verdict: 'drift' } },
  ],
])('a change is unclear where a run %s', (_, author, here, there) => {
  const step = { resource: 'user', action: 'set', key: 'amy', keyField: 'username', asked: {} };
  const devices = ['fw1', 'fw2'].map((name) => {
    return { device: { name, address: `${name}:443` }, pin: 'p', steps: [step], settled: [] };
  });
  const states = new Map([
    ['fw1', [here]],
    ['fw2', [there]],
  ]);
  const head = { run: 'k3f', command: 'user set amy lang=en', at: '2026-11-29T02:00:00Z' };
  const run = { ...head, plan: { run: 'k3f', devices }, states } as unknown as Run;
  const [after, before] = [Date.parse('2026-11-29T02:00:01Z'), Date.parse('2026-11-29T02:00:08Z')];
  expect(authorOf({ ...event, after, before }, ...deedsOf(run))).toBe(author);
});
