import { extname } from 'node:path';
import type { WrittenDevice, WrittenGroup } from '../written-inventory.ts';
import { type DeviceRecord, isValueList, isValueObject, type Value } from '../../device/record.ts';
import type { Note } from '../../output/sentences.ts';
import { someOf } from '../../text/one-line.ts';

export const SOURCE_KINDS = ['csv', 'ansible', 'devices'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Detects the kind of a source by file name and content; undefined if neither is clear. */
export function kindOfSource(name: string, text: string): SourceKind | undefined {
  const start = text.replace(/^\ufeff/, '').trimStart();
  switch (extname(name).toLowerCase()) {
    case '.csv':
    case '.tsv':
      return 'csv';
    case '.json':
      return kindOfJson(start);
    case '.ini':
      return 'ansible';
    case '.yaml':
    case '.yml':
      return kindOfYaml(start);
  }
  if (/^[[{]\s*(?:["\]}{]|$)/.test(start)) return kindOfJson(start);
  if (/^\[[\w.:-]+\][ \t]*\r?$/m.test(start)) return 'ansible';
  const [line = ''] = start.split('\n', 1);
  if (/^[\w"' -]+(?:[,;\t][\w"' -]*)+\r?$/.test(line) && /\bname\b|device/i.test(line))
    return 'csv';
  return kindOfYaml(start);
}

/** Recognizes a kind by keys that only it has. Invalid JSON is reported later, when it is read. */
function kindOfJson(text: string): SourceKind {
  if (text.startsWith('[') || /^\{[^{[]*"inventory"\s*:\s*\[/.test(text)) return 'devices';
  return /^\{[^{[]*"devices"\s*:\s*\[/.test(text) ? 'devices' : 'ansible';
}

function kindOfYaml(text: string): SourceKind | undefined {
  if (/^devices\s*:/m.test(text)) return 'devices';
  return /^[\w.-]+[ \t]*:[ \t]*(?:#.*)?(?:\r?\n[ \t]*){1,20}[ \t](?:hosts|children|vars)[ \t]*:/m.test(
    text,
  )
    ? 'ansible'
    : undefined;
}

/** An unchecked device of a source. Its `ca` is an absolute path. */
export interface FoundDevice extends WrittenDevice {
  /** The position in the source: `hosts.csv:3`. */
  readonly place: string;
}

export interface Findings {
  readonly devices: readonly FoundDevice[];
  readonly groups: readonly WrittenGroup[];
  /** Notes about what was left out on purpose. */
  readonly remarks: readonly Note[];
}

/** The remark about parts of a source that devsh does not import. Empty without names. */
export function leftOut(
  is: 'groups' | 'hosts' | 'secrets' | 'columns',
  names: readonly string[],
): Note[] {
  return names.length === 0 ? [] : [{ code: 'left-out', is, names: someOf(names) }];
}

/** The value as an object; undefined for anything else. */
export function asObject(value: Value | undefined): DeviceRecord | undefined {
  return isValueObject(value) ? value : undefined;
}

export function asList(value: Value | undefined): readonly Value[] {
  return isValueList(value) ? value : [];
}

/** A non-empty text, or a number as text; undefined for anything else. */
export function asText(value: Value | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
