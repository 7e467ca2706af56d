import type { DeviceRecord } from '../device/record.ts';
import type { View } from '../shell/output.ts';
import { visible } from '../visible.ts';

/** Fields that name a record, for resources whose natural key nobody has told. */
const KEY_NAMES = ['username', 'name', 'login', 'user', 'hostname', 'id'];

/** The field by which records of several devices are the same record. */
export function keyFieldOf(view: View, fields: readonly string[]): string {
  return view.key ?? KEY_NAMES.find((name) => fields.includes(name)) ?? fields[0] ?? '';
}

/** Every field that any of the records has, in order of appearance. */
export function fieldsOf(records: readonly DeviceRecord[]): string[] {
  const fields = new Set<string>();
  for (const record of records) {
    for (const field in record) fields.add(field);
  }
  return [...fields];
}

/** "3 fields hidden": where the columns of the last time leave some out; empty where they do not. */
export function hiddenText(view: View, fields: readonly string[]): string {
  if (view.columns !== undefined || view.recalled === undefined) return '';
  const count = fields.length - columnsOf(view, fields).length;
  return count === 0 ? '' : `${count} ${count === 1 ? 'field' : 'fields'} hidden`;
}

/** The fields to show: as asked for, now or the last time, or the key first, then the others, what is per device last. */
export function columnsOf(view: View, fields: readonly string[]): string[] {
  if (view.columns) {
    return view.columns.filter((field) => field !== 'device' || fields.includes('device'));
  }
  const recalled = (view.recalled ?? []).filter((field) => fields.includes(field));
  if (recalled.length > 0) return recalled;
  const key = keyFieldOf(view, fields);
  const others = fields.filter((field) => field !== key);
  return [
    ...fields.filter((field) => field === key),
    ...others.filter((field) => !view.perDevice.includes(field)),
    ...others.filter((field) => view.perDevice.includes(field)),
  ];
}

/** `first_name` -> `FIRST NAME`; `_id` stays `_ID`, at the start of its column and apart from `id`. */
export function columnTitle(field: string): string {
  return visible(field)
    .replace(/(?<=[^_])_(?=[^_])/g, ' ')
    .toUpperCase();
}
