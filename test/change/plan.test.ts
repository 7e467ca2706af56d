import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/change/change.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { documentedProfile, drfProfile } from '../../src/device/built-in-profiles.ts';
import type { FieldFacts } from '../../src/device/profile-schema.ts';
import type { DeviceRecord } from '../../src/device/record.ts';

const fw1 = { name: 'fw1', address: '10.0.0.5:443' };
const ann = { uuid: 'u1', first_name: 'Ann', lastname: 'A', username: 'ann', lang: 'de' };
const bob = { uuid: 'u2', first_name: 'Bob', lastname: 'B', username: 'bob', lang: 'en' };

function plan(change: Change, records: readonly DeviceRecord[]) {
  return planDevice({ device: fw1, profile: documentedProfile }, change, records);
}

const key = (text: string) => ({ kind: 'key', key: text }) as const;

test('an added user sends the text null as uuid and every documented field', () => {
  const { steps } = plan({ action: 'add', resource: 'user', fields: { username: 'zoe' } }, [ann]);
  expect(steps).toMatchObject([
    {
      action: 'add',
      key: 'zoe',
      request: {
        method: 'POST',
        path: '/api/user/',
        form: [
          ['uuid', 'null'],
          ['first_name', ''],
          ['lastname', ''],
          ['username', 'zoe'],
          ['lang', 'de'],
        ],
      },
      effects: { filled: { lang: expect.any(String) as string } },
    },
  ]);
});

describe('a new record that is sent as a form', () => {
  const add = { action: 'add', resource: 'user', fields: { username: 'zoe' } } as const;
  const withField = (fields: DeviceRecord) => [ann, bob].map((one) => ({ ...one, ...fields }));

  test('has the most common value of a boolean, which would otherwise be false, and the plan shows it', () => {
    const { steps } = plan(add, withField({ enabled: true }));
    expect(steps[0]?.request.form).toContainEqual(['enabled', 'true']);
    expect(steps[0]?.effects.filled).toEqual({
      lang: 'most common here',
      enabled: 'most common here',
      first_name: 'because a form has all fields',
      lastname: 'because a form has all fields',
    });
  });

  test.each([
    'is_active',
    'isAdmin',
    'staff',
    'user_role',
    'canLogin',
    'superuser',
    'access_level',
    'in_usergroup',
  ])('never has %s unasked, which may give rights, and says that it is left out', (field) => {
    const { steps } = plan(add, withField({ [field]: true }));
    expect(steps[0]?.request.form).toHaveLength(5);
    expect(steps[0]?.effects.leftOut).toEqual([field]);
    const asked = plan(
      { ...add, fields: { ...add.fields, [field]: 'True' } },
      withField({ [field]: true }),
    );
    expect(asked.steps[0]?.request.form).toContainEqual([field, 'true']);
    expect(asked.steps[0]?.effects.leftOut).toBeUndefined();
  });

  test.each([
    ['what only some records have', [ann, { ...bob, enabled: true }]],
    [
      'what the device keeps for itself',
      withField({ canBeDeleted: true, _locked: false, builtin: true }),
    ],
    [
      'what is empty in a record',
      [
        { ...ann, enabled: null },
        { ...bob, enabled: true },
      ],
    ],
  ])('never has %s', (_, records) => {
    const { steps } = plan(add, records);
    expect(steps[0]?.request.form).toHaveLength(5);
    expect(steps[0]?.effects.leftOut).toBeUndefined();
  });
});

test('an add that devsh refuses stops its whole device, before anything is sent there', () => {
  const fields = { username: 'zoe', uuid: 'u9' };
  expect(() => plan({ action: 'add', resource: 'user', fields }, [ann])).toThrow('leave it out');
});

describe('a new record that is sent as JSON', () => {
  const facts = { type: 'boolean', required: true, readOnly: false };
  const known = { first_name: { needed: true } };
  const planned = (details: Readonly<Record<string, FieldFacts>>) =>
    planDevice(
      {
        device: fw1,
        profile: {
          ...drfProfile,
          resources: { user: { keyField: 'username', fields: { ...known, ...details } } },
        },
      },
      { action: 'add', resource: 'user', fields: { username: 'zoe' } },
      [{ ...ann, enabled: true, is_admin: true }],
    );

  test('has only the given fields', () => {
    const { steps } = planned({ enabled: { ...facts, required: false } });
    expect(steps[0]?.request.json).toEqual({ username: 'zoe' });
    expect(steps[0]).toMatchObject({ effects: { filled: {} } });
    expect(steps[0]?.effects.leftOut).toBeUndefined();
  });

  test('has the required fields, and the plan shows them', () => {
    const { steps } = planned({ enabled: facts });
    expect(steps[0]?.request.json).toEqual({ username: 'zoe', enabled: true });
    expect(steps[0]?.effects.filled).toEqual({ enabled: 'most common here' });
  });

  test('is refused if a required field may give rights', () => {
    const { steps, settled } = planned({ is_admin: facts });
    expect(steps).toEqual([]);
    expect(settled[0]?.error).toMatchObject({ exitCode: 6 });
    expect(settled[0]?.error?.message).toContain('is_admin');
  });
});

test.each<[string, Change, string]>([
  [
    'adding what is there already',
    { action: 'add', resource: 'user', fields: { username: 'ann', lang: 'de' } },
    'unchanged',
  ],
  [
    'adding what is there with other fields',
    { action: 'add', resource: 'user', fields: { username: 'ann', lang: 'fr' } },
    'differs',
  ],
  [
    'setting what is so already',
    { action: 'set', resource: 'user', target: key('ann'), fields: { lang: 'de' } },
    'unchanged',
  ],
  [
    'setting a user that is not there',
    { action: 'set', resource: 'user', target: key('zoe'), fields: { lang: 'de' } },
    'failed',
  ],
  [
    'taking the name of another user',
    { action: 'set', resource: 'user', target: key('ann'), fields: { username: 'bob' } },
    'failed',
  ],
  [
    'deleting a user that is not there',
    { action: 'delete', resource: 'user', target: key('zoe') },
    'unchanged',
  ],
])('%s needs no request', (_, change, verdict) => {
  expect(plan(change, [ann, bob])).toMatchObject({ steps: [], settled: [{ verdict }] });
});

test('devsh never guesses between two users with the same name', () => {
  const sameName = [ann, { ...ann, uuid: 'u9' }];
  const { steps, settled } = plan(
    { action: 'delete', resource: 'user', target: key('ann') },
    sameName,
  );
  expect(steps).toEqual([]);
  expect(settled).toMatchObject([{ verdict: 'failed', error: { code: 'ambiguous' } }]);
  const byId = plan({ action: 'delete', resource: 'user', target: key('u9') }, sameName);
  expect(byId.steps[0]?.request).toEqual({ method: 'DELETE', path: '/api/user/u9/' });
});

test.each(['', '.', '..', 'null', 'a/../..', '%2e%2e'])(
  'a record whose id is %j is never deleted by a path',
  (uuid) => {
    const { steps } = plan({ action: 'delete', resource: 'user', target: key('ann') }, [
      { ...ann, uuid },
    ]);
    expect(steps).toEqual([]);
  },
);

/** The records of a correct device after these steps. */
function applied(records: readonly DeviceRecord[], steps: ReturnType<typeof plan>['steps']) {
  return steps.reduce<DeviceRecord[]>(
    (held, { request, before }, index) => {
      if (request.method === 'DELETE') return held.filter(({ uuid }) => uuid !== before?.['uuid']);
      const sent = Object.fromEntries(request.form ?? []);
      return sent['uuid'] === 'null'
        ? [...held, { ...sent, uuid: `new${index}` }]
        : held.map((record) => (record['uuid'] === sent['uuid'] ? { ...record, ...sent } : record));
    },
    [...records],
  );
}

test('planned again after the run, every change is unchanged', () => {
  const text = fc.string({ maxLength: 5 });
  const lang = fc.constantFrom('de', 'en', 'fr');
  const username = fc.constantFrom('ann', 'bob', 'carl', 'dora', 'Émile', '佐藤');
  const person = fc.record({ first_name: text, lastname: text, username, lang });
  const records = fc
    .uniqueArray(person, { selector: (one) => one.username })
    .map((people) => people.map((one, index) => ({ uuid: `id-${index}`, ...one })));
  const fields = fc.record({ lang, lastname: text }, { requiredKeys: ['lang'] });
  const change = fc.oneof<fc.Arbitrary<Change>[]>(
    fc.tuple(username, fields).map(([name, rest]) => ({
      action: 'add',
      resource: 'user',
      fields: { username: name, ...rest },
    })),
    fc.tuple(username, fields).map(([name, rest]) => ({
      action: 'set',
      resource: 'user',
      target: key(name),
      fields: rest,
    })),
    username.map((name) => ({ action: 'delete', resource: 'user', target: key(name) })),
  );
  fc.assert(
    fc.property(records, change, (held, one) => {
      const { steps } = plan(one, held);
      fc.pre(steps.length > 0);
      const again = plan(one, applied(held, steps));
      expect(again.steps).toEqual([]);
      expect(again.settled.map(({ verdict }) => verdict)).toEqual(['unchanged']);
    }),
  );
});

test.each<[string, Change]>([
  ['set', { action: 'set', resource: 'user', target: key('bob'), fields: { lang: 'de' } }],
  ['delete', { action: 'delete', resource: 'user', target: key('bob') }],
  ['delete by id', { action: 'delete', resource: 'user', target: key('u1') }],
  [
    'delete by filter',
    {
      action: 'delete',
      resource: 'user',
      target: { kind: 'where', filter: 'username=bob' },
    },
  ],
])('%s of a record that shares its id with another one is not possible', (_title, change) => {
  const { steps, settled } = plan(change, [ann, { ...bob, uuid: 'u1' }]);
  expect(steps).toEqual([]);
  expect(settled).toMatchObject([
    {
      verdict: 'failed',
      error: {
        code: 'ambiguous',
        message: expect.stringMatching(
          /2 users have the id "u1".*profile set \S+ id_fields=\[\]/,
        ) as string,
      },
    },
  ]);
});

test('a record with a unique id is planned beside others that share one', () => {
  const zoe = { ...bob, uuid: 'u9', username: 'zoe' };
  const records = [ann, { ...bob, uuid: 'u1' }, zoe];
  const { steps } = plan({ action: 'delete', resource: 'user', target: key('zoe') }, records);
  expect(steps).toHaveLength(1);
});
