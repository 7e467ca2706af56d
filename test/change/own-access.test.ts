import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedWord } from '../../src/change/allow.ts';
import { guardOf, objectionsOn } from '../../src/change/guard.ts';
import { Credential } from '../../src/device/credential.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { type DeviceRecord, type Value, withoutFields } from '../../src/device/record.ts';
import { rounds } from '../rounds.ts';
import { step } from './steps.ts';
import type { Step } from '../../src/change/step.ts';
import { textOf } from '../../src/output/sentences.ts';

const ADMIN = Credential.basic('admin', 'secret');

function ownObjection(one: Step, credential?: Credential, records: readonly DeviceRecord[] = []) {
  const session = { credential, tokenOwner: undefined, profile: documentedProfile };
  const entry = { name: 'fw1', address: '127.0.0.1', groups: [] };
  return objectionsOn({ ...session, entry }, () => records).own(one);
}

function objection(
  one: Step,
  credential: Credential | undefined = ADMIN,
  records: readonly DeviceRecord[] = [],
): string | undefined {
  const found = ownObjection(one, credential, records);
  return found && textOf(found.reason);
}

test.each<[DeviceRecord, DeviceRecord]>([
  [{ email: 'a@b.example' }, { email: 'c@d.example' }],
  [{ lang: 'de' }, { lang: 'en' }],
  [{ phone: '1' }, { phone: '2', comment: 'on call' }],
  [{ first_name: 'Ada' }, { first_name: 'Eve' }],
])('%j may become %j', (before, asked) => {
  expect(objection(step({ username: 'admin', ...before }, asked))).toBeUndefined();
});

test.each<[DeviceRecord, DeviceRecord]>([
  [{ groups: ['ops', 'admins'] }, { groups: ['ops'] }],
  [{ role: 'admin' }, { role: 'viewer' }],
  [{ mfa_enabled: false }, { mfa_enabled: true }],
  [{ allowed_ips: '' }, { allowed_ips: '10.0.0.1' }],
  [{ policy: { user: { write: true } } }, { policy: { user: { locked: true } } }],
  [{ auth: { password: '***' } }, { auth: { password: 'new' } }],
  [{ level: 15 }, { level: 16 }],
  [{ is_active: false }, { is_active: true }],
  [{ groups: ['ops'] }, { groups: ['ops', 'admins'] }],
  [{ trusthost1: '' }, { trusthost1: '10.0.0.1/32' }],
  [{ two_factor: 'disable' }, { two_factor: 'email' }],
  [{ tags: ['administrator'] }, { tags: [] }],
  [{ recovery_email: '' }, { recovery_email: 'c@d.example' }],
  [{ profile: { first_name: 'Ada' } }, { profile: { first_name: 'Eve' } }],
])('%j does not become %j', (before, asked) => {
  expect(objection(step({ username: 'admin', ...before }, asked))).toContain('lock you out');
});

test('a login with an email address matches the record with that address', () => {
  const bob = { username: 'bob', email: 'Bob@Corp.example' };
  expect(objection(step(bob), Credential.basic('bob@corp.example', 'x'))).toContain('lock you out');
  expect(
    objection(step(bob, { email: 'x@y.example' }), Credential.basic('bob@corp.example', 'x')),
  ).toBe('changing email of bob may lock you out: it may be the account in use, bob@corp.example');
  const listed = [{ username: 'admin' }, { ...bob, email: 'admin@corp.example' }];
  expect(objection(step(listed[1]), ADMIN, listed)).toBeUndefined();
});

test('the record that shows the token is its owner, whatever is configured', () => {
  const token = Credential.token('abc', 'carol');
  const records = [
    { username: 'bob', token: 'Token abc' },
    { username: 'eve', token: 'def' },
    { username: 'carol', token: '***' },
  ];
  const [bob, eve] = records;
  expect(objection(step(bob), token, records)).toContain('it is the account in use');
  expect(objection(step(eve), token, records)).toBeUndefined();
});

test.each<[DeviceRecord, string | undefined]>([
  [{ role: 'user' }, undefined],
  [{ is_admin: false, groups: [] }, undefined],
  [{}, 'admin'],
  [{ role: 'viewer' }, 'nobody'],
])('an account with %j may be that of a login that no record shows: %s', (fields, user) => {
  const record = { username: 'bob', ...fields };
  const credential = user === 'admin' ? ADMIN : Credential.token('abc', user);
  expect(objection(step(record), credential, [record])).toMatch(/owner of the token|no user shows/);
  expect(objection(step(record, { lang: 'en' }), credential, [record])).toBeUndefined();
  const vlan = step({ name: 'bob' }, undefined, 'vlan', 'name');
  expect(objection(vlan, credential, [{ name: 'bob' }])).toBeUndefined();
});

test('a group must not lose the account in use, and no record of its name is free', () => {
  const group = { name: 'admins', members: ['admin', 'bob'] };
  const on = (asked?: DeviceRecord): string | undefined =>
    objection(step(group, asked, 'group', 'name'));
  expect(on({ members: ['bob'] })).toBe('members of admins would lose admin, the account in use');
  expect(on()).toContain('would lose admin');
  expect(on({ members: ['admin'] })).toBeUndefined();
  expect(objection(step({ name: 'admin' }, undefined, 'vlan', 'name'))).toContain('lock you out');
});

test('without a login nobody can be locked out', () => {
  expect(ownObjection(step({ username: 'admin' }))).toBe(undefined);
});

/** Lists of accounts as products show them, each with the login `admin`, and an ordinary edit of another account. */
const SCHEMAS: Readonly<Record<string, readonly [DeviceRecord[], key: string, DeviceRecord]>> = {
  'Django REST': [
    [
      { id: 1, username: 'admin', email: 'admin@x.example', is_staff: true, groups: [1] },
      { id: 2, username: 'bob', email: 'b@x.example', is_staff: false, groups: [] },
    ],
    'username',
    { is_active: false },
  ],
  FortiOS: [
    [
      { name: 'admin', accprofile: 'super_admin', trusthost1: '0.0.0.0/0' },
      { name: 'bob', accprofile: 'admin', trusthost1: '10.0.0.0/8' },
    ],
    'name',
    { accprofile: 'readonly' },
  ],
  RouterOS: [
    [
      { '.id': '*1', name: 'admin', group: 'full', comment: 'system default user' },
      { '.id': '*2', name: 'bob', group: 'read', comment: 'admin' },
    ],
    'name',
    { group: 'write' },
  ],
  'Active Directory': [
    [
      { cn: 'The Admin', sAMAccountName: 'admin', department: 'IT', managedBy: 'x' },
      { cn: 'Bob', sAMAccountName: 'bob', department: 'IT', managedBy: 'admin' },
      { cn: 'Eve', sAMAccountName: 'eve', department: 'HR', managedBy: 'admin' },
    ],
    'cn',
    { department: 'HR' },
  ],
  Keycloak: [
    [
      { id: 'a', username: 'admin', enabled: true, attributes: { realm: 'admin' } },
      { id: 'b', username: 'bob', enabled: true, attributes: { realm: 'admin' } },
    ],
    'username',
    { enabled: false },
  ],
  Grafana: [
    [
      { id: 1, login: 'admin', role: 'Admin', authLabels: [] },
      { id: 2, login: 'bob', role: 'Viewer', authLabels: ['admin'] },
    ],
    'login',
    { role: 'Editor' },
  ],
  OpenSearch: [
    [
      { name: 'admin', backend_roles: ['admin'], hash: '***' },
      { name: 'bob', backend_roles: ['admin', 'ops'], hash: '***' },
    ],
    'name',
    { backend_roles: ['ops'] },
  ],
  Proxmox: [
    [
      { userid: 'admin@pam', enable: 1, comment: 'created by admin' },
      { userid: 'bob@pve', enable: 1, comment: 'admin' },
    ],
    'userid',
    { enable: 0 },
  ],
  SCIM: [
    [
      { id: '1', userName: 'admin', active: true, userType: 'admin', meta: { createdBy: 'admin' } },
      { id: '2', userName: 'bob', active: true, userType: 'guest', meta: { createdBy: 'admin' } },
    ],
    'userName',
    { active: false },
  ],
  'a personnel system': [
    [
      { id: 1, name: 'Ann Ardent', employee_no: 'admin', created_by: 'admin' },
      { id: 2, name: 'Bob Builder', employee_no: 'bob', created_by: 'admin' },
    ],
    'name',
    { employee_no: 'bob2' },
  ],
};

test.each(Object.entries(SCHEMAS))(
  'an ordinary edit in %s needs no word, and the account in use needs one',
  (_product, [records, keyField, edit]) => {
    const [own, ...others] = records;
    for (const other of others) {
      for (const asked of [edit, undefined]) {
        const one = step(other, asked, 'user', keyField);
        expect([other, asked, objection(one, ADMIN, records)]).toEqual([other, asked, undefined]);
      }
    }
    for (const asked of [edit, undefined]) {
      expect(objection(step(own, asked, 'user', keyField), ADMIN, records)).toContain(
        'lock you out',
      );
    }
  },
);

const word = fc.stringMatching(/^[a-z]{3,8}$/);
const phrase = fc.stringMatching(/^[a-z]{2,8}( [a-z]{2,8})?$/);

test('the own account is found by any field, in a list of any name, and other texts mean nothing', () => {
  const given = fc.record({
    login: word,
    spell: fc.constantFrom(
      (text: string) => text,
      (text: string) => text.toUpperCase(),
      (text: string) => `CORP\\${text}`,
      (text: string) => `${text}@corp.example`,
      (text: string) => ` ${text} `,
    ),
    names: fc.uniqueArray(phrase, { minLength: 3, maxLength: 6 }),
    fields: fc.uniqueArray(fc.stringMatching(/^[a-zA-Z_][a-zA-Z_0-9]{2,12}$/), {
      minLength: 3,
      maxLength: 3,
    }),
    resource: fc.stringMatching(/^[a-z]{3,9}(-[a-z]{3,6})?$/),
    isNested: fc.boolean(),
  });
  fc.assert(
    fc.property(given, ({ login, spell, names, fields, resource, isNested }) => {
      const [keyField = '', loginField = '', noise = ''] = fields;
      fc.pre(names.every((name) => name !== login && !login.startsWith(name)));
      const records = names.map((name, index): DeviceRecord => {
        const text = index === 0 ? spell(login) : `${login}${index}x`;
        const own = isNested ? { deep: { [loginField]: text } } : { [loginField]: text };
        return { [keyField]: name, ...own, [noise]: login, list: [login] };
      });
      const credential = Credential.basic(login, 'secret');
      const about = (record: DeviceRecord | undefined) =>
        step(record, undefined, resource, keyField);
      const [own, ...others] = records;
      expect(objection(about(own), credential, records)).toBeDefined();
      const plain = records.map((record) => withoutFields(record, ['list']));
      for (const other of plain.slice(1)) {
        expect(objection(about(other), credential, plain)).toBeUndefined();
      }
      // A list that holds the login is guarded against losing it.
      const losing = step(others[0], { list: [] }, resource, keyField);
      const keeping = step(others[0], { list: [login, 'x'] }, resource, keyField);
      if (resource !== 'user') expect(objection(losing, credential, records)).toContain('lose');
      expect(objection(keeping, credential, plain)).toBeUndefined();
    }),
    { numRuns: rounds(1000) },
  );
});

test('--allow own-account=NAME permits the record that is shown, and no other that mentions the name', () => {
  const group = (name: string): DeviceRecord => ({ name, members: ['admin', 'bob'] });
  const records = [group('wheel'), group('ops')];
  const profile = documentedProfile;
  const session = {
    ...{ ref: { name: 'box', address: 'box.example' }, credential: ADMIN, profile },
    ...{ entry: { name: 'box', address: 'box.example', groups: [] }, tokenOwner: undefined },
    unlistedLogin: undefined,
  };
  const refusal = (record: DeviceRecord | undefined, account: string): string | undefined => {
    const allowed = new Set([allowedWord(`own-account=${account}`)]);
    const one = step(record, undefined, 'group', 'name');
    return guardOf(session, () => records, allowed)(one, records.length - 1)?.message;
  };
  expect(refusal(records[0], 'wheel')).toBeUndefined();
  expect(refusal(records[1], 'wheel')).toContain('--allow own-account=ops');
  expect(refusal(records[0], 'admin')).toContain('--allow own-account=wheel');
});

test('no list at any depth loses an account without its word, whatever its members look like', () => {
  const member = fc.constantFrom<(name: string) => Value>(
    (name) => name,
    (name) => ({ username: name, level: 3 }),
    (name) => ({ user: { id: 7, name } }),
    (name) => [name, 'rw'],
  );
  const place = fc.constantFrom<(members: Value) => DeviceRecord>(
    (members) => ({ staff: members }),
    (members) => ({ settings: { access: { staff: members } } }),
    (members) => ({ rules: [{ staff: members }] }),
  );
  fc.assert(
    fc.property(member, place, fc.boolean(), fc.boolean(), (shaped, put, isDelete, isGlass) => {
      const name = isGlass ? 'root' : 'admin';
      const group = (names: readonly string[]) => ({ name: 'ops', ...put(names.map(shaped)) });
      const before = group(['bob', name]);
      const asked = withoutFields(group(['bob']), ['name']);
      const one = step(before, isDelete ? undefined : asked, 'group', 'name');
      const session = { credential: ADMIN, tokenOwner: undefined, profile: documentedProfile };
      const entry = { name: 'fw1', address: '127.0.0.1', groups: [], breakGlass: ['root'] };
      const { own, breakGlass } = objectionsOn({ ...session, entry }, () => [before]);
      const reason = (isGlass ? breakGlass : own)(one)?.reason;
      expect(reason && textOf(reason)).toContain(`would lose ${name}`);
    }),
  );
});
