import { deleteRequest, updateRequest } from '../device/encode.ts';
import { hasPositionalIds } from '../device/observation.ts';
import { idOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { find } from './find-record.ts';
import type { Step } from './plan.ts';
import { recordName } from './record-name.ts';

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
