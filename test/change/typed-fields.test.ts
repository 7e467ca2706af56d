import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { typedFields as read } from '../../src/change/typed-fields.ts';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import type { FieldFacts } from '../../src/device/profile-schema.ts';
import { editText, fieldShape, typedValue } from '../../src/device/typed-value.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord, Value } from '../../src/device/record.ts';
import { UsageError } from '../../src/errors.ts';

function known(records: readonly DeviceRecord[], types: Readonly<Record<string, string>> = {}) {
  const details = Object.fromEntries(
    Object.entries(types).map(([name, type]): [string, FieldFacts] => [
      name,
      { type, required: false, readOnly: false },
    ]),
  );
  const user = { keyField: 'name', fields: details };
  const profile: Profile = { ...genericRestProfile, resources: { user } };
  return { profile, resource: 'user', records };
}

function typedFields(about: ReturnType<typeof known>, fields: DeviceRecord, before?: DeviceRecord) {
  return read(about, fields, { ...(before && { before }), isJson: true }).fields;
}

const HELD = { vlan: 5, code: '007', on: true, tags: ['a'], ids: [1], address: { city: 'Bonn' } };

describe('a typed value gets the type', () => {
  test.each<[told: string, records: DeviceRecord[], said: DeviceRecord, typed: DeviceRecord]>([
    ['that all records share', [HELD], { vlan: '7', on: 'false' }, { vlan: 7, on: false }],
    ['text where text is held', [HELD], { code: '008' }, { code: '008' }],
    ['text where records differ', [{ a: 1 }, { a: 'x' }], { a: '2' }, { a: '2' }],
    ['text where nothing is known', [], { a: '2', b: 'true' }, { a: '2', b: 'true' }],
    [
      'a list between commas',
      [HELD],
      { tags: 'x, y', ids: '2,3' },
      { tags: ['x', 'y'], ids: [2, 3] },
    ],
    ['a list in JSON', [HELD], { tags: '["x, y"]' }, { tags: ['x, y'] }],
    ['an empty list', [HELD], { tags: '' }, { tags: [] }],
    ['an object in JSON', [HELD], { address: '{"zip": 1}' }, { address: { zip: 1 } }],
    ['a part of an object', [HELD], { 'address.city': 'Ulm' }, { address: { city: 'Ulm' } }],
    [
      'all digits of a long number',
      [HELD],
      { vlan: '12345678901234567' },
      { vlan: 12345678901234567n },
    ],
    ['nothing for an emptied number', [HELD], { vlan: '' }, { vlan: null }],
    ['items of a change set', [HELD], { ids: ['4'] }, { ids: [4] }],
    ['text for what is no number', [HELD], { vlan: 'many' }, { vlan: 'many' }],
  ])('%s', (_told, records, said, typed) => {
    expect(typedFields(known(records), said)).toEqual(typed);
  });

  test.each<[type: string, records: DeviceRecord[], said: string, typed: Value]>([
    ['integer', [], '7', 7],
    ['integer', [], '007', 7],
    ['string', [], '007', '007'],
    ['string', [{ a: 5 }], '007', '007'],
    ['boolean', [], 'yes', true],
    ['boolean', [{ a: 'yes' }], 'no', 'no'],
    ['integer', [{ a: '5' }], '7', '7'],
    ['decimal', [{ a: '5.00' }], '7.50', '7.50'],
    ['field', [{ a: 5 }], '7', 7],
    ['list', [], 'x', ['x']],
    ['multiple choice', [{ a: [] }], 'x,y', ['x', 'y']],
    ['nested object', [], '{"b": "1"}', { b: '1' }],
    ['field', [{ a: { b: 1 } }], '{"b": 2}', { b: 2 }],
  ])('%s as the device told, where it holds %j: %s', (type, records, said, typed) => {
    expect(typedFields(known(records, { a: type }), { a: said })).toEqual({ a: typed });
  });
});

describe('a name with a dot', () => {
  const before = { address: { city: 'Bonn', geo: { lat: 1, lon: 2 } } };

  test('changes one part and leaves the others, in the type of that part', () => {
    const fields = { 'address.geo.lat': '3', 'address.city': 'Ulm' };
    expect(typedFields(known([before]), fields, before)).toEqual({
      address: { city: 'Ulm', geo: { lat: 3, lon: 2 } },
    });
  });

  test('is a field of that name first', () => {
    const record = { ...before, 'address.city': 'x' };
    expect(typedFields(known([record]), { 'address.city': 'y' })).toEqual({ 'address.city': 'y' });
    const told = known([before], { 'address.city': 'string' });
    expect(typedFields(told, { 'address.city': 'y' })).toEqual({ 'address.city': 'y' });
  });

  test('is a part even if only the device reports that the field is an object', () => {
    const told = known([], { address: 'nested object' });
    expect(typedFields(told, { 'address.city': 'Ulm' })).toEqual({ address: { city: 'Ulm' } });
  });

  test('is an ordinary name if no field is an object', () => {
    expect(typedFields(known([{ v: 1 }]), { 'v.x': '2', '.id': '3' })).toEqual({
      'v.x': '2',
      '.id': '3',
    });
  });
});

test.each([{ tags: '["x"' }, { address: 'Ulm' }, { address: '[1]' }])(
  '%o is refused before anything is sent',
  (fields) => {
    expect(() => typedFields(known([HELD]), fields)).toThrow(UsageError);
  },
);

describe('if the type is unknown', () => {
  const fields = { vlan: '5', mtu: '1500', note: 'text', zone: '[1]', 'address.zip': '7' };

  test('a value that looks like more than text is reported, also for a part, but never if it has a type', () => {
    const { untyped } = read(
      known([HELD]),
      { ...fields, 'address.geo.lat': '1' },
      { isJson: true },
    );
    expect(untyped).toEqual(['mtu', 'zone', 'address.zip', 'address.geo.lat']);
    const deep = { ...HELD, address: { zip: 1, geo: { lat: 2 } } };
    const told = { 'address.zip': '7', 'address.geo.lat': '1' };
    expect(read(known([deep]), told, { isJson: true })).toEqual({
      fields: { address: { zip: 7, geo: { lat: 1 } } },
      untyped: [],
    });
  });

  test('JSON takes lists and objects as such, and a form takes text', () => {
    const said = { states: '["OK"]', deep: '{"a": 1}', broken: '[x', note: 'x' };
    expect(typedFields(known([{ note: 'y' }]), said)).toEqual({
      ...said,
      states: ['OK'],
      deep: { a: 1 },
    });
    expect(read(known([]), said).fields).toEqual(said);
    // Some records have a text there.
    expect(typedFields(known([{ x: 'a' }, { x: 1 }]), { x: '[1]' })).toEqual({ x: '[1]' });
  });
});

describe('null', () => {
  test.each<[records: DeviceRecord[], told: string | undefined, value: Value]>([
    [[{ a: 'Mr' }, { a: null }], undefined, 'null'],
    [[{ a: null }], 'string', 'null'],
    [[], undefined, 'null'],
    [[{ a: null }], undefined, null],
    [[{ a: 5 }], undefined, null],
    [[{ a: true }], undefined, null],
    [[{ a: { b: 1 } }, { a: null }], undefined, null],
    [[{ a: ['x'] }], undefined, ['null']],
    [[{ a: ['x'] }, { a: null }], undefined, null],
    [[], 'integer', null],
  ])('in a field that holds %j (told: %s) is %j', (records, told, value) => {
    const types = told === undefined ? {} : { a: told };
    expect(typedFields(known(records, types), { a: 'null' })).toEqual({ a: value });
  });
});

test('a value given as JSON is unchanged, also as a part of a nested field', () => {
  const said = { vlan: '7', code: 8, 'address.city': null };
  const asJson = Object.keys(said);
  expect(read(known([HELD]), said, { before: HELD, asJson, isJson: true })).toEqual({
    fields: { vlan: '7', code: 8, address: { city: null } },
    untyped: [],
  });
});

test('the text of any value in a form is read as the same value', () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const list = fc.array(leaf);
  const object = fc.dictionary(fc.string(), fc.oneof(leaf, list));
  fc.assert(
    fc.property(fc.oneof(list, object, fc.string(), fc.integer(), fc.boolean()), (value) => {
      const shape = fieldShape(undefined, [value]);
      expect(typedValue(editText(value, shape), shape)).toEqual({ value });
    }),
  );
});
