import { expect, test } from 'vitest';
import { typedFields } from '../../src/change/typed-fields.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { decodeList, decodeWritten } from '../../src/device/decode.ts';
import { DeclinedFailure } from '../../src/device/errors.ts';
import { DeviceFacts } from '../../src/device/facts.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { maskedRecord } from '../../src/device/sensitive-fields.ts';
import { MASK } from '../../src/text/one-line.ts';
import type { Step } from '../../src/change/step.ts';
import { judgedStep, problemsIn } from '../change/steps.ts';

const parse = (source: string): Profile => parseProfile(source, 'p.yaml', 'mine');

const profile = parse(`
extends: generic-rest
update: {method: PUT, record: whole, left_out: erased}
resources:
  user:
    field_facts:
      age: {type: integer, nullable: true}
      note: {nullable: false}
      created: {read_only: true}
      realm: {create_only: true, choices: [pam, pve]}
      code: {write_only: true}
      zone: {rights: true}
      doorbell: {secret: true}
`);
const joe = { id: 1, username: 'joe', age: '5', created: 'x', realm: 'pam', code: '', note: null };
const device = { name: 'fw1', address: '10.0.0.5:443' };

function planned(fields: DeviceRecord, before: DeviceRecord = joe) {
  const target = { kind: 'key', key: 'joe' } as const;
  return planDevice({ device, profile }, { action: 'set', resource: 'user', target, fields }, [
    before,
  ]);
}

test('a stated type is sent, whatever the records show, and null is a value where stated', () => {
  const typed = (fields: DeviceRecord): DeviceRecord =>
    typedFields({ profile, resource: 'user', records: [joe] }, fields, { isJson: true }).fields;
  expect(typed({ age: '7', other: '7' })).toEqual({ age: 7, other: '7' });
  expect(typed({ age: 'null', note: 'null' })).toEqual({ age: null, note: 'null' });
});

test('a field that only the device sets, and one of new records alone, is refused in a change', () => {
  const { fields: details = {} } = profile.resources['user'] ?? {};
  expect(problemsIn(details, { created: 'y', realm: 'pve', note: null }, false)).toEqual({
    created: 'read-only',
    realm: 'can be set for a new record only',
    note: 'must not be null',
  });
  expect(problemsIn(details, { realm: 'pve' }, true)).toEqual({});
  expect(problemsIn(details, { realm: 'ldap', age: 'x' }, true)).toEqual({
    realm: 'not one of pam, pve',
    age: 'not a whole number',
  });
  expect(planned({ realm: 'pve' }).settled).toMatchObject([
    { verdict: 'failed', error: { message: expect.stringContaining('new record only') as string } },
  ]);
});

test('a whole record has neither what the device sets nor what it takes without showing it', () => {
  const { steps } = planned({ age: '6' }, { ...joe, age: null });
  expect(steps[0]?.request.json).toEqual({ username: 'joe', age: 6, realm: 'pam' });
  expect(steps[0]?.effects.erases).toEqual(['code', 'zone', 'doorbell']);
  expect(planned({ username: 'jo' }, { ...joe, age: null }).steps[0]?.request.json).toMatchObject({
    age: null,
  });
});

test('a write-only field that reads back otherwise has not failed', () => {
  const [step] = planned({ code: '1234' }).steps;
  const readings = { before: [joe], after: [joe] };
  const end = judgedStep(profile, step as Step, { kind: 'accepted' }, readings);
  expect(end).toMatchObject({ verdict: 'done', note: 'code cannot be read back' });
});

test('a field that is never filled in is not, though every record has it', () => {
  const form = parse(
    'resources:\n  user:\n    fields: [username]\n    field_facts: {zone: {rights: true}}\n',
  );
  const change = { action: 'add', resource: 'user', fields: { username: 'zoe' } } as const;
  const { steps } = planDevice({ device, profile: form }, change, [
    { username: 'joe', zone: true, on: true },
  ]);
  expect(steps[0]).toMatchObject({
    effects: { filled: { on: 'most common here' }, leftOut: ['zone'] },
  });
});

test('a field that a profile calls secret is masked by its name', () => {
  expect(maskedRecord({ doorbell: '1234', bell: '1234' })).toEqual({
    doorbell: MASK,
    bell: '1234',
  });
});

test('what the profile states of a field comes before what the device describes', () => {
  const facts = new DeviceFacts(profile);
  const told = { type: 'string', required: true, readOnly: false, maxLength: 9 };
  facts.setFields('user', ['age', 'extra'], told);
  expect(facts.profile.resources['user']?.fields).toMatchObject({
    age: { type: 'integer', required: true, maxLength: 9, nullable: true },
    extra: told,
    code: { writeOnly: true },
  });
});

test('an unknown fact of a field is refused with its place and a suggestion', () => {
  const source = 'resources:\n  user:\n    field_facts:\n      age: {readonly: true}\n';
  expect(() => parse(source)).toThrow('p.yaml:3');
  expect(() => parse(source)).toThrow('did you mean "read_only"?');
  const now = 'resources:\n  user:\n    fields:\n      age: [readonly]\n';
  expect(() => parse(now)).toThrow('p.yaml:4:13: age: unknown word "readonly"');
  const elsewhere = 'extends: drf\nrevision: {field: _rev, in: query, param: rev}\n';
  expect(() => parse(elsewhere)).toThrow('p.yaml:2:36: unknown fact "param"');
  expect(() => parse(elsewhere)).toThrow('the facts are field, in');
});

test('a response without the value of a success is a failure, whatever its status', () => {
  const coded = parse('extends: generic-rest\nsuccess_if: {code: 0, head.ok: 1}\n');
  const taken = '{"code": 1007, "message": "user exists", "data": null}';
  expect(() => decodeWritten(taken, 'user', coded)).toThrow(DeclinedFailure);
  expect(() => decodeList('{"head": {"ok": 0, "msg": "no right"}}', 'user', coded)).toThrow(
    'no right',
  );
  const list = '{"code": 0, "message": "", "data": [{"username": "joe"}]}';
  expect(decodeList(list, 'user', coded).records).toEqual([{ username: 'joe' }]);
});

test('a nested field that is stated as secret is masked in its record', () => {
  const source = 'resources: {user: {field_facts: {snmp.trapword: {secret: true}}}}';
  parseProfile(source, 'p.yaml', 'p');
  expect(maskedRecord({ snmp: { port: 161, trapword: 'xyz' } })).toEqual({
    snmp: { port: 161, trapword: '***' },
  });
});
