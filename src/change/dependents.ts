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
  isValueList,
  isValueObject,
  nestedValue,
  type Value,
  valueText,
} from '../device/record.ts';
import { NAMED } from './data-loss.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { someOf } from '../text/one-line.ts';
import { otherRecordsOf, pairRecords } from './pairing.ts';
import { recordName } from './plan.ts';
import { noteOf, type StepEnd } from './verdict.ts';
import { unlessFailed } from '../errors.ts';
import type { Dependents, Step } from './step.ts';

/*
 * A delete may take records of other resources along: those below the record, and those that the profile states
 * (`removes`). What else refers to the record stays, and may change.
 */

interface Dependent {
  readonly resource: string;
  readonly isOf: (step: Step, record: DeviceRecord) => boolean;
  /** Whether a record shows whose it is. */
  readonly isClear: (record: DeviceRecord) => boolean;
  /** They are not deleted. */
  readonly refers?: true;
}

function dependentsOf(profile: Profile, resource: string): Dependent[] {
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
  return [
    ...below.map((name): Dependent => {
      const [field = '', { keyField }] = [placeField(profile, name), resourceOf(profile, name)];
      return {
        resource: name,
        isOf: ({ before = {} }, record) =>
          valueText(record[field]) ===
          `${nameInPath(profile, resource, before)}/${valueText(record[keyField])}`,
        isClear: () => true,
      };
    }),
    ...Object.entries(removes).map(([name, field]): Dependent => ({
      resource: name,
      isOf: (step, record) => names(profile, step, nestedValue(record, field), true),
      isClear: (record) => nestedValue(record, field) !== undefined,
    })),
    ...others.map((name): Dependent => ({
      resource: name,
      isOf: (step, record) =>
        Object.entries(record).some(
          ([field, value]) =>
            ![...profile.idFields, keyFieldOf(profile, name, [record])].includes(field) &&
            names(profile, step, value, lettersOf(field).startsWith(stem)),
        ),
      isClear: () => true,
      refers: true,
    })),
  ];
}

/**
 * Whether a value is the key or the id of the record, alone, in a list, or in an object.
 *
 * @param isSure its field is named after the resource (`role`, `roles`, `role_id`): a number elsewhere may mean anything
 */
function names(profile: Profile, step: Step, value: Value | undefined, isSure: boolean): boolean {
  if (isValueList(value)) return value.some((one) => names(profile, step, one, isSure));
  if (isValueObject(value)) {
    const fields = [step.keyField, ...profile.idFields];
    return fields.some((field) => names(profile, step, value[field], isSure));
  }
  const text = valueText(value);
  if (text === '' || (!isSure && /^\d+$/.test(text))) return false;
  return [step.key, idOf(profile, step.before ?? {})].includes(text);
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
  const planned: Step[] = [];
  for (const step of steps) {
    const takes: Dependents[] = [];
    for (const one of step.action === 'delete' ? dependentsOf(profile, step.resource) : []) {
      const { resource, refers } = one;
      if (!read.has(resource)) read.set(resource, await readAll(reader, one));
      const own = read.get(resource)?.filter((record) => one.isOf(step, record));
      if (own?.length === 0 || (own === undefined && refers)) continue;
      const keyField = keyFieldOf(profile, resource, own);
      const keys = (own ?? [])
        .slice(0, NAMED)
        .map((record) => shownKey(keyField, record[keyField]));
      takes.push({ resource, count: own?.length, keys, refers });
    }
    planned.push(takes.length === 0 ? step : { ...step, takes });
  }
  return planned;
}

/** Reads what a delete concerns beside its record just before it. `drift`: there is more than the plan names. */
export async function watchAlong(
  reader: Reader,
  step: Step,
): Promise<{ drift?: string | undefined; check(end: StepEnd): Promise<StepEnd> }> {
  const before = new Map<Dependent, readonly DeviceRecord[] | undefined>();
  let drift: string | undefined;
  for (const one of dependentsOf(reader.session.profile, step.resource)) {
    const planned = step.takes?.find(({ resource }) => resource === one.resource);
    if (one.refers && planned === undefined) continue;
    const records = await readAll(reader, one);
    before.set(one, records);
    const count = records?.filter((record) => one.isOf(step, record)).length ?? 0;
    const known = planned === undefined ? 0 : planned.count;
    if (!one.refers && known !== undefined && count > known) {
      drift = `deleting ${recordName(step)} also deletes ${count} of ${one.resource}, and the plan names ${known}`;
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
    const others = records?.filter((record) => refers || !one.isOf(step, record));
    const after = others?.length === 0 ? [] : await readAll(reader, one);
    if (others === undefined || after === undefined) {
      unread.push(resource);
      continue;
    }
    const about = { resource, keyField: keyFieldOf(profile, resource, records) };
    const pairing = pairRecords(profile, about, others, after);
    const found = otherRecordsOf(profile, about, others, pairing);
    // A device may delete what belongs to a deleted record, as its tokens; accounts are nobody's.
    const expected =
      resource === profile.accounts ? [] : found.lost.filter((record) => one.isOf(step, record));
    isOther ||= found.lost.length > expected.length || found.changed.length > 0;
    gone.push(...found.gone.map((key) => `${resource} ${key}`));
    changed.push(...found.changed.map((key) => `${resource} ${key}`));
  }
  const texts = [
    ...(gone.length > 0 ? [`also gone: ${someOf(gone, NAMED)}`] : []),
    ...(changed.length > 0 ? [`also changed: ${someOf(changed, NAMED)}`] : []),
    ...unread.map((resource) => `devsh cannot read what became of other ${resource}`),
  ];
  if (texts.length === 0) return end;
  const verdict = isOther && end.verdict === 'done' ? 'differs' : end.verdict;
  return { ...end, verdict, note: noteOf(end.note, ...texts) };
}
