import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type DeviceRecord, exactNumber } from '../../src/device/record.ts';
import { redactorOf } from '../../src/device/sensitive-fields.ts';
import { type Event, eventsOf } from '../../src/history/events.ts';
import { eventText } from '../../src/history/fold-events.ts';
import { Keeper } from '../../src/history/kept.ts';
import { lineText, replay } from '../../src/history/replay.ts';
import {
  lastLine,
  MAX_RECORDS,
  nextLines,
  type NewReading,
  sameLine,
} from '../../src/history/next-lines.ts';

const key = randomBytes(32);
const keeper = new Keeper(key, redactorOf(['login-secret']));

/** The history of these readings, one an hour. The first field of the first record names the records. */
function historyOf(...readings: readonly (readonly DeviceRecord[])[]): string {
  let text = '';
  for (const [index, records] of readings.entries()) {
    const to = 1_800_000_000_000 + index * 3_600_000;
    const identity = { name: 'fw1', address: 'fw1:443', pin: 'aa', digestKey: 'k' };
    const reading: NewReading = {
      ...{ identity, resource: 'user', moving: [], idFields: [] },
      keyField: Object.keys(records[0] ?? {})[0] ?? 'username',
      ...{ records, from: to - 10, to },
    };
    const same = sameLine(lastLine(text.slice(-4096), 'user'), reading, keeper);
    text += same ? lineText(same) : (nextLines(text, reading, keeper, to)?.text ?? '');
  }
  return text;
}

function changesIn(text: string): Event[] {
  return eventsOf('fw1', replay(text).periods);
}

test('an unchanged reading is one short line', () => {
  const users = [{ username: 'amy', lang: 'de' }];
  const once = historyOf(users);

  const twice = historyOf(users, users, users);

  expect(twice.slice(once.length).split('\n')).toHaveLength(3);
  expect(twice.length - once.length).toBeLessThan(300);
  expect(changesIn(twice)).toEqual([]);
});

test.each([
  [null, 'x1', 1],
  ['x1', null, 1],
  ['x1', 'x2', 1],
  ['x1', 'x1', 0],
])('a secret that goes from %j to %j is %i change', (before, after, count) => {
  const users = (password: string | null) => [{ username: 'amy', lang: 'de', password }];
  expect(changesIn(historyOf(users(before), users(after)))).toHaveLength(count);
});

test.each<[string, DeviceRecord]>([
  ['a password', { password: 'planted-1' }],
  ['a hash under any name', { note: '$6$salt$planted-1planted-1' }],
  ['a nested token', { settings: { api: { token: 'planted-1' } } }],
  ['a list of secrets', { keys: [{ private_key: 'planted-1' }] }],
  ['JSON in a text', { settings: '{"psk":"planted-1"}' }],
  ['a query', { url: 'https://x/?token=planted-1&a=b' }],
  ['JSON in JSON in a text', { settings: '{"a":"{\\"psk\\":\\"planted-1\\"}"}' }],
  ['JSON behind a word', { settings: 'cfg={"psk":"planted-1"}' }],
  ['XML', { config: '<user><password>planted-1</password></user>' }],
  ['a login in a URL', { url: 'ldap://admin:planted-1@dc1/' }],
  ['the fragment of a URL', { url: 'https://x/#access_token=planted-1' }],
  ['a line of a configuration', { config: 'mode = x\npassword = planted-1' }],
  ['a header', { note: 'send Authorization: Bearer planted-1' }],
  ['a private key', { note: '-----BEGIN RSA PRIVATE KEY-----\nplanted-1' }],
  ['a hash among other words', { note: 'root:$6$salt$planted-1:0' }],
  ['a pair of name and value', { options: [{ name: 'psk', value: 'planted-1' }] }],
  ['the login in free text', { note: 'use login-secret here' }],
])('%s is not kept, but that it changed', (_, fields) => {
  const changed = JSON.parse(
    JSON.stringify(fields).replace('planted-1', 'planted-2').replace('use', 'try'),
  ) as DeviceRecord;
  const text = historyOf([{ username: 'amy', ...fields }], [{ username: 'amy', ...changed }]);

  expect(text).not.toMatch(/planted|login-secret/);
  expect(changesIn(text)).toMatchObject([{ kind: 'changed', fields: [{ isSecret: true }] }]);
});

test('a setting that is a pair of name and value, and a key that is a secret, are not kept', () => {
  const setting = historyOf([{ name: 'radius_secret', value: 'planted-1' }]);
  const tokens = historyOf([{ api_key: 'planted-1', last_used: '2026-01-01T00:00:00Z' }]);
  expect(setting + tokens).not.toContain('planted');
  const known = replay(tokens).periods[0]?.resources.get('user')?.[0];
  expect([...(known?.values.keys() ?? [])]).toEqual([
    ...(known?.state.keys() ?? ['nothing was read']),
  ]);
});

test.each(['password policy of 12 characters', 'see https://x/a:8', 'basic authentication, a <b>'])(
  'a note without a secret stays readable: %s',
  (note) => {
    expect(historyOf([{ username: 'amy', note }])).toContain(note);
  },
);

test('records with the same key in another order are no change', () => {
  const [one, other] = [
    { username: 'amy', lang: 'de' },
    { username: 'amy', lang: 'fr' },
  ];
  expect(changesIn(historyOf([one, other], [other, one]))).toEqual([]);
});

test('records that are named by another field are not compared, and that is said', () => {
  const text = historyOf([{ username: 'amy', n: 1 }], [{ login: 'amy', n: 2 }]);
  const [event, ...others] = changesIn(text);
  expect(event).toMatchObject({ kind: 'identity', resource: 'user', reason: 'key field' });
  expect(event && eventText(event)).toContain('nothing is compared across');
  expect(others).toEqual([]);
  const readings = replay(text).periods[0]?.resources.get('user');
  expect(readings?.map(({ keyField }) => keyField)).toEqual(['username', 'login']);
});

test('equal passwords have different digests', () => {
  const text = historyOf([
    { username: 'amy', password: 'x' },
    { username: 'bob', password: 'x' },
  ]);
  const [period] = replay(text).periods;
  const state = period?.resources.get('user')?.[0].state;
  const digests = [...(state?.values() ?? [])].map((record) => record.digests?.['password']);
  expect(new Set(digests).size).toBe(2);
});

test('fields that move by themselves are no change, but their last value is known', () => {
  const at = (hour: number): DeviceRecord[] => [
    {
      username: 'amy',
      last_login: `2026-01-01T0${hour}:00:00Z`,
      login_count: hour,
      expires: '2027',
    },
  ];
  const text = historyOf(at(1), at(2), at(3));
  expect(changesIn(text)).toEqual([]);
  const user = replay(text).periods[0]?.resources.get('user')?.at(-1);
  expect(user?.moving?.fields).toEqual(['last_login', 'login_count']);
  expect(user?.values.get('amy')).toEqual({ last_login: '2026-01-01T03:00:00Z', login_count: 3 });
});

test('a field that differs at every reading is left out, visibly and also before', () => {
  const at = (round: number, lang = 'de'): DeviceRecord[] => [
    { username: 'amy', lang, password_enc: `a${round}`, psk: `x${round}` },
    { username: 'bob', lang, password_enc: `b${round}`, psk: `y${round}` },
  ];
  const text = historyOf(at(0), at(1), at(2), at(3), at(4), at(5, 'fr'), at(6, 'fr'));
  expect(changesIn(text)).toMatchObject([
    { kind: 'left', fields: ['password_enc', 'psk'] },
    { kind: 'changed', key: 'amy', fields: [{ field: 'lang', before: 'de', after: 'fr' }] },
    { kind: 'changed', key: 'bob' },
  ]);
});

test('a field that most records get at once is one entry', () => {
  const users = ['amy', 'bob', 'eve'].map((username) => ({ username, old: 1 }));
  const after = users.map(({ username }) => ({ username, mfa: false }));
  expect(changesIn(historyOf(users, after))).toMatchObject([
    { kind: 'shape', gained: ['mfa'], lost: ['old'], records: 3 },
  ]);
});

test.each(['1', '1152921504606846976', '1.50'])(
  'two records with one key, strange names and the number %s are kept as they are',
  (number) => {
    const records: DeviceRecord[] = [
      { username: 'amy', serial: exactNumber(number) },
      { username: 'amy', ['__proto__']: 'x' },
      { serial: 1 },
    ];
    const [period] = replay(historyOf(records)).periods;
    const state = period?.resources.get('user')?.[0].state;
    expect([...(state?.values() ?? [])].map(({ fields }) => fields)).toStrictEqual(records);
  },
);

test('a list that is too large is not kept, and what is read before and after it is', () => {
  const large = Array.from({ length: MAX_RECORDS + 1 }, (_, index) => ({ username: `u${index}` }));
  const text = historyOf([{ username: 'amy' }], large, [{ username: 'bob' }]);
  const { periods, damaged } = replay(text);
  expect(text).not.toContain('"u7"');
  expect(damaged).toBe(0);
  expect(periods[0]?.tooLarge.get('user')?.records).toBe(MAX_RECORDS + 1);
  expect(periods[0]?.resources.get('user')).toHaveLength(2);
  expect(replay(historyOf(large, large)).periods).toHaveLength(1);
  expect(replay(historyOf(large, [{ username: 'amy' }])).periods).toHaveLength(1);
});

test.each<[string, (rows: string[]) => string[]]>([
  ['a lost line', (rows) => rows.filter((_, index) => index !== 2)],
  [
    'a changed byte',
    (rows) => rows.map((row, at) => (at === 2 ? row.replace('"fr"', '"it"') : row)),
  ],
])('%s in the middle also takes what builds on it, and nothing false is shown', (_, damaged) => {
  const user = (lang: string, mail: string) => [{ username: 'amy', lang, mail }];
  const text = historyOf(user('de', 'a'), user('fr', 'a'), user('fr', 'b'));
  const broken = replay(damaged(text.split('\n')).join('\n'));
  const readings = broken.periods[0]?.resources.get('user') ?? [];
  const states = readings.map(({ state }) => state.get('amy')?.fields);
  expect(states).toEqual(user('de', 'a'));
  expect(broken.damaged).toBeGreaterThan(0);
});

test('a list that was empty and gets records is no new list', () => {
  const text = historyOf([{ username: 'amy' }], [], [{ username: 'bob' }]);
  expect(changesIn(text).map((event) => [event.kind, 'key' in event && event.key])).toEqual([
    ['unlisted', 'amy'],
    ['added', 'bob'],
  ]);
});
