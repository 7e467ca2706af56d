import {
  type DeviceRecord,
  exactText,
  ID_NAME,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import type { View } from '../shell/output.ts';
import { cut, visible, visibleStart } from '../text/visible.ts';
import { quotedKey } from '../change/plan.ts';
import { isGuess, isSecretField, isSecretName, maskedValue } from '../device/sensitive-fields.ts';

/** Fields that name a record if its resource has no known natural key. */
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

/** "3 fields hidden" if the recalled columns omit some, "uuid hidden" for ids, else empty. */
export function hiddenText(
  view: View,
  fields: readonly string[],
  ids: readonly string[] = [],
): string {
  if (!isChosen(view, fields) && ids.length > 0) return `${visible(ids.join(', '))} hidden`;
  if (view.columns !== undefined || view.recalled === undefined) return '';
  const count = fields.length - columnsOf(view, fields).length;
  return count === 0 ? '' : `${count} ${count === 1 ? 'field' : 'fields'} hidden`;
}

/** The fields to show: those asked for, else the recalled ones, else the key first and per-device fields last. */
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

export const LOOKS_LIKE_ID = /^(?=.*\d)[0-9a-f-]{16,}$/i;

const SAMPLE = 50;

/** The per-device fields that are ids by name or content: people know a record by its key. */
export function idFieldsOf(
  view: View,
  fields: readonly string[],
  records: readonly DeviceRecord[],
): string[] {
  const key = keyFieldOf(view, fields);
  const sample = records.slice(0, SAMPLE);
  return fields.filter((field) => {
    if (field === key || !view.perDevice.includes(field)) return false;
    const texts = sample.map((record) => valueText(valueAt(record, field))).filter(Boolean);
    return (
      ID_NAME.test(field) || (texts.length > 0 && texts.every((one) => LOOKS_LIKE_ID.test(one)))
    );
  });
}

/** `columnsOf` for a person: without ids until they are asked for; after the key come other names. */
export function readableColumnsOf(
  view: View,
  fields: readonly string[],
  records: readonly DeviceRecord[],
): string[] {
  const columns = columnsOf(view, fields);
  if (isChosen(view, fields)) return columns;
  const ids = new Set(idFieldsOf(view, fields, records));
  const [key, ...others] = columns.filter((field) => !ids.has(field));
  const isName = (field: string): boolean => /name/i.test(field);
  return [
    ...(key === undefined ? [] : [key]),
    ...others.filter(isName),
    ...others.filter((field) => !isName(field)),
  ];
}

/** Whether the user has chosen the columns, now or earlier. */
function isChosen({ columns, recalled = [] }: View, fields: readonly string[]): boolean {
  return columns !== undefined || recalled.some((field) => fields.includes(field));
}

/** `first_name` -> `FIRST NAME`; `_id` stays `_ID`, at the start of its column and apart from `id`. */
export function columnTitle(field: string): string {
  return visible(field)
    .replace(/(?<=[^_])_(?=[^_])/g, ' ')
    .toUpperCase();
}

/** One harmless line. The one place where values become safe to show: not made visible again. */
export function cellText(value: Value | undefined): string {
  return visible(valueText(value));
}

/** What stands for a secret; a guess has a question mark. Undefined for any other value. */
function hiddenMark(field: string, value: Value | undefined): string | undefined {
  if (isGuess(field, value)) return '•••?';
  const isSecret = isSecretField(field) && typeof value !== 'boolean' && valueText(value) !== '';
  return isSecret ? '•••' : undefined;
}

/** Whether a value, or a part of it, is a secret or may be one. */
export function isHidden(field: string, value: Value | undefined): boolean {
  const isMasked = (): boolean => valueText(maskedValue(field, value)) !== valueText(value);
  return hiddenMark(field, value) !== undefined || isMasked();
}

/** Characters of a value for one cell of a table: enough for its widest column. */
export const MOST_IN_CELL = 320;

/** Characters of a value that a table or a view of the screen reads; `--json` has the whole value. */
export const MOST_ON_SCREEN = 2_000;

/** The same for a named field: secrets are not shown on a screen. @param most characters of the value to read */
export function fieldText(field: string, value: Value | undefined, most = Infinity): string {
  return hiddenMark(field, value) ?? visibleStart(valueText(maskedValue(field, value)), most);
}

/** The same for the field that names the record; makes look-alike names distinguishable. */
export function nameText(field: string, value: Value | undefined, most = Infinity): string {
  if (typeof value !== 'string' || isSecretName(field)) return fieldText(field, value, most);
  return visibleStart(quotedKey(value), most);
}

/** Limit for a value in a sentence; `--json` has the whole value. */
const MOST_IN_SENTENCE = 200;

/** The same where it matters what a value is exactly: `absent`, `null` and `""` are told apart. */
export function exactFieldText(field: string, value: Value | undefined, most = Infinity): string {
  return hiddenMark(field, value) ?? visibleStart(exactText(maskedValue(field, value)), most);
}

/** The same for `field=value` in a sentence: quotes blanks, cuts a very long value visibly. */
export function quotedText(field: string, value: Value | undefined): string {
  const text = exactFieldText(field, value, MOST_IN_SENTENCE);
  const isLong = text.length > MOST_IN_SENTENCE;
  const shown = isLong ? cut(text.slice(0, MOST_IN_SENTENCE), MOST_IN_SENTENCE >> 1) : text;
  const quoted = /\s/.test(shown) ? `"${shown}"` : shown;
  return isLong ? `${quoted} (${exactText(value).length} characters)` : quoted;
}

/** The same of two values beside each other: where a text and another value read alike, the text is quoted. */
export function quotedTexts(
  field: string,
  one: Value | undefined,
  other: Value | undefined,
): readonly [string, string] {
  const [text, second] = [quotedText(field, one), quotedText(field, other)];
  if (text !== second || typeof one === typeof other || isHidden(field, one)) return [text, second];
  return typeof one === 'string' ? [`"${text}"`, second] : [text, `"${second}"`];
}
