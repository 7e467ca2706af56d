import { shownKey } from '../device/sensitive-fields.ts';
import { idOf, keyFieldOf, placeField, type Profile, resourceOf } from '../device/profile.ts';
import { nameInPath } from '../device/record-path.ts';
import { type DeviceRecord, nestedValue, valueText } from '../device/record.ts';
import { NAMED } from './data-loss.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { someOf } from '../text/one-line.ts';
import { recordName } from './plan.ts';
import { noteOf, type StepEnd } from './verdict.ts';
import { unlessFailed } from '../errors.ts';
import type { Dependents, Step } from './step.ts';

/*
 * A delete may take records of other resources along: those below the record, and those that the profile
 * states (`removes`).
 */

interface Dependent {
  readonly resource: string;
  readonly isOf: (step: Step, record: DeviceRecord) => boolean;
  /** Whether a record shows whose it is. */
  readonly isClear: (record: DeviceRecord) => boolean;
}

function dependentsOf(profile: Profile, resource: string): Dependent[] {
  const { removes = {} } = resourceOf(profile, resource);
  const below = Object.keys(profile.resources).filter(
    (name) => profile.resources[name]?.parent === resource,
  );
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
      isOf: ({ key, before = {} }, record) =>
        [key, idOf(profile, before)].includes(valueText(nestedValue(record, field))),
      isClear: (record) => nestedValue(record, field) !== undefined,
    })),
  ];
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

/** The steps with what each delete also deletes; reads a resource once. */
export async function withDependents(reader: Reader, steps: readonly Step[]): Promise<Step[]> {
  const { profile } = reader.session;
  const read = new Map<string, readonly DeviceRecord[] | undefined>();
  const planned: Step[] = [];
  for (const step of steps) {
    const takes: Dependents[] = [];
    for (const one of step.action === 'delete' ? dependentsOf(profile, step.resource) : []) {
      const { resource } = one;
      if (!read.has(resource)) read.set(resource, await readAll(reader, one));
      const own = read.get(resource)?.filter((record) => one.isOf(step, record));
      const keyField = keyFieldOf(profile, resource, own);
      const keys = (own ?? [])
        .slice(0, NAMED)
        .map((record) => shownKey(keyField, record[keyField]));
      if (own?.length !== 0) takes.push({ resource, count: own?.length, keys });
    }
    planned.push(takes.length === 0 ? step : { ...step, takes });
  }
  return planned;
}

/** Reads what a delete also deletes just before it. `drift`: there is more than the plan names. */
export async function watchAlong(
  reader: Reader,
  step: Step,
): Promise<{ drift?: string | undefined; check(end: StepEnd): Promise<StepEnd> } | undefined> {
  const dependents =
    step.action === 'delete' ? dependentsOf(reader.session.profile, step.resource) : [];
  const before = new Map<Dependent, readonly DeviceRecord[] | undefined>();
  let drift: string | undefined;
  for (const one of dependents) {
    const records = await readAll(reader, one);
    before.set(one, records);
    const count = records?.filter((record) => one.isOf(step, record)).length ?? 0;
    const planned = step.takes?.find(({ resource }) => resource === one.resource);
    const known = planned === undefined ? 0 : planned.count;
    if (known !== undefined && count > known) {
      drift = `deleting ${recordName(step)} also deletes ${count} of ${one.resource}, and the plan names ${known}`;
    }
  }
  return { drift, check: (end) => withGone(reader, step, before, end) };
}

/** Records that are gone and do not belong to the deleted one. */
async function withGone(
  reader: Reader,
  step: Step,
  before: ReadonlyMap<Dependent, readonly DeviceRecord[] | undefined>,
  end: StepEnd,
): Promise<StepEnd> {
  const gone: string[] = [];
  const unread: string[] = [];
  for (const [one, records] of before) {
    const others = records?.filter((record) => !one.isOf(step, record));
    const after = others?.length === 0 ? [] : await readAll(reader, one);
    if (others === undefined || after === undefined) {
      unread.push(one.resource);
      continue;
    }
    const keyField = keyFieldOf(reader.session.profile, one.resource, records);
    const left = new Set(after.map((record) => shownKey(keyField, record[keyField])));
    const keys = others.map((record) => shownKey(keyField, record[keyField]));
    gone.push(...keys.filter((key) => !left.has(key)).map((key) => `${one.resource} ${key}`));
  }
  const texts = [
    ...(gone.length > 0 ? [`also gone, and not named in the plan: ${someOf(gone, NAMED)}`] : []),
    ...unread.map((resource) => `devsh cannot read whether any other ${resource} is gone`),
  ];
  if (texts.length === 0) return end;
  const verdict = gone.length > 0 && end.verdict === 'done' ? 'differs' : end.verdict;
  return { ...end, verdict, note: noteOf(end.note, ...texts) };
}
