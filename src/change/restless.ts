import { hasPositionalIds, uncomparedFields } from '../device/observation.ts';
import { idOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import { changesSince } from './compare.ts';
import { pairRecords } from './pairing.ts';
import { recordName, type Step } from './plan.ts';
import { deleteRequest, updateRequest } from '../device/encode.ts';
import { find } from './find-record.ts';

type About = Pick<Step, 'keyField' | 'resource' | 'asked'>;

/**
 * Fields that changed from one reading to the next although nobody asked for it, and that may be
 * counters or clocks: they hold digits, and the API document does not tell of them.
 */
export function suspectFields(
  profile: Profile,
  { keyField, resource, asked }: About,
  earlier: readonly DeviceRecord[],
  later: readonly DeviceRecord[],
): string[] {
  const known = profile.resources[resource];
  const ignored = [
    keyField,
    ...profile.idFields,
    ...uncomparedFields(profile, resource),
    ...(known?.fields ?? []),
    ...(known?.choiceFields ?? []),
    ...Object.keys(asked),
  ];
  const { heirs } = pairRecords(profile, { keyField, resource }, earlier, later);
  const fields = [...heirs].flatMap(([record, heir]) =>
    changesSince(record, heir, ignored)
      .filter(({ sent, held }) => isReading(sent) && isReading(held) && !isTimeStamp(sent))
      .map(({ field }) => field),
  );
  return [...new Set(fields)];
}

/**
 * Fields that changed, and changed again while nothing was sent: volatile ones. What a request, or
 * somebody else, has changed stays as it is then.
 */
export function restlessFields(
  profile: Profile,
  about: About,
  [first, second, third]: readonly [
    readonly DeviceRecord[],
    readonly DeviceRecord[],
    readonly DeviceRecord[],
  ],
): string[] {
  const suspects = suspectFields(profile, about, first, second);
  if (suspects.length === 0) return [];
  return suspectFields(profile, about, second, third).filter((field) => suspects.includes(field));
}

/** Whether a value may be one of a counter or a clock: `7`, `"3 days, 2:11"`. */
function isReading(value: DeviceRecord[string]): boolean {
  return typeof value !== 'boolean' && typeof value !== 'object' && /\d/.test(valueText(value));
}

/**
 * Whether ids are places in the list: in words, a record that now has an id which another one had
 * before; undefined when there is none. Only natural keys that one record has are looked at.
 */
export function movedId(
  profile: Profile,
  { keyField, resource }: Pick<Step, 'keyField' | 'resource'>,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): string | undefined {
  if (profile.idFields.includes(keyField)) return undefined;
  const [idsBefore, idsAfter] = [before, after].map((records) =>
    idsByKey(profile, keyField, records),
  );
  const holders = new Set(idsBefore?.values());
  for (const [key, id] of idsBefore ?? []) {
    const now = idsAfter?.get(key);
    if (id !== undefined && now !== undefined && now !== id && holders.has(now)) {
      return `${recordName({ resource, key })} had the id ${id} and has ${now} now`;
    }
  }
  return undefined;
}

/** Natural keys that several records have stand for none of them. */
function idsByKey(
  profile: Profile,
  keyField: string,
  records: readonly DeviceRecord[],
): Map<string, string | undefined> {
  const ids = new Map<string, string | undefined>();
  for (const record of records) {
    const key = valueText(record[keyField]);
    if (key !== '') ids.set(key, ids.has(key) ? undefined : idOf(profile, record));
  }
  return ids;
}

/**
 * A step with its record as it is named now: where ids are places in the list, those of the plan are
 * worth nothing once another record has gone. The same step when nothing has moved.
 */
export function readdressed(profile: Profile, step: Step, records: readonly DeviceRecord[]): Step {
  const { action, resource, before, asked } = step;
  if (before === undefined || !hasPositionalIds(profile)) return step;
  const held = find(profile, step, records, before);
  if (held === undefined || idOf(profile, held) === idOf(profile, before)) return step;
  if (action === 'delete') {
    return { ...step, before: held, request: deleteRequest(profile, resource, held) };
  }
  return {
    ...step,
    before: held,
    after: { ...held, ...asked },
    request: updateRequest(profile, resource, held, asked),
  };
}
