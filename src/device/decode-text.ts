import type { DeviceRecord } from './record.ts';
import type { DecodedList } from './pages.ts';

const FIELD_LINE = /^[\w.-]{1,200}=/;

/** Forms (`a=b&c=d`, one record per line) or blocks of `key=value` lines; undefined for any other text. */
export function decodeTextList(text: string): DecodedList | undefined {
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (filled.length === 0 || !filled.every((line) => FIELD_LINE.test(line))) return undefined;
  const isForm = filled.some((line) => /&[\w.-]{1,200}=/.test(line));
  return isForm
    ? { records: filled.map(formRecord), envelope: 'form text' }
    : { records: blockRecords(lines), envelope: 'key=value lines' };
}

/** A repeated field is a list. */
function formRecord(line: string): DeviceRecord {
  const fields = new URLSearchParams(line);
  return Object.fromEntries(
    [...new Set(fields.keys())].map((field) => {
      const texts = fields.getAll(field);
      return [field, texts.length === 1 ? (texts[0] ?? '') : texts];
    }),
  );
}

/** An empty line or a repeated field ends a record. */
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

/** Lines like `admin="root,joe"`, groups and members: one record per member. Undefined for any other text. */
export function decodeGroups(
  text: string,
  keyField: string,
  groupField: string,
): DecodedList | undefined {
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
