import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change } from '../../src/change/change.ts';
import { lossReason } from '../../src/change/data-loss.ts';
import type { Run } from '../../src/change/journal.ts';
import { judgedStep, undoContext } from './steps.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { undoOf } from '../../src/change/undo.ts';
import type { StepResult } from '../../src/change/verdict.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { WriteRequest } from '../../src/device/encode.ts';
import { isStored } from '../../src/device/equality.ts';
import { parseJson } from '../../src/device/json.ts';
import type { Profile, WriteFacts } from '../../src/device/profile.ts';
import {
  type DeviceRecord,
  exactNumber,
  isValueObject,
  jsonText,
  type Value,
} from '../../src/device/record.ts';
import type { Step } from '../../src/change/step.ts';
import { rounds } from '../rounds.ts';

/** How a device takes changes, and what it does to a field that one leaves out. */
interface Speech {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly encoding: 'form' | 'json';
  readonly leftOut: 'kept' | 'erased';
  /** What says null in its forms; stated in the profile unless `isLearned`. */
  readonly nullAs: 'null' | 'empty' | 'left_out';
  readonly isLearned: boolean;
}

const speech: fc.Arbitrary<Speech> = fc.record({
  method: fc.constantFrom('POST', 'PUT', 'PATCH'),
  encoding: fc.constantFrom('form', 'json'),
  leftOut: fc.constantFrom('kept', 'erased'),
  nullAs: fc.constantFrom('null', 'empty', 'left_out'),
  isLearned: fc.boolean(),
});

function profileOf({ method, encoding, leftOut, nullAs, isLearned }: Speech): Profile {
  const { create } = documentedProfile;
  const words = isLearned ? {} : { leftOut, ...(encoding === 'form' && { nullAs }) };
  const path = method === 'POST' ? '{collection}' : '{item}';
  const update: WriteFacts = {
    ...{ ...create, ...words, method, encoding, path },
    selector: method === 'POST' ? 'id' : 'none',
    record: method === 'PATCH' ? 'changes' : 'whole',
  };
  return {
    ...documentedProfile,
    resources: { user: { keyField: 'username', fields: {} } },
    create: { ...create, encoding, ...(!isLearned && encoding === 'form' && { nullAs }) },
    update,
    origins: {},
  };
}

const numbers = fc
  .constantFrom('0', '-0', '1e-400', '0.10', '9007199254740993', '1.5', '-12', '1E2')
  .map(exactNumber);

const nestedValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'value' },
    fc.constantFrom<Value>(null, '', [], {}, true, 'de', 'null', ' x ', 'x'.repeat(3_000)),
    numbers,
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('city', 'zip'), tie('value'), { maxKeys: 2 }),
  ),
})).value;

/** Devices with forms hold texts: their types cannot be told from a form. */
const formValue = fc.oneof(
  fc.constantFrom<Value>(null, '', 'de', 'fr', 'two words', []),
  fc.dictionary(fc.constantFrom('city', 'zip'), fc.constantFrom(null, '', 'x'), { maxKeys: 2 }),
  fc.constant<Value>(['a']),
);

const FIELDS = ['memo', 'limits', 'roles'] as const;

const recordOf = (value: fc.Arbitrary<Value>): fc.Arbitrary<DeviceRecord> =>
  fc.record({ memo: value, limits: value, roles: value }, { requiredKeys: [] });

/** A device with two users that stores exactly what its encoding says. */
class Store {
  readonly #speech: Speech;
  records: readonly DeviceRecord[];

  constructor(given: Speech, bob: DeviceRecord) {
    this.#speech = given;
    this.records = [
      { uuid: 'u1', username: 'bob', ...bob },
      { uuid: 'u2', username: 'eve', memo: 'x', limits: { city: 'y' }, roles: ['a', 'b'] },
    ];
  }

  get bob(): DeviceRecord | undefined {
    return this.records.find(({ username }) => username === 'bob');
  }

  take(step: Step): void {
    const body = this.#body(step.request);
    if (step.action === 'delete') {
      this.records = this.records.filter(({ uuid }) => uuid !== step.before?.['uuid']);
    } else if (step.action === 'add') {
      this.records = [...this.records, { ...body, uuid: 'u9' }];
    } else {
      const isErasing = step.request.method !== 'PATCH' && this.#speech.leftOut === 'erased';
      this.records = this.records.map((held) => {
        if (held['uuid'] !== step.before?.['uuid']) return held;
        const own = { uuid: held['uuid'] ?? '', username: held['username'] ?? '' };
        return { ...(isErasing ? own : held), ...body, ...own };
      });
    }
  }

  #body({ form, json = {} }: WriteRequest): DeviceRecord {
    if (form === undefined) return parseJson(jsonText(json)) as DeviceRecord;
    const body: Record<string, Value> = {};
    for (const [name, text] of form) {
      const [field = name, part] = name.split('.');
      const { nullAs } = this.#speech;
      const isNull =
        field !== 'username' &&
        ((nullAs === 'null' && text === 'null') || (nullAs === 'empty' && text === ''));
      const value = isNull ? null : text;
      const before = body[field];
      if (part !== undefined) body[field] = { ...(isValueObject(before) && before), [part]: value };
      else if (field === 'roles' && value !== null) body[field] = [...listOf(before), value];
      else body[field] = value;
    }
    return body;
  }
}

const listOf = (value: Value | undefined): readonly Value[] =>
  Array.isArray(value) ? (value as readonly Value[]) : [];

/** Sends a change, unless it is refused as a loss. Returns the verdict; undefined if it was refused. */
function perform(profile: Profile, store: Store, change: Change): StepResult[] | undefined {
  const { device, steps, settled } = planDevice({ device: DEVICE, profile }, change, store.records);
  if (steps.some((step) => lossReason(step) !== undefined)) return undefined;
  const ended = steps.map((step): StepResult => {
    const before = store.records;
    // As it comes back from the journal.
    const kept = parseJson(jsonText({ ...step } as never)) as unknown as Step;
    store.take(kept);
    const { action, resource, key } = step;
    const end = judgedStep(profile, kept, { kind: 'accepted' }, { before, after: store.records });
    return { device, action, resource, key, ...end };
  });
  lastSteps = steps;
  return [...settled, ...ended];
}

const DEVICE = { name: 'fw1', address: '10.0.0.5:443' };
let lastSteps: readonly Step[] = [];

/** `differs` and `failed` claim nothing. */
function expectTrue(results: readonly StepResult[], before: Held, after: Held, wanted: Held): void {
  for (const { verdict } of results) {
    if (verdict === 'no effect') expectSame(after, before);
    if (verdict === 'done' || verdict === 'unchanged') expectSame(after, wanted);
    if (verdict === 'unchanged') expectSame(after, before);
  }
}

type Held = DeviceRecord | undefined;

function expectSame(held: Held, wanted: Held): void {
  const [is, was] = [held, wanted].map((record) => spelled({ ...record, uuid: '' }));
  expect(is).toEqual(was);
}

/** Written out, independent of the equality of devsh: names in order, numbers by their digits. */
function spelled(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(spelled).join()}]`;
  if (isValueObject(value)) {
    const parts = Object.entries(value).map(([name, part]) => `${name}:${spelled(part)}`);
    return `{${parts.sort().join()}}`;
  }
  const text = jsonText(value);
  return text === '-0' ? '0' : text;
}

const only = (record: Held, field: string): DeviceRecord =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([name]) => name === field));

const anyCase = speech.chain((given) => {
  const value = given.encoding === 'form' ? formValue : nestedValue;
  return fc.record({
    speech: fc.constant(given),
    bob: recordOf(value),
    fields: recordOf(value),
    action: fc.constantFrom('set' as const, 'delete' as const, 'add' as const),
  });
});

test('what is said of a write and of its undo is what the device holds', () => {
  const counts = { sent: 0, undone: 0, refused: 0 };
  const property = fc.property(anyCase, ({ speech: given, bob, fields, action }) => {
    const profile = profileOf(given);
    const store = new Store(given, bob);
    if (action === 'add') store.records = store.records.slice(1);
    const before = store.bob;
    const change = changeFor(action, fields);
    const results = perform(profile, store, change);
    if (results === undefined) {
      counts.refused += 1;
      expectSame(store.bob, before);
      return;
    }
    const after = store.bob;
    const asked = action === 'delete' ? undefined : { ...before, ...fields };
    for (const { verdict } of results) {
      if (verdict === 'no effect') expectSame(after, before);
      if (verdict !== 'done' && verdict !== 'unchanged') continue;
      for (const [field, sent] of Object.entries(asked ?? {})) {
        const isSpelled = Object.hasOwn(fields, field) && isHeld(given, sent, after?.[field]);
        if (!isSpelled) expectSame(only(after, field), { [field]: sent });
      }
    }
    if (lastSteps.length === 0 || results.length !== lastSteps.length) return;
    counts.sent += 1;

    const [undo] = undoOf(runOf(lastSteps, results), () => undoContext(profile));
    if (undo === undefined) return;
    for (const back of undo.changes) {
      const ended = perform(profile, store, back);
      if (ended === undefined) counts.refused += 1;
      else {
        counts.undone += 1;
        expectTrue(ended, after, store.bob, before);
      }
    }
  });
  fc.assert(property, { numRuns: rounds(3_000) });
  // Refusing everything would prove nothing.
  expect(counts.undone).toBeGreaterThan(counts.refused);
});

/** In a form an empty text may be the word for null, and a part of an object may stay. */
function isHeld({ encoding }: Speech, sent: Value, held: Value | undefined): boolean {
  if (isStored(sent, held)) return true;
  if (encoding === 'json') return false;
  const isEmpty = (value: Value | undefined): boolean => value === null || value === '';
  return (isEmpty(sent) && isEmpty(held)) || (isValueObject(sent) && isValueObject(held));
}

function changeFor(action: 'add' | 'set' | 'delete', fields: DeviceRecord): Change {
  const resource = 'user';
  const target = { kind: 'key', key: 'bob' } as const;
  const asJson = [...FIELDS];
  if (action === 'add') return { action, resource, fields: { username: 'bob', ...fields }, asJson };
  if (action === 'set') return { action, resource, target, fields, asJson };
  return { action, resource, target };
}

function runOf(steps: readonly Step[], results: readonly StepResult[]): Run {
  const states = results.map((result) => ({ kind: 'ended', at: '', sentAt: '', result }) as const);
  const plan = { run: 'r', devices: [{ device: DEVICE, steps, settled: [] }] };
  return { plan, states: new Map([[DEVICE.name, states]]) } as unknown as Run;
}

test('a secret that is shown as null is not sent back, and the plan says that it may be erased', () => {
  const profile = profileOf({
    ...{ method: 'PUT', encoding: 'json', leftOut: 'erased' },
    ...{ nullAs: 'null', isLearned: false },
  });
  const change: Change = {
    ...{ action: 'set', resource: 'user', target: { kind: 'key', key: 'bob' } },
    fields: { memo: 'x' },
  };
  const records = [{ uuid: 'u1', username: 'bob', memo: '', password: null }];
  const { steps } = planDevice({ device: DEVICE, profile }, change, records);
  expect(steps).toMatchObject([{ effects: { mayErase: ['password'] } }]);
  expect(steps[0]?.request.json).not.toHaveProperty('password');
});
