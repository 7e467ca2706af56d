import { documentedProfile } from '../../device/built-in-profiles.ts';
import { isSingle, keyFieldOf, saidSingle, type Profile } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { valueText } from '../../device/value-text.ts';
import { DevshError } from '../../errors.ts';
import { fieldsIn, parseFilter, parseFilterWords, type Filter } from '../../fleet/filter.ts';
import type { FleetCall } from '../../fleet/fleet.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import type { Options } from '../grammar/options.ts';
import { quoteWord, type Word } from '../grammar/parse.ts';

/** What a command makes of the records of each device, as part of reading it. */
export type Refine = NonNullable<FleetCall['refine']>;

/** The fields that a line asks for by name. */
export function fieldsAsked(
  { columns = [], sort = [] }: Partial<Options<'columns' | 'sort'>>,
  filter: Filter | undefined,
): string[] {
  const named = [...columns, ...sort.map((field) => field.replace(/^-/, ''))];
  return [...named.filter((field) => field !== 'device'), ...(filter ? fieldsIn(filter) : [])];
}

/** The records in full where the list leaves out a field that is asked for; else as they are. */
export async function withFields(
  call: Call,
  member: Member,
  resource: string,
  records: readonly DeviceRecord[],
  fields: readonly string[],
): Promise<readonly DeviceRecord[]> {
  const isListed = (field: string): boolean =>
    records.some((record) => Object.hasOwn(record, field));
  if (fields.every(isListed)) return records;
  return member.inFull(call.access, resource, records, call.io.signal);
}

/** Whether its records have keys, as far as that is known before any device is asked. */
export function isKeyed(resource: string): boolean {
  return saidSingle(documentedProfile, resource) === false;
}

/** Whether the resource is one object; where nobody knows yet, the first device that answers tells. */
export async function isSingleHere(call: Call, resource: string): Promise<boolean> {
  const members = await call.members();
  for (const member of members) {
    await member.opened(call.access);
    if (isSingle(member.profile, resource)) return true;
  }
  for (const member of members) {
    try {
      await member.list(call.access, resource, call.io.signal);
      return isSingle(member.profile, resource);
    } catch (error) {
      if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    }
  }
  // What is wrong with the devices is said by whoever reads them next.
  return true;
}

/** Whether `wanted` names this record, by its natural key or an id. */
export function isKeyOf(
  record: DeviceRecord,
  profile: Profile,
  resource: string,
  wanted: string,
): boolean {
  const fields = [keyFieldOf(profile, resource, [record]), ...profile.idFields];
  return fields.some(
    (field) => Object.hasOwn(record, field) && valueText(record[field]) === wanted,
  );
}

/** What a list is filtered by: the words of the line and `--filter`; all must match. */
export function filterOf(call: Call<never, 'filter'>, words: readonly Word[]): Filter | undefined {
  const typed = words.map(({ text, start }) => ({ text, column: start }));
  const { filter } = call.options;
  if (filter === undefined) return typed.length === 0 ? undefined : parseFilterWords(typed);
  return parseFilter([...words.map(({ text }) => quoteWord(text)), filter].join(' '));
}
