import type { DeviceRecord } from '../../device/record.ts';
import type { Site } from '../view.ts';
import type { StoredRecord, Table } from '../table.ts';
import type { Resource } from './fields.ts';
import { readFields, type Input, type Read } from './read-value.ts';

export interface WriteWish {
  readonly input: Input;
  /** What is to be changed; undefined for a new record. */
  readonly before?: StoredRecord | undefined;
  readonly isPartial: boolean;
  /** The record that may have the same key, besides `before`. */
  readonly namesake?: StoredRecord | undefined;
}

/** Checks all fields and that the key is not taken; stores nothing. */
export function checkRecord(
  { dialect }: Site,
  resource: Resource,
  table: Table,
  { input, before, isPartial, namesake }: WriteWish,
): Read<DeviceRecord> {
  const trims = dialect.traits.trims || dialect.quirks.has('trims');
  const read = readFields(resource.fields, input, {
    before,
    isPartial,
    trims,
    replaces: dialect.quirks.has('put-replaces'),
  });
  const { key } = resource;
  if ('problems' in read || key === undefined) return read;
  const holder = table.records.find(
    (record) =>
      record[key] === read.value[key] &&
      record.uuid !== before?.uuid &&
      record.uuid !== namesake?.uuid,
  );
  if (holder === undefined) return read;
  return { problems: { [key]: [`A ${resource.name} with that ${key} already exists.`] } };
}

/** Puts checked fields in place of a record. */
export function replaceRecord(
  table: Table,
  { uuid }: StoredRecord,
  fields: DeviceRecord,
): StoredRecord {
  const record = { ...fields, uuid };
  table.put(record);
  return record;
}
