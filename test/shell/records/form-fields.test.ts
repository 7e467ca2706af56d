import { expect, test } from 'vitest';
import { documentedProfile } from '../../../src/device/built-in-profiles.ts';
import { RejectedError } from '../../../src/device/errors.ts';
import type { Profile } from '../../../src/device/profile.ts';
import { Fleet } from '../../../src/fleet/fleet.ts';
import { formFields, objections } from '../../../src/shell/records/form-fields.ts';

const told: Profile = {
  ...documentedProfile,
  resources: {
    user: {
      keyField: 'username',
      fields: {
        uuid: { type: 'string', required: false, readOnly: true },
        lang: {
          type: 'choice',
          required: true,
          readOnly: false,
          label: 'Language',
          choices: [{ value: 'de', label: 'German' }],
        },
        username: { type: 'string', required: true, readOnly: false, maxLength: 150 },
        password: { type: 'string', required: false, readOnly: false },
        groups: { type: 'list', required: false, readOnly: false },
      },
    },
  },
  origins: { 'resources.user.fields': 'observed' },
};

function fleetOf(...profiles: readonly Profile[]): Fleet {
  const fleet = new Fleet();
  const sessions = fleet.sessions(
    profiles.map((_, index) => ({
      name: `fw${index + 1}`,
      address: `127.0.0.1:${index + 1}`,
      groups: [],
    })),
  );
  sessions.forEach((session, index) => {
    session.facts.load(profiles[index] ?? documentedProfile, {});
  });
  fleet.join(sessions);
  return fleet;
}

test('without facts from the device the documented fields are offered, but no id', () => {
  const fields = formFields(fleetOf(documentedProfile), 'user');
  expect(fields.map(({ name }) => name)).toEqual(['first_name', 'lastname', 'username', 'lang']);
  expect(fields.map(({ origin }) => origin)).toEqual(Array(4).fill('documented'));
  expect(fields.filter(({ isRequired }) => isRequired)).toMatchObject([
    { name: 'username', label: 'Username', type: 'string', value: '' },
  ]);
});

test('several records have one field each: mixed where they differ, and no key', () => {
  const held = [
    { username: 'ann', lang: 'de', groups: ['a'], password: 'x', psk: { password: '1' } },
    { username: 'bob', lang: 'de', groups: ['a'], password: 'y', psk: 'none' },
    { username: 'eve', lang: 'en\x1b[2J', groups: ['a'], password: '' },
  ];
  const fields = formFields(fleetOf(told), 'user', held, 'fw1');
  expect(fields).toMatchObject([
    { name: 'lang', value: '', mixed: ['de', 'en\x1b[2J'] },
    { name: 'username', value: '', mixed: ['ann', 'bob', 'eve'], isReadOnly: true },
    { name: 'password', value: '', isSecret: true },
    { name: 'groups', value: 'a' },
    { name: 'psk', isReadOnly: true },
  ]);
  expect(fields[2]?.mixed).toBeUndefined();
  expect(fields[3]?.mixed).toBeUndefined();
  // The same key on several devices may be renamed everywhere.
  const same = formFields(fleetOf(told), 'user', [held[0] ?? {}, { ...held[0], lang: 'fr' }]);
  expect(same.find(({ name }) => name === 'username')).toMatchObject({
    value: 'ann',
    isReadOnly: false,
  });
});

test('what a device tells comes first and as it tells it; the first that tells is asked', () => {
  const fields = formFields(fleetOf(documentedProfile, told), 'user');
  expect(fields.map(({ name }) => name)).toEqual(['lang', 'username', 'password', 'groups']);
  expect(fields[0]).toEqual({
    name: 'lang',
    label: 'Language',
    type: 'choice',
    isRequired: true,
    isReadOnly: false,
    isSecret: false,
    choices: [{ value: 'de', label: 'German' }],
    value: '',
    fallback: '',
    origin: 'observed',
  });
  expect(fields[1]).toMatchObject({ isRequired: true, maxLength: 150 });
});

test('the fields of a record have its values, but for secrets; what nests is text to edit', () => {
  const record = {
    lang: 'de',
    username: 'bob',
    password: 'hash',
    groups: ['a', 'b'],
    note: null,
    hosts: ['a, b'],
    address: { city: 'Bonn' },
    snmp: { community: 'x', auth: { password: 'hash' } },
    shell: { login: '$6$salt$Zm9vYmFyYmF6' },
  };
  expect(formFields(fleetOf(told), 'user', [record], 'fw1')).toMatchObject([
    { name: 'lang', value: 'de' },
    { name: 'username', value: 'bob' },
    { name: 'password', value: '', isSecret: true },
    { name: 'groups', value: 'a, b', nested: { kind: 'list' }, isReadOnly: false },
    { name: 'note', value: '', origin: 'seen' },
    { name: 'hosts', value: '["a, b"]', nested: { kind: 'list' } },
    { name: 'address', value: '{"city":"Bonn"}', nested: { kind: 'object' }, isReadOnly: false },
    { name: 'snmp', value: '{"community":"***","auth":{"password":"***"}}', isReadOnly: true },
    { name: 'shell', value: '{"login":"***"}', isReadOnly: true },
  ]);
});

test('objections are listed by field, and by device if several have any', () => {
  const step = { resource: 'user', key: 'bob', action: 'add' } as const;
  const [fw1, fw2] = ['fw1', 'fw2'].map((name) => ({ name, address: `${name}:443` }));
  if (fw1 === undefined || fw2 === undefined) throw new Error('no devices');
  const error = new RejectedError(fw1, 'refused', {
    status: 400,
    issues: { lang: ['not a choice'], '': ['no'] },
  });
  const failed = { ...step, device: fw1, verdict: 'failed', error } as const;
  expect(objections([failed])).toEqual({ lang: ['not a choice'], '': ['no'] });
  const differs = {
    ...step,
    device: fw2,
    verdict: 'differs',
    differences: [
      { field: 'lang', sent: 'xx', held: '' },
      { field: 'password', sent: 'secret', held: 'hash' },
    ],
  } as const;
  expect(objections([failed, differs])).toEqual({
    lang: ['fw1: not a choice', 'fw2: has nothing'],
    password: ['fw2: not as sent'],
    '': ['fw1: no'],
  });
  expect(objections([failed, { ...failed, device: fw2 }])).toMatchObject({
    lang: ['not a choice'],
  });
});
