import { isEqual } from '../device/equality.ts';
import { stringify } from 'yaml';
import { type DeviceRecord, jsonText, type Value, valueText } from '../device/record.ts';
import { isSecretField, maskedValue } from '../device/sensitive-fields.ts';
import { UsageError } from '../errors.ts';
import { hasUnsafe, replaceUnsafe, visible } from '../text/visible.ts';
import { YamlSource } from '../text/yaml-source.ts';

/** A record to be edited as text; one for several devices if they are equal. */
export interface EditableRecord {
  readonly resource: string;
  readonly key: string;
  readonly devices: readonly string[];
  readonly record: DeviceRecord;
  /** Shown but not editable: the key, ids, fields managed by the device. */
  readonly fixed: readonly string[];
}

export interface EditedRecord {
  readonly of: EditableRecord;
  /** The changed fields, as typed. */
  readonly fields: DeviceRecord;
}

export interface Edited {
  readonly changed: readonly EditedRecord[];
  readonly removed: readonly EditableRecord[];
}

const HEAD = [
  '# Change values, save and close the editor. devsh then shows the plan; it sends nothing before you',
  '# confirm. It sends only values that differ from these. A line or a record that you remove stays',
  '# unchanged on the device. To cancel, leave the text unchanged, or empty it.',
];

/** The first line of a complaint above the text; it has this many lines. */
const COMPLAINT = '# REJECTED: ';
const COMPLAINT_LINES = 2;

/** As YAML, one document each. Fields that are not editable are comments; secrets are omitted. */
export function recordText(records: readonly EditableRecord[]): string {
  return [...HEAD, ...records.map(documentOf), ''].join('\n');
}

/** The text with an error message above it. */
export function withComplaint(text: string, message: string): string {
  const [line = ''] = visible(message).split('\n');
  return `${COMPLAINT}${line}\n#\n${withoutComplaint(text)}`;
}

export function withoutComplaint(text: string): string {
  if (!text.startsWith(COMPLAINT)) return text;
  return text.split('\n').slice(COMPLAINT_LINES).join('\n');
}

/** Throws a `UsageError` with `file:line:column`, counted with the complaint above the text. */
export function readRecordText(
  text: string,
  records: readonly EditableRecord[],
  file: string,
): Edited {
  const [head = '', ...parts] = partsOf(withoutComplaint(text));
  const stray = head.split('\n').findIndex((line) => !/^\s*(#|$)/.test(line));
  if (stray !== -1) {
    throw new UsageError(
      `${file}:${stray + 1 + COMPLAINT_LINES}:1: this line belongs to no record`,
    );
  }
  const seen = new Map<EditableRecord, DeviceRecord>();
  let above = head.split('\n').length + COMPLAINT_LINES;
  for (const part of parts) {
    const [first = '', ...rest] = part.split('\n');
    const place = `${file}:${above + 1}:1`;
    const [, number] = /^---\s+#\s*record (\d+)\b/.exec(first) ?? [];
    const record = number === undefined ? undefined : records[Number(number) - 1];
    if (record === undefined) {
      throw new UsageError(`${place}: "--- # record NUMBER" must stay unchanged`);
    }
    if (seen.has(record)) throw new UsageError(`${place}: record ${number ?? ''} appears twice`);
    seen.set(record, changesIn('\n'.repeat(above + 1) + rest.join('\n'), record, file));
    above += rest.length + 1;
  }
  return {
    changed: [...seen]
      .filter(([, fields]) => Object.keys(fields).length > 0)
      .map(([of, fields]) => ({ of, fields })),
    removed: records.filter((record) => !seen.has(record)),
  };
}

/** The text before the first `---`, and each document with its `---`. */
function partsOf(text: string): string[] {
  const parts: string[][] = [[]];
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    if (/^---(\s|$)/.test(line)) parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts.map((lines) => lines.join('\n'));
}

function changesIn(text: string, edited: EditableRecord, file: string): DeviceRecord {
  const source = new YamlSource(text, file, (message) => new UsageError(message));
  const fields = fieldsOf(source);
  const before = fieldsOf(
    new YamlSource(fieldLines(edited).join('\n'), file, (message) => new UsageError(message)),
  );
  const changes = Object.entries(fields).filter(
    ([field, value]) => !Object.hasOwn(before, field) || !isEqual(value, before[field]),
  );
  for (const [field] of changes) {
    if (edited.fixed.includes(field)) {
      throw source.error([field], `${visible(field)} cannot be changed here`, 'key');
    }
  }
  return Object.fromEntries(changes);
}

function fieldsOf(source: YamlSource): DeviceRecord {
  const data = source.data({ readsNull: true }) ?? {};
  if (typeof data !== 'object' || Array.isArray(data)) {
    throw source.error([], 'a record has lines like "lang: de"');
  }
  // The failsafe schema produces only texts, null, lists and maps, which are all values.
  return data as Readonly<Record<string, Value>>;
}

function documentOf(edited: EditableRecord, index: number): string {
  const { resource, key, devices, record, fixed } = edited;
  const on = visible(devices.join(', '));
  const named = key === '' ? resource : `${resource} ${visible(key)}`;
  const hidden = Object.keys(record).filter((field) => containsSecret(record, field));
  return [
    `--- # record ${index + 1}: ${named} on ${on}`,
    ...fixed
      .filter((field) => Object.hasOwn(record, field) && !hidden.includes(field))
      .map((field) => `# ${visible(field)}: ${visible(valueText(record[field]))}`),
    ...(hidden.length === 0 ? [] : [`# hidden, stay unchanged: ${visible(hidden.join(', '))}`]),
    ...fieldLines(edited),
  ].join('\n');
}

function fieldLines({ record, fixed }: EditableRecord): string[] {
  return Object.entries(record)
    .filter(([field]) => !fixed.includes(field) && !containsSecret(record, field))
    .map(([field, value]) => fieldLine(field, value));
}

/** As JSON if it contains invisible characters, or a field called `<<`, which merges maps unless quoted. */
function fieldLine(field: string, value: Value): string {
  const json = jsonText(value);
  const merges = field === '<<' || json.includes('"<<"');
  if (!merges && !hasUnsafe(field + json) && !/\\[nrtbfu]/.test(json)) {
    return stringify({ [field]: value }, { lineWidth: 0 }).trimEnd();
  }
  return `${escaped(JSON.stringify(field))}: ${escaped(json)}`;
}

function escaped(json: string): string {
  return replaceUnsafe(json, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

function containsSecret(record: DeviceRecord, field: string): boolean {
  const value = record[field] ?? null;
  return isSecretField(field) || jsonText(maskedValue(field, value)) !== jsonText(value);
}
