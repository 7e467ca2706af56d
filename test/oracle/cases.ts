import fc from 'fast-check';
import type { Field, Json, JsonObject, Model, Way } from './model-device.ts';
import type { DeviceSession } from './model-fleet.ts';

/** Typed values for fields of one user, or for parts of fields. */
export type Typed = Readonly<Record<string, string>>;

export type Line =
  | { readonly kind: 'add'; readonly key: string; readonly typed: Typed }
  | { readonly kind: 'set'; readonly key: string; readonly typed: Typed }
  | { readonly kind: 'set where'; readonly lang: string; readonly typed: Typed }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'import'; readonly rows: readonly Row[]; readonly isPruning: boolean }
  | { readonly kind: 'undo' }
  /** A line that writes nothing. */
  | { readonly kind: 'read'; readonly words: string };

/** One record of a file that is imported. */
export interface Row {
  readonly key: string;
  readonly values: JsonObject;
}

/** Devices of one family, their records, and the typed lines. */
export interface Case {
  readonly model: Model;
  /** Whether the profile configures how records are written; otherwise it is learned. */
  readonly isConfigured: boolean;
  readonly devices: readonly DeviceSession[];
  readonly lines: readonly Line[];
  readonly isJson: boolean;
  readonly allowsLoss: boolean;
}

const USERS = ['ann', 'bob', 'cyd', 'dan', 'eve', 'fay'];
/** The fields of a documented device. */
const DOCUMENTED: readonly Field[] = [
  { name: 'first_name', kind: 'text', access: 'open' },
  { name: 'lastname', kind: 'text', access: 'open' },
  { name: 'lang', kind: 'text', access: 'open' },
];
/** No name is a word in the messages of devsh. */
const FIELDS: readonly (Pick<Field, 'name' | 'kind'> & { access: readonly Field['access'][] })[] = [
  { name: 'is_admin', kind: 'flag', access: ['open'] },
  { name: 'verbose', kind: 'flag', access: ['open', 'hidden'] },
  { name: 'quota', kind: 'number', access: ['open', 'hidden'] },
  { name: 'memo', kind: 'nullable', access: ['open', 'read-only'] },
  { name: 'labels', kind: 'list', access: ['open', 'read-only'] },
  { name: 'limits', kind: 'nested', access: ['open', 'read-only'] },
  { name: 'password', kind: 'text', access: ['hidden', 'masked', 'open'] },
  { name: 'login_shell', kind: 'text', access: ['open', 'hidden'] },
  { name: 'made_by', kind: 'text', access: ['read-only'] },
];

/** Lines that read, one for each way to compare devices. */
const READINGS = [
  'user list',
  'user list --json',
  'user list --format csv',
  'user list --fold',
  'user list --drift',
  'user list lang=de',
  'user show ann',
  'export user',
] as const;

const text = fc.constantFrom('blue', 'Ö-1', '007', 'null', 'true', '12', '', 'two words');
const LANGS = fc.constantFrom('de', 'en');

function heldValue({ name, kind }: Pick<Field, 'name' | 'kind'>): fc.Arbitrary<Json> {
  switch (kind) {
    case 'text':
      return name === 'lang' ? LANGS : name === 'password' ? fc.constantFrom('pw1', 'pw2') : text;
    case 'nullable':
      return fc.option(text.filter((one) => one !== ''));
    case 'flag':
      return fc.boolean();
    case 'number':
      return fc.integer({ min: 0, max: 30 });
    case 'list':
      return fc.uniqueArray(fc.constantFrom('red', 'green', 'blue'), { maxLength: 3 });
    case 'nested':
      return fc.record({ depth: fc.integer({ min: 1, max: 9 }), zone: fc.constantFrom('a', 'b') });
  }
}

function typedPair({ name, kind }: Field): fc.Arbitrary<[string, string]> {
  const pair = (values: fc.Arbitrary<string>, path = name): fc.Arbitrary<[string, string]> =>
    values.map((value): [string, string] => [path, value]);
  switch (kind) {
    case 'text':
      return pair(name === 'lang' ? LANGS : name === 'password' ? fc.constant('pw3') : text);
    case 'nullable':
      return pair(fc.constantFrom('blue', 'x y'));
    case 'flag':
      return pair(fc.constantFrom('true', 'false'));
    case 'number':
      return pair(fc.constantFrom('3', '31'));
    case 'list':
      return pair(fc.constantFrom('red,blue', 'green,white'));
    case 'nested':
      return fc.oneof(
        pair(fc.constantFrom('4', '5'), `${name}.depth`),
        pair(fc.constantFrom('c', 'b'), `${name}.zone`),
      );
  }
}

function typedFor(fields: readonly Field[]): fc.Arbitrary<Typed> {
  const open = fields.filter(({ access }) => access !== 'read-only');
  return fc
    .subarray([...open], { minLength: 1, maxLength: 3 })
    .chain((some) => fc.tuple(...some.map((field) => typedPair(field))))
    .map((pairs) => Object.fromEntries(pairs));
}

function rowFor(fields: readonly Field[]): fc.Arbitrary<Row> {
  const open = fields.filter(({ access }) => access !== 'read-only');
  const values = fc
    .subarray([...open], { minLength: 1, maxLength: 3 })
    .chain((some) =>
      fc.tuple(...some.map((field) => heldValue(field).map((value) => [field.name, value]))),
    )
    .map((pairs) => Object.fromEntries(pairs) as JsonObject);
  return fc.record({ key: fc.constantFrom(...USERS), values });
}

function lineFor(fields: readonly Field[]): fc.Arbitrary<Line> {
  const key = fc.constantFrom(...USERS);
  const typed = typedFor(fields);
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), key, typed }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('set' as const), key, typed }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('set where' as const), lang: LANGS, typed }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        words: fc.constantFrom(...READINGS),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('import' as const),
        rows: fc.uniqueArray(rowFor(fields), {
          minLength: 1,
          maxLength: 3,
          selector: (row) => row.key,
        }),
        isPruning: fc.boolean(),
      }),
    },
  );
}

/** Users of a device; some lack optional fields. */
function recordsFor(
  fields: readonly Field[],
  sparse: readonly string[],
): fc.Arbitrary<JsonObject[]> {
  const record = fc
    .tuple(...fields.map((field) => fc.tuple(heldValue(field), fc.boolean())))
    .map((values): JsonObject => {
      const pairs = fields.flatMap(({ name }, index): [string, Json][] => {
        const [value = null, isLeftOut = false] = values[index] ?? [];
        return sparse.includes(name) && isLeftOut ? [] : [[name, value]];
      });
      return Object.fromEntries(pairs);
    });
  return fc
    .uniqueArray(fc.constantFrom(...USERS.slice(0, 4)), { minLength: 2, maxLength: 4 })
    .chain((names) =>
      fc.tuple(...names.map((username) => record.map((one) => ({ username, ...one })))),
    );
}

const model: fc.Arbitrary<Model> = fc
  .record({
    way: fc.constantFrom<Way>('form POST', 'JSON POST', 'JSON PUT', 'JSON PATCH'),
    leftOut: fc.constantFrom('erased' as const, 'kept' as const),
    tells: fc.constantFrom('nothing' as const, 'methods' as const, 'fields' as const),
    idField: fc.constantFrom('uuid' as const, 'id' as const),
    more: fc.subarray([...FIELDS], { minLength: 1, maxLength: 4 }),
    pick: fc.nat(5),
  })
  .map(({ more, pick, ...rest }) => {
    // The documented name is uuid.
    const idField = rest.way === 'form POST' ? 'uuid' : rest.idField;
    const own = more.map(({ name, kind, access }): Field => {
      return { name, kind, access: access[pick % access.length] ?? 'open' };
    });
    return { ...rest, idField, fields: [...DOCUMENTED, ...own] };
  });

export const anyCase: fc.Arbitrary<Case> = model.chain((made) => {
  const sparse = fc.subarray(made.fields.slice(3).map(({ name }) => name));
  const presence = fc.oneof(
    { weight: 3, arbitrary: fc.constant('here' as const) },
    { weight: 2, arbitrary: fc.constant('forbidding' as const) },
    { weight: 1, arbitrary: fc.constantFrom('silent' as const, 'leaving' as const) },
  );
  const records = sparse.chain((names) => recordsFor(made.fields, names));
  const first = fc.record({ presence: fc.constant('here' as const), records });
  const others = fc.array(fc.record({ presence, records }), { maxLength: 2 });
  return fc.record({
    model: fc.constant(made),
    isConfigured: fc.boolean(),
    devices: fc.tuple(first, others).map(([one, more]): DeviceSession[] => [one, ...more]),
    lines: fc
      .tuple(fc.array(lineFor(made.fields), { minLength: 1, maxLength: 2 }), fc.boolean())
      .map(([lines, isUndone]): Line[] => (isUndone ? [...lines, { kind: 'undo' }] : lines)),
    isJson: fc.boolean(),
    allowsLoss: fc.boolean(),
  });
});
