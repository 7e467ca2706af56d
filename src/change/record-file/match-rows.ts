import {
  idOf,
  isSingle,
  keyFieldOf,
  knownFields,
  managedFields,
  fieldFacts,
  fieldsWith,
  isWritable,
} from '../../device/profile.ts';
import {
  type DeviceRecord,
  grouped,
  isTimeStamp,
  type Value,
  valueAt,
  valueText,
} from '../../device/record.ts';
import { isSecretField } from '../../device/sensitive-fields.ts';
import { nearHint } from '../../text/suggest.ts';
import { type Note, textOf } from '../../output/sentences.ts';
import type { Allowed } from '../allow.ts';
import { checkValue, type Known, shapeOf } from '../typed-fields.ts';
import type { Change } from '../change.ts';
import { identityOf, likenessOf, personOf } from '../identity.ts';
import { isStored } from '../../device/equality.ts';
import { fieldValue, isSame } from './csv-cell.ts';
import { type Problems, type RecordRow, rowsByKey, withoutSecrets } from './record-file.ts';
import { lookOf } from '../../text/visible.ts';

interface DeviceRecords extends Known {
  readonly name: string;
}

export interface MatchOptions {
  /** The rows are cells of CSV. */
  readonly isCells: boolean;
  /** The field that identifies the record of a row; absent: the natural key. */
  readonly key?: string | undefined;
  /** Records that are missing in the file are deleted. */
  readonly prune: boolean;
  readonly allow?: Allowed;
}

interface Matched {
  readonly changes: readonly Change[];
  /** Number of rows that the device has already. */
  readonly unchanged: number;
  /** Fields of the file that are never set: ids, read-only fields, fields managed by the device. */
  readonly ignored: readonly string[];
}

/**
 * Computes the changes that bring a device to the rows of a file: adds, sets with the fields that differ,
 * and deletes if it prunes. Adds what is impossible to the problems. Linear in rows and records.
 */
export function matchRows(
  device: DeviceRecords,
  rows: readonly RecordRow[],
  options: MatchOptions,
  problems: Problems,
): Matched {
  const { profile, resource, records } = device;
  const matching = new Matching(device, options, problems);
  const { about } = matching;
  const changes: Change[] = [];
  const kept = new Set<DeviceRecord>();
  const added: { row: RecordRow; key: string }[] = [];
  let unchanged = 0;
  for (const [key, row] of rowsByKey(rows, { ...about, isCells: options.isCells }, problems)) {
    const found = matching.found(key);
    for (const record of found) kept.add(record);
    const [record] = found;
    if (found.length > 1) {
      const note = { ...about, is: 'ambiguous', key, count: found.length } as const;
      matching.refuse(row, about.keyField, note);
    } else if (record === undefined) {
      added.push({ row, key });
      changes.push({ action: 'add', resource, fields: matching.newFields(row), isExact: true });
    } else {
      const fields = matching.changedFields(row, record);
      if (Object.keys(fields).length === 0) unchanged += 1;
      else changes.push(matching.set(row, record, fields));
    }
  }
  if (options.prune && !isSingle(profile, resource)) {
    const removed = records.filter((record) => !kept.has(record));
    if (options.allow?.has('prune') !== true) matching.checkPrune(rows, added, removed);
    for (const record of removed) changes.push(matching.remove(record));
  }
  return { changes, unchanged, ignored: [...matching.ignored] };
}

class Matching {
  /** Values of every note. A single object has no key. */
  readonly about: Readonly<Record<'name' | 'resource' | 'keyField', string>> & {
    readonly code: 'bad-change-file';
  };
  readonly ignored = new Set<string>();
  readonly #device: DeviceRecords;
  readonly #options: MatchOptions;
  readonly #problems: Problems;
  readonly #naturalKey: string;
  readonly #byKey: ReadonlyMap<string, readonly DeviceRecord[]>;
  readonly #byNaturalKey: ReadonlyMap<string, readonly DeviceRecord[]>;
  readonly #unsettable: ReadonlySet<string>;
  readonly #shapes = new Map<string, ReturnType<typeof shapeOf>>();
  readonly #fields: ReadonlySet<string>;
  readonly #unknown = new Set<string>();

  constructor(device: DeviceRecords, options: MatchOptions, problems: Problems) {
    this.#device = device;
    this.#options = options;
    this.#problems = problems;
    const { name, profile, resource, records } = device;
    this.#fields = knownFields(profile, resource, records);
    const naturalKey = keyFieldOf(profile, resource, records);
    const keyField = naturalKey === '' ? '' : (options.key ?? naturalKey);
    this.about = { code: 'bad-change-file', name, resource, keyField };
    this.#naturalKey = naturalKey;
    this.#byNaturalKey = indexBy(records, naturalKey);
    this.#byKey = keyField === naturalKey ? this.#byNaturalKey : indexBy(records, keyField);
    this.#unsettable = new Set([
      ...profile.idFields,
      ...managedFields(profile, resource),
      ...fieldsWith(profile, resource, 'readOnly'),
    ]);
  }

  /** Adds a mistake in a row, or in one of its fields. */
  refuse(row: RecordRow, field: string | undefined, note: Note): void {
    this.#problems.add(() => [row.place(field), note]);
  }

  found(key: string): readonly DeviceRecord[] {
    return this.#byKey.get(key) ?? (this.#naturalKey === '' ? [{}] : []);
  }

  changedFields(row: RecordRow, record: DeviceRecord): DeviceRecord {
    const { isCells } = this.#options;
    const changed: [string, Value][] = [];
    const shown = withoutSecrets(record);
    for (const [field, given] of Object.entries(row.fields)) {
      const isSecret = isSecretField(field);
      const own = valueAt(isSecret ? record : shown, field);
      // A column of passwords has values only for new users.
      if (isSame(given, own, isCells) || (isSecret && given === '')) continue;
      if (this.#isUnsettable(field, own)) continue;
      if (!this.#isKnown(row, field)) continue;
      const value = this.#valueOf(row, field, given);
      if (value === undefined || isStored(value, own)) continue;
      if (own !== valueAt(record, field)) {
        this.refuse(row, field, { ...this.about, is: 'hidden-part', field });
        continue;
      }
      changed.push([field, value]);
    }
    return Object.fromEntries(changed);
  }

  newFields(row: RecordRow): DeviceRecord {
    const fields: [string, Value][] = [];
    for (const [field, given] of Object.entries(row.fields)) {
      // Empty cells are left to the device's defaults.
      if (this.#options.isCells && given === '') continue;
      if (this.#isUnsettable(field, given) || !this.#isKnown(row, field)) continue;
      const value = this.#valueOf(row, field, given);
      if (value !== undefined) fields.push([field, value]);
    }
    if (!fields.some(([field]) => field === this.#naturalKey)) {
      this.refuse(row, undefined, { ...this.about, is: 'needs-key', field: this.#naturalKey });
    }
    return Object.fromEntries(fields);
  }

  /** The change asks if the row shows another person than the record: the name may have been given again. */
  set(row: RecordRow, record: DeviceRecord, fields: DeviceRecord): Change {
    const { profile, resource } = this.#device;
    const target = this.#target(record);
    const change = { action: 'set', resource, target, fields, isExact: true } as const;
    const { agreeing, contradicting } = likenessOf(personOf(row.fields), record, []);
    const isPerson = this.#naturalKey !== '' && contradicting.length > 1;
    if (!isPerson || agreeing.length > 0) return change;
    const traits = contradicting.join(', ');
    const doubt = { code: 'bad-change-file', is: 'other-person', traits } as const;
    const identity = identityOf(profile, this.#naturalKey, record);
    return { ...change, meant: { ...identity, age: 'older', doubt } };
  }

  remove(record: DeviceRecord): Change {
    return { action: 'delete', resource: this.#device.resource, target: this.#target(record) };
  }

  /**
   * Reports deletes that are probably a mistake: a spreadsheet has changed the spelling (`Bob` or `bob `
   * for `bob`, `7` for `007`), or the file has no record of the device at all.
   */
  checkPrune(
    [first]: readonly RecordRow[],
    added: readonly { readonly row: RecordRow; readonly key: string }[],
    removed: readonly DeviceRecord[],
  ): void {
    const { keyField } = this.about;
    const count = this.#device.records.length;
    if (first !== undefined && count > 0 && removed.length === count) {
      this.refuse(first, undefined, { ...this.about, is: 'none-in-file', count });
      return;
    }
    const keys = removed.map((record) => valueText(valueAt(record, keyField)));
    const likeOf = lookAlikeAmong(keys);
    for (const { row, key } of added) {
      const other = likeOf(key);
      if (other === undefined) continue;
      this.refuse(row, keyField, { ...this.about, is: 'pruned-look-alike', key, other });
    }
  }

  /** Names a record by natural key, or by id if several records share it. */
  #target(record: DeviceRecord): { kind: 'key'; key: string } {
    const key = valueText(valueAt(record, this.#naturalKey));
    const isOnly = this.#byNaturalKey.get(key)?.length === 1;
    return { kind: 'key', key: isOnly ? key : (idOf(this.#device.profile, record) ?? key) };
  }

  /** Ids, fields that are read-only or managed by the device, and timestamps. */
  #isUnsettable(field: string, value: Value | undefined): boolean {
    const { profile, resource } = this.#device;
    const isTaken = isWritable(fieldFacts(profile, resource, field));
    const isOwn =
      field !== this.#naturalKey &&
      (this.#unsettable.has(field) ||
        field === this.#options.key ||
        (isTimeStamp(value) && !isTaken));
    if (isOwn) this.ignored.add(field);
    return isOwn;
  }

  /** Whether the device has the field, as far as that is known. */
  #isKnown(row: RecordRow, field: string): boolean {
    const fields = this.#fields;
    if (fields.size === 0 || fields.has(field) || isSecretField(field)) return true;
    if (!this.#unknown.has(field)) {
      const hint = nearHint(field, fields);
      this.refuse(row, field, { ...this.about, is: 'unknown-column', field, hint });
    }
    this.#unknown.add(field);
    return false;
  }

  #valueOf(row: RecordRow, field: string, given: Value): Value | undefined {
    const shape = this.#shapes.get(field) ?? shapeOf(this.#device, field);
    this.#shapes.set(field, shape);
    const typed = fieldValue(given, shape, this.#options.isCells);
    if (typed.problem !== undefined) {
      const { problem } = typed;
      this.#problems.add(() => [`${row.place(field)}: ${field}`, problem]);
      return undefined;
    }
    const { profile, resource } = this.#device;
    const isChecked = this.#options.allow?.has('invalid') !== true;
    const problem = isChecked && checkValue(fieldFacts(profile, resource, field), typed.value);
    if (!problem) return typed.value;
    this.refuse(row, field, { ...this.about, is: 'objection', field, problem: textOf(problem) });
    return undefined;
  }
}

function indexBy(
  records: readonly DeviceRecord[],
  field: string,
): ReadonlyMap<string, readonly DeviceRecord[]> {
  return grouped(records, (record) => valueText(valueAt(record, field)));
}

/** Finds the key that a spreadsheet or a look-alike letter may have turned into another one. */
export function lookAlikeAmong(keys: readonly string[]): (key: string) => string | undefined {
  const looks = new Map(keys.map((key) => [spelling(key), key]));
  return (key) => looks.get(spelling(key)) ?? keys.find((other) => isNumberOf(key, other));
}

function spelling(key: string): string {
  return lookOf(key.trim().replace(/^0+(?=\d)/, ''));
}

/** `1.2E+05` for 123456, `100,000` for 100000: a number as a spreadsheet shows it. */
function isNumberOf(shown: string, key: string): boolean {
  const [, whole, digits = '', exponent] =
    /^(\d[\d,' ]*)(?:[.,](\d+))?(?:E([+-]?\d+))?$/i.exec(shown.trim()) ?? [];
  if (whole === undefined || !/^\d+$/.test(key)) return false;
  const places = exponent === undefined ? 15 : digits.length;
  const value = Number(`${whole.replace(/\D/g, '')}.${digits || '0'}e${exponent ?? 0}`);
  return value.toExponential(places) === Number(key).toExponential(places);
}
