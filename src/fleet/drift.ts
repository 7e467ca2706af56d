import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import type { DeviceRecords } from './fold.ts';
import { valueAt } from '../value-at.ts';

/**
 * How one device holds a record, measured by what most devices hold. Where no content is held by more
 * devices than any other, none is right: all of them differ.
 */
export type DriftCell =
  | { readonly kind: 'same' }
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'differs';
      /** Empty: the same content, but another number of records with this key. */
      readonly fields: readonly string[];
    };

/** A field that not all holders of a record agree in: each value, and who holds it, most holders first. */
export interface FieldDrift {
  readonly field: string;
  readonly values: readonly {
    /** As the first of the devices holds it; undefined: none. */
    readonly value: DeviceRecord[string] | undefined;
    readonly devices: readonly string[];
  }[];
}

export interface DriftRow {
  /** The natural key as text; empty for a single object, and for records that have none. */
  readonly key: string;
  /** In the order of the devices. */
  readonly cells: readonly DriftCell[];
  readonly fields: readonly FieldDrift[];
  /** What each device holds; several records where one has the key twice. */
  readonly held: readonly (readonly DeviceRecord[])[];
  readonly isSame: boolean;
}

/** The records of a resource, compared over all devices that answered. */
export interface Drift {
  readonly keyField: string;
  readonly devices: readonly DeviceRef[];
  /** In the order of first appearance. */
  readonly rows: readonly DriftRow[];
}

export interface DriftRules {
  readonly keyField: string;
  /** Fields that differ by nature (ids, tokens, counters): they never count. Nor do points in time. */
  readonly perDevice: readonly string[];
  /** Only these are compared; undefined: all. */
  readonly fields?: readonly string[] | undefined;
}

const SAME: DriftCell = { kind: 'same' };
const MISSING: DriftCell = { kind: 'missing' };

/**
 * Compares records by their key. Values are equal when their text is, as in `foldRecords`: `true` and
 * `"true"`, or an empty and a missing field, are no difference.
 */
export function driftOf(reads: readonly DeviceRecords[], rules: DriftRules): Drift {
  const skipped = new Set(rules.perDevice);
  const wanted = rules.fields === undefined ? undefined : new Set(rules.fields);
  const counts = (field: string): boolean => !skipped.has(field) && wanted?.has(field) !== false;
  const groups = groupsOf(reads, rules.keyField, (record) => contentOf(record, counts));
  const devices = reads.map(({ device }) => device);
  const rows = [...groups.values()].map(({ key, held }): DriftRow => {
    const contents = held.map((records) => contentsOf(records, counts));
    const usual = mostHeld(contents);
    if (contents.every((content) => content === usual)) {
      return { key, cells: held.map(() => SAME), fields: [], held, isSame: true };
    }
    const cells = held.map((records, index): DriftCell => {
      if (records.length === 0) return MISSING;
      if (contents[index] === usual) return SAME;
      const others =
        usual === undefined
          ? held.filter((_, other) => contents[other] !== contents[index])
          : [held[contents.indexOf(usual)] ?? []];
      return {
        kind: 'differs',
        fields: fieldsOf([...records, ...others.flat()], counts).filter((field) =>
          others.some(
            (other) => other.length > 0 && textsOf(other, field) !== textsOf(records, field),
          ),
        ),
      };
    });
    return { key, cells, fields: fieldDrifts(held, devices, counts), held, isSame: false };
  });
  return { keyField: rules.keyField, devices, rows };
}

/** The devices that hold the record, in order. */
export function holdersOf({ devices }: Pick<Drift, 'devices'>, { held }: DriftRow): DeviceRef[] {
  return devices.filter((_, index) => (held[index]?.length ?? 0) > 0);
}

/** The devices that do not. */
export function missingOn({ devices }: Pick<Drift, 'devices'>, { held }: DriftRow): DeviceRef[] {
  return devices.filter((_, index) => held[index]?.length === 0);
}

/** "41 users on 3 devices: 12 the same on all, 3 differ, 26 not on all" */
export function driftSummary({ rows, devices }: Drift, resource: string): string {
  const what = `${count(rows.length, resource)} on ${count(devices.length, 'device')}`;
  const same = rows.filter(({ isSame }) => isSame).length;
  if (same === rows.length) return `no differences: ${what}`;
  const differing = rows.filter(({ cells }) => cells.some(({ kind }) => kind === 'differs')).length;
  const missing = rows.filter(({ cells }) => cells.some(({ kind }) => kind === 'missing')).length;
  const parts = [
    `${same} the same on all`,
    ...(differing > 0 ? [`${differing} ${differing === 1 ? 'differs' : 'differ'}`] : []),
    ...(missing > 0 ? [`${missing} not on all`] : []),
  ];
  return `${what}: ${parts.join(', ')}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

interface Group {
  readonly key: string;
  readonly held: DeviceRecord[][];
}

function groupsOf(
  reads: readonly DeviceRecords[],
  keyField: string,
  content: (record: DeviceRecord) => string,
): Map<string, Group> {
  const groups = new Map<string, Group>();
  reads.forEach(({ records }, index) => {
    for (const record of records) {
      const key = valueText(record[keyField]);
      // What has no key can only be known again by all of its content.
      const id = key === '' && keyField !== '' ? `content ${content(record)}` : `key ${key}`;
      let group = groups.get(id);
      if (group === undefined) {
        group = { key, held: reads.map(() => []) };
        groups.set(id, group);
      }
      group.held[index]?.push(record);
    }
  });
  return groups;
}

function contentsOf(
  records: readonly DeviceRecord[],
  counts: (field: string) => boolean,
): string | undefined {
  if (records.length === 0) return undefined;
  return JSON.stringify(records.map((record) => contentOf(record, counts)).sort());
}

function contentOf(record: DeviceRecord, counts: (field: string) => boolean): string {
  const parts = Object.keys(record).flatMap((field): [string, string][] => {
    const text = comparedText(record[field]);
    return text === '' || !counts(field) ? [] : [[field, text]];
  });
  return JSON.stringify(parts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function comparedText(value: DeviceRecord[string] | undefined): string {
  return isTimeStamp(value) ? 'time' : valueText(value);
}

/** What more devices hold than anything else; undefined where there is no such thing. */
function mostHeld(contents: readonly (string | undefined)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const content of contents) {
    if (content !== undefined) counts.set(content, (counts.get(content) ?? 0) + 1);
  }
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
}

function fieldsOf(records: readonly DeviceRecord[], counts: (field: string) => boolean): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))].filter(counts);
}

/** All values of a field on one device as one text. */
function textsOf(records: readonly DeviceRecord[], field: string): string {
  const texts = records.map((record) => comparedText(valueAt(record, field)));
  return new Set(texts).size === 1 ? (texts[0] ?? '') : JSON.stringify(texts.sort());
}

function fieldDrifts(
  held: readonly (readonly DeviceRecord[])[],
  devices: readonly DeviceRef[],
  counts: (field: string) => boolean,
): FieldDrift[] {
  return fieldsOf(held.flat(), counts).flatMap((field): FieldDrift[] => {
    const byText = new Map<
      string,
      { value: DeviceRecord[string] | undefined; devices: string[] }
    >();
    held.forEach((records, index) => {
      const name = devices[index]?.name;
      const [first] = records;
      if (first === undefined || name === undefined) return;
      const text = textsOf(records, field);
      const known = byText.get(text);
      if (known !== undefined) known.devices.push(name);
      else byText.set(text, { value: valueAt(first, field), devices: [name] });
    });
    if (byText.size < 2) return [];
    const values = [...byText.values()].sort((a, b) => b.devices.length - a.devices.length);
    return [{ field, values }];
  });
}
