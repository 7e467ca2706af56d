import {
  type DeviceRecord,
  type DeviceRef,
  frequencies,
  grouped,
  valueAt,
  valueText,
} from '../device/record.ts';
import { type Comparison, comparisonBy } from './compared.ts';
import type { DeviceRecords } from './fold.ts';
import type { Note } from '../output/sentences.ts';

/** A device compared with the content that most devices have. If there is a tie, all devices differ. */
export type DriftCell =
  | { readonly kind: 'same' }
  /** Of all devices that were read, only this one has the record. */
  | { readonly kind: 'only' }
  | { readonly kind: 'missing' }
  /** The list does not show the record, but may leave records out. */
  | { readonly kind: 'not listed' }
  | {
      readonly kind: 'differs';
      /** Empty if the content is the same, but not the number of records with this key. */
      readonly fields: readonly string[];
    };

/** A field in which devices differ: each value with its devices, most common first. */
export interface FieldDrift {
  readonly field: string;
  readonly values: readonly {
    /** The value on the first of the devices; undefined if they have none. */
    readonly value: DeviceRecord[string] | undefined;
    readonly devices: readonly string[];
  }[];
}

export interface DriftRow {
  /** The natural key as text; empty for a single object and for records without a key. */
  readonly key: string;
  /** In the order of the devices. */
  readonly cells: readonly DriftCell[];
  readonly fields: readonly FieldDrift[];
  /** The records on each device; several if one has the key twice. */
  readonly held: readonly (readonly DeviceRecord[])[];
  readonly isSame: boolean;
}

/** The records of a resource, compared over all devices that responded. */
export interface Drift {
  readonly keyField: string;
  readonly devices: readonly DeviceRef[];
  /** Selected devices that did not respond. */
  readonly unread: readonly DeviceRef[];
  /** Different records, then those that some devices lack, then equal ones; each in order of first appearance. */
  readonly rows: readonly DriftRow[];
}

export interface DriftRules {
  readonly keyField: string;
  /** Fields that differ by nature (ids, counters) and never count. Neither do secrets and timestamps. */
  readonly perDevice: readonly string[];
  /** The fields to compare; undefined for all. */
  readonly fields?: readonly string[] | undefined;
}

const SAME: DriftCell = { kind: 'same' };
const ONLY: DriftCell = { kind: 'only' };
const MISSING: DriftCell = { kind: 'missing' };

/** Compares records by their key, and values by `comparedText`. */
export function driftOf(
  reads: readonly DeviceRecords[],
  rules: DriftRules,
  unread: readonly DeviceRef[] = [],
): Drift {
  const { keyField } = rules;
  const wanted = rules.fields === undefined ? undefined : new Set(rules.fields);
  const comparison = comparisonBy(keyField, new Set(rules.perDevice), wanted);
  const groups = groupsOf(reads, keyField, comparison);
  const devices = reads.map(({ device }) => device);
  const rows = [...groups.values()].map(({ key, held }): DriftRow => {
    const contents = held.map((records) => contentsOf(records, comparison));
    if (contents.every((content) => content === contents[0])) {
      return { key, cells: held.map(() => SAME), fields: [], held, isSame: true };
    }
    const common = mostCommon(contents);
    const isSingle = held.filter(({ length }) => length > 0).length === 1;
    const cells = held.map((records, index): DriftCell => {
      if (records.length === 0) return MISSING;
      if (contents[index] === common) return isSingle ? ONLY : SAME;
      const others =
        common === undefined
          ? held.filter((_, other) => contents[other] !== contents[index])
          : [held[contents.indexOf(common)] ?? []];
      return {
        kind: 'differs',
        fields: fieldsOf([...records, ...others.flat()], comparison).filter((field) =>
          others.some(
            (other) =>
              other.length > 0 &&
              textsOf(other, field, comparison) !== textsOf(records, field, comparison),
          ),
        ),
      };
    });
    return { key, cells, fields: fieldDrifts(held, devices, comparison), held, isSame: false };
  });
  return { keyField, devices, unread, rows: rows.sort((a, b) => rankOf(a) - rankOf(b)) };
}

/** The row with `not listed` in place of `missing` for devices whose lists may leave records out. */
export function doubted(
  row: DriftRow,
  { devices }: Drift,
  doubtful: readonly DeviceRef[],
): DriftRow {
  const cells = row.cells.map((cell, at): DriftCell => {
    const device = devices[at];
    const isDoubted = device !== undefined && doubtful.includes(device);
    return cell.kind === 'missing' && isDoubted ? { kind: 'not listed' } : cell;
  });
  const isOnly = !cells.some(({ kind }) => kind === 'not listed');
  return { ...row, cells: cells.map((cell) => (cell.kind === 'only' && !isOnly ? SAME : cell)) };
}

/** Sorts different records first, then those that some devices lack, then those that are the same on all. */
function rankOf({ cells, isSame }: DriftRow): number {
  return isSame ? 2 : cells.some(({ kind }) => kind === 'differs') ? 0 : 1;
}

export function devicesWith({ devices }: Pick<Drift, 'devices'>, { held }: DriftRow): DeviceRef[] {
  return devices.filter((_, index) => (held[index]?.length ?? 0) > 0);
}

export function devicesWithout(
  { devices }: Pick<Drift, 'devices'>,
  { held }: DriftRow,
): DeviceRef[] {
  return devices.filter((_, index) => held[index]?.length === 0);
}

export function driftSummary({ rows, devices, unread }: Drift, resource: string): Note {
  const having = (...kinds: readonly DriftCell['kind'][]): number =>
    rows.filter(({ cells }) => cells.some(({ kind }) => kinds.includes(kind))).length;
  return {
    code: 'drift',
    records: rows.length,
    resource,
    devices: devices.length,
    unread: unread.length,
    same: rows.filter(({ isSame }) => isSame).length,
    differing: having('differs'),
    missing: having('missing', 'not listed'),
    unlisted: having('not listed'),
  };
}

interface Group {
  readonly key: string;
  readonly held: DeviceRecord[][];
}

function groupsOf(
  reads: readonly DeviceRecords[],
  keyField: string,
  { content }: Comparison,
): Map<string, Group> {
  const groups = new Map<string, Group>();
  reads.forEach(({ records }, index) => {
    for (const record of records) {
      const key = valueText(record[keyField]);
      // A record without a key is identified by its whole content.
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

function contentsOf(records: readonly DeviceRecord[], { content }: Comparison): string | undefined {
  const contents = records.map(content);
  return contents.length < 2 ? contents[0] : JSON.stringify(contents.sort());
}

/** The most common content; undefined for a tie. */
function mostCommon(contents: readonly (string | undefined)[]): string | undefined {
  const [first, second] = frequencies(contents.filter((content) => content !== undefined));
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
}

function fieldsOf(records: readonly DeviceRecord[], { counts }: Comparison): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))].filter(counts);
}

function textsOf(records: readonly DeviceRecord[], field: string, { text }: Comparison): string {
  const texts = records.map((record) => text(record, field));
  return new Set(texts).size === 1 ? (texts[0] ?? '') : JSON.stringify(texts.sort());
}

function fieldDrifts(
  held: readonly (readonly DeviceRecord[])[],
  devices: readonly DeviceRef[],
  comparison: Comparison,
): FieldDrift[] {
  return fieldsOf(held.flat(), comparison).flatMap((field): FieldDrift[] => {
    const having = devices.flatMap(({ name }, index) => {
      const records = held[index] ?? [];
      return records.length === 0 ? [] : [{ name, records }];
    });
    const groups = grouped(having, ({ records }) => textsOf(records, field, comparison));
    if (groups.size < 2) return [];
    const values = [...groups.values()].map((group) => ({
      value: valueAt(group[0].records[0], field),
      devices: group.map(({ name }) => name),
    }));
    return [{ field, values: values.sort((a, b) => b.devices.length - a.devices.length) }];
  });
}

/** The value of more than half of the devices, even if all `unknown` ones had another; undefined if there is none. */
export function majorityOf<V extends { readonly devices: readonly unknown[] }>(
  values: readonly V[],
  unknown: number,
): V | undefined {
  const all = values.reduce((sum, { devices }) => sum + devices.length, unknown);
  return values.find(({ devices }) => 2 * devices.length > all);
}

export interface Holder {
  readonly name: string;
  readonly record: DeviceRecord;
}

export interface ValueGroup {
  readonly text: string;
  readonly devices: readonly string[];
  /** Whether more than half of the devices agree on another value. */
  readonly isOdd: boolean;
}

interface ValueReading {
  /** The text of the value, with control characters made visible. */
  readonly textOf: (holder: Holder) => string;
  /** A text that is equal for equal values. Default: the text that is shown. */
  readonly sameAs?: ((holder: Holder) => string) | undefined;
  /** Whether a device was read now. Values of other devices are shown, but do not count. */
  readonly isRead: (device: string) => boolean;
  /** The number of devices whose value is unknown. They count as if they had another value. */
  readonly unknown?: number;
}

/** A field of one record grouped by value, the most common first. A tie has no odd value. */
export function groupByValue(
  holders: readonly Holder[],
  { textOf, sameAs = textOf, isRead, unknown = 0 }: ValueReading,
): ValueGroup[] {
  /** `devices`: the ones whose value counts. */
  const groups = new Map<string, { text: string; names: Set<string>; devices: string[] }>();
  for (const holder of holders) {
    const id = sameAs(holder);
    const group = groups.get(id) ?? { text: textOf(holder), names: new Set(), devices: [] };
    groups.set(id, group);
    // A device may have the key twice.
    if (group.names.has(holder.name)) continue;
    group.names.add(holder.name);
    if (isRead(holder.name)) group.devices.push(holder.name);
  }
  const sorted = [...groups.values()].sort((a, b) => b.devices.length - a.devices.length);
  const majority = majorityOf(sorted, unknown);
  return sorted.map((group) => ({
    text: group.text,
    devices: [...group.names],
    isOdd: majority !== undefined && group !== majority && group.devices.length > 0,
  }));
}
