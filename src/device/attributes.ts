import type { Profile } from './profile.ts';
import type { DeviceRecord } from './record.ts';

/** A record that has its fields under one name, and its id beside them (JSON:API): all side by side. */
export function sideBySide(record: DeviceRecord, { list }: Profile): DeviceRecord {
  const { attributes: name } = list;
  const held = name !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
  if (typeof held !== 'object' || held === null) return record;
  const own = Object.entries(held).filter(([field]) => !Object.hasOwn(record, field));
  return Object.fromEntries(
    Object.entries(record).flatMap((entry) => (entry[0] === name ? own : [entry])),
  );
}
