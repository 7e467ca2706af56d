import { lettersOf, shownKey } from '../device/sensitive-fields.ts';
import {
  idOf,
  isSingle,
  keyFieldOf,
  placeField,
  type Profile,
  resourceOf,
} from '../device/profile.ts';
import { nameInPath } from '../device/record-path.ts';
import {
  type DeviceRecord,
  grouped,
  isValueList,
  isValueObject,
  nestedValue,
  type Value,
  valueText,
} from '../device/record.ts';
import { NAMED } from './data-loss.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import type { Note } from '../output/sentences.ts';
import { someOf } from '../text/one-line.ts';
import { otherRecordsOf, pairRecords } from './pairing.ts';
import { recordName } from './plan.ts';
import { type StepEnd, withNotes } from './verdict.ts';
import { unlessFailed } from '../errors.ts';
import type { Dependents, Step } from './step.ts';

/*
 * A delete may take records of other resources along: those below the record, and those that the profile states
 * (`removes`). What else refers to the record stays, and may change.
 */

interface Dependent {
  readonly resource: string;
  /** The texts by which a record names what it belongs or refers to. */
  readonly names: (record: DeviceRecord) => readonly string[];
  /** The texts that name the record of a step. */
  readonly namesOf: (step: Step) => readonly string[];
  /** Whether a record shows whose it is. */
  readonly isClear: (record: DeviceRecord) => boolean;
  /** They are not deleted. */
  readonly refers?: true;
}

function dependentsOf(profile: Profile, { resource, keyField }: Step): Dependent[] {
  const { removes = {} } = resourceOf(profile, resource);
  const below = Object.keys(profile.resources).filter(
    (name) => profile.resources[name]?.parent === resource,
  );
  const others = Object.keys(profile.resources).filter(
    (name) =>
      ![resource, ...below, ...Object.keys(removes)].includes(name) &&
      profile.resources[name]?.parent === undefined &&
      !isSingle(profile, name),
  );
  const stem = lettersOf(resource);
  const fields = [keyField, ...profile.idFields];
  const namesOf = ({ key, before = {} }: Step): string[] => [key, idOf(profile, before) ?? key];
  return [
    ...below.map((name): Dependent => {
      const [field = '', own] = [placeField(profile, name), resourceOf(profile, name).keyField];
      return {
        resource: name,
        names: (record) => {
          const [place, end] = [valueText(record[field]), `/${valueText(record[own])}`];
          return place.endsWith(end) ? [place.slice(0, -end.length)] : [];
        },
        namesOf: ({ before = {} }) => [nameInPath(profile, resource, before)],
        isClear: () => true,
      };
    }),
    ...Object.entries(removes).map(([name, field]): Dependent => ({
      resource: name,
      names: (record) => namesIn(fields, nestedValue(record, field), true),
      namesOf,
      isClear: (record) => nestedValue(record, field) !== undefined,
    })),
    ...others.map((name): Dependent => ({
      resource: name,
      names: (record) => {
        const own = [...profile.idFields, keyFieldOf(profile, name, [record])];
        return Object.entries(record).flatMap(([field, value]) =>
          own.includes(field) ? [] : namesIn(fields, value, lettersOf(field).startsWith(stem)),
        );
      },
      namesOf,
      isClear: () => true,
      refers: true,
    })),
  ];
}

/**
 * What a value may name by a key or an id, alone, in a list, or in an object.
 *
 * @param fields the key and the ids of what is named, in an object
 * @param isSure its field is named after the resource (`role`, `roles`, `role_id`): a number elsewhere may mean anything
 */
function namesIn(fields: readonly string[], value: Value | undefined, isSure: boolean): string[] {
  if (isValueList(value)) return value.flatMap((one) => namesIn(fields, one, isSure));
  if (isValueObject(value)) return fields.flatMap((one) => namesIn(fields, value[one], isSure));
  const text = valueText(value);
  return text === '' || (!isSure && /^\d+$/.test(text)) ? [] : [text];
}

function isOf(one: Dependent, step: Step, record: DeviceRecord): boolean {
  const names = one.namesOf(step);
  return one.names(record).some((name) => names.includes(name));
}

interface Reader {
  readonly session: DeviceSession;
  readonly access: Access;
  readonly signal: AbortSignal;
}

/** Undefined if they cannot be read, or if none shows whose it is: the plan says so. */
async function readAll(
  { session, access, signal }: Reader,
  { resource, isClear }: Dependent,
): Promise<readonly DeviceRecord[] | undefined> {
  const records = await unlessFailed(session.list(access, resource, signal));
  return records?.length === 0 || records?.some(isClear) === true ? records : undefined;
}

/** The steps with what each delete also deletes, and what refers to its record; reads a resource once. */
export async function withDependents(reader: Reader, steps: readonly Step[]): Promise<Step[]> {
  const { profile } = reader.session;
  const read = new Map<string, readonly DeviceRecord[] | undefined>();
  const indexes = new Map<string, Index>();
  const planned: Step[] = [];
  for (const step of steps) {
    const takes: Dependents[] = [];
    for (const one of step.action === 'delete' ? dependentsOf(profile, step) : []) {
      const { resource, refers } = one;
      if (!read.has(resource)) read.set(resource, await readAll(reader, one));
      const records = read.get(resource);
      const about = `${step.resource} ${resource}`;
      const index = indexes.get(about) ?? indexOf(one, records ?? []);
      indexes.set(about, index);
      const own = records && [
        ...new Set(one.namesOf(step).flatMap((name) => index.get(name) ?? [])),
      ];
      if (own?.length === 0 || (own === undefined && refers)) continue;
      const keyField = keyFieldOf(profile, resource, own);
      const keys = (own ?? [])
        .slice(0, NAMED)
        .map((record) => shownKey(keyField, record[keyField]));
      takes.push({ resource, count: own?.length, keys, refers });
    }
    planned.push(takes.length === 0 ? step : { ...step, effects: { ...step.effects, takes } });
  }
  return planned;
}

type Index = ReadonlyMap<string, readonly DeviceRecord[]>;

/** A plan may delete thousands of records. */
function indexOf(one: Dependent, records: readonly DeviceRecord[]): Index {
  const named = records.flatMap((record) =>
    [...new Set(one.names(record))].map((name) => ({ name, record })),
  );
  const groups = grouped(named, ({ name }) => name);
  return new Map([...groups].map(([name, of]) => [name, of.map(({ record }) => record)]));
}

/** Reads what a delete concerns beside its record just before it. `drift`: there is more than the plan names. */
export async function watchAlong(
  reader: Reader,
  step: Step,
): Promise<{ drift?: Note | undefined; check(end: StepEnd): Promise<StepEnd> }> {
  const before = new Map<Dependent, readonly DeviceRecord[] | undefined>();
  let drift: Note | undefined;
  for (const one of dependentsOf(reader.session.profile, step)) {
    const planned = step.effects.takes?.find(({ resource }) => resource === one.resource);
    if (one.refers && planned === undefined) continue;
    const records = await readAll(reader, one);
    before.set(one, records);
    const count = records?.filter((record) => isOf(one, step, record)).length ?? 0;
    const known = planned === undefined ? 0 : planned.count;
    if (!one.refers && known !== undefined && count > known) {
      const about = { name: recordName(step), resource: one.resource, count, known };
      drift = { code: 'loss', is: 'takes-more', ...about };
    }
  }
  return { drift, check: (end) => withOthers(reader, step, before, end) };
}

/** Other records that are gone with it, or have changed. */
async function withOthers(
  reader: Reader,
  step: Step,
  before: ReadonlyMap<Dependent, readonly DeviceRecord[] | undefined>,
  end: StepEnd,
): Promise<StepEnd> {
  const { profile } = reader.session;
  const gone: string[] = [];
  const changed: string[] = [];
  const unread: string[] = [];
  let isOther = false;
  for (const [one, records] of before) {
    const { resource, refers } = one;
    const others = records?.filter((record) => refers || !isOf(one, step, record));
    const after = others?.length === 0 ? [] : await readAll(reader, one);
    if (others === undefined || after === undefined) {
      unread.push(resource);
      continue;
    }
    const about = { profile, resource, keyField: keyFieldOf(profile, resource, records) };
    const pairing = pairRecords(about, others, after);
    const found = otherRecordsOf(profile, about, others, pairing);
    // A device may delete what belongs to a deleted record, as its tokens; accounts are nobody's.
    const expected =
      resource === profile.accounts ? [] : found.lost.filter((record) => isOf(one, step, record));
    isOther ||= found.lost.length > expected.length || found.changed.length > 0;
    gone.push(...found.gone.map((key) => `${resource} ${key}`));
    changed.push(...found.changed.map((key) => `${resource} ${key}`));
  }
  const verdict = isOther && end.verdict === 'done' ? 'differs' : end.verdict;
  return withNotes(
    { ...end, verdict },
    { code: 'loss', is: 'also-gone', names: someOf(gone, NAMED) },
    { code: 'loss', is: 'also-changed', names: someOf(changed, NAMED) },
    ...unread.map((resource): Note => ({ code: 'loss', is: 'unread-others', resource })),
  );
}
