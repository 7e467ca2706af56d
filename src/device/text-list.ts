import type { DeviceRecord } from './record.ts';

const FIELD_LINE = /^[\w.-]{1,200}=/;

/**
 * Records as text: forms (`a=b&c=d`, one record a line) or `key=value` lines with an empty line
 * between records. All values are strings. Undefined when the text is neither.
 */
export function decodeTextList(
  text: string,
): { records: readonly DeviceRecord[]; envelope: string } | undefined {
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (filled.length === 0 || !filled.every((line) => FIELD_LINE.test(line))) return undefined;
  const isForm = filled.some((line) => /&[\w.-]{1,200}=/.test(line));
  return isForm
    ? { records: filled.map(formRecord), envelope: 'form text' }
    : { records: blockRecords(lines), envelope: 'key=value lines' };
}

/** A field that occurs more than once is a list. */
function formRecord(line: string): DeviceRecord {
  const fields = new URLSearchParams(line);
  return Object.fromEntries(
    [...new Set(fields.keys())].map((field) => {
      const texts = fields.getAll(field);
      return [field, texts.length === 1 ? (texts[0] ?? '') : texts];
    }),
  );
}

/** A record ends at an empty line, and where a field comes a second time. */
function blockRecords(lines: readonly string[]): DeviceRecord[] {
  const records: DeviceRecord[] = [];
  let fields = new Map<string, string>();
  const finish = (): void => {
    if (fields.size > 0) records.push(Object.fromEntries(fields));
    fields = new Map();
  };
  for (const line of lines) {
    if (line === '') {
      finish();
      continue;
    }
    const equals = line.indexOf('=');
    const field = line.slice(0, equals);
    if (fields.has(field)) finish();
    fields.set(field, unquoted(line.slice(equals + 1).trim()));
  }
  finish();
  return records;
}

function unquoted(text: string): string {
  const match = /^(["'])(.*)\1$/.exec(text);
  return match?.[2] ?? text;
}

/**
 * Lines as `admin="root,joe"`: groups with their members. Each member is a record, with its groups in a
 * field. Undefined when the text has another form.
 */
export function decodeGroups(
  text: string,
  keyField: string,
  groupField: string,
): { records: readonly DeviceRecord[]; envelope: string } | undefined {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    const [, group = '', quoted, bare = ''] =
      /^\s*([\w.-]{1,200})=(?:"(.*)"|(.*?))\s*$/.exec(line) ?? [];
    if (group === '') return undefined;
    for (const member of (quoted ?? bare).split(',').map((name) => name.trim())) {
      if (member !== '') groups.set(member, [...(groups.get(member) ?? []), group]);
    }
  }
  const records = [...groups].map(([member, names]) => ({
    [keyField]: member,
    [groupField]: names.length === 1 ? (names[0] ?? '') : names,
  }));
  return { records, envelope: 'groups' };
}
