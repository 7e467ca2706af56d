import { type DeviceRecord, isNested, isValueList, type Value } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { type Note, textOf } from '../../output/sentences.ts';
import { keyOfRow } from './csv-cell.ts';
import { isMask, isSecretField, maskedRecord, maskedValue } from '../../device/sensitive-fields.ts';

export interface RecordRow {
  /** The device; absent: all selected devices. */
  readonly device?: string | undefined;
  readonly fields: DeviceRecord;
  /** `file:line:column` of the record or one of its fields. Computed on demand. */
  readonly place: (field?: string) => string;
}

export interface RecordFile {
  readonly name: string;
  readonly rows: readonly RecordRow[];
  /** The fields are cells of CSV, all text, not values. */
  readonly isCells: boolean;
  /** The resource, if the file names it. */
  readonly resource?: string | undefined;
  /** The filter of the export. */
  readonly filter?: string | undefined;
  /** Devices that could not be read during the export. */
  readonly missing: readonly string[];
  /** Devices that had no record. */
  readonly empty?: readonly string[];
}

/** Maps a name in the file to the name of the field on the devices; undefined: it is omitted. */
export type Rename = (name: string) => string | undefined;

const MOST_PROBLEMS = 20;

/** Collects the mistakes in a file: all are reported at once, before anything is sent. */
export class Problems {
  readonly #texts = new Set<string>();
  #more = 0;

  /** The place, as `file:line:column`, and what is wrong there are computed only for reported mistakes. */
  add(problem: () => readonly [place: string, what: Note | string]): void {
    if (this.#texts.size >= MOST_PROBLEMS) {
      this.#more += 1;
      return;
    }
    const [place, what] = problem();
    this.#texts.add(`${place}: ${textOf(what)}`);
  }

  /** Throws a `UsageError` with the first twenty, if there are any. */
  throwAny(): void {
    const [problems, more] = [[...this.#texts], this.#more];
    if (problems.length === 0) return;
    throw new UsageError({ code: 'bad-change-file', is: 'problems', problems, more });
  }
}

/** The device that rows are for, and how its records are found. */
interface Keyed {
  readonly name: string;
  readonly resource: string;
  readonly keyField: string;
  readonly isCells: boolean;
}

/** The rows with their keys. Adds rows without one, and further rows of a key, to the problems. */
export function* rowsByKey(
  rows: readonly RecordRow[],
  { name: device, resource, keyField, isCells }: Keyed,
  problems: Problems,
): Generator<readonly [key: string, row: RecordRow]> {
  const code = 'bad-change-file';
  const seen = new Map<string, RecordRow>();
  for (const row of rows) {
    const key = keyOfRow(row, keyField, isCells);
    const earlier = seen.get(key);
    if (key === '' && keyField !== '') {
      const fields = Object.keys(row.fields).slice(0, 10).join(', ');
      problems.add(() => [row.place(), { code, is: 'keyless', resource, keyField, fields }]);
    } else if (earlier !== undefined && keyField === '') {
      problems.add(() => [row.place(), { code, is: 'second-row', resource, device }]);
    } else if (earlier !== undefined) {
      problems.add(() => {
        const first = earlier.place(keyField);
        return [row.place(keyField), { code, is: 'twice-for', resource, key, device, first }];
      });
    } else {
      seen.set(key, row);
      yield [key, row];
    }
  }
}

export type RecordFormat = 'csv' | 'json' | 'jsonl' | 'yaml';

export function formatOfFile(name: string): RecordFormat | undefined {
  const [, end = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  return FORMATS.get(end);
}

const FORMATS: ReadonlyMap<string, RecordFormat> = new Map([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
]);

/** A record without its secrets, including nested ones; the same object if it has none. */
export function withoutSecrets(record: DeviceRecord): DeviceRecord {
  if (maskedRecord(record) === record) return record;
  return Object.fromEntries(
    Object.entries(record)
      .filter(([field, value]) => !isSecret(field, value))
      .map(([field, value]) => [field, openPart(field, value)]),
  );
}

export function secretFields(records: readonly DeviceRecord[]): string[] {
  const fields = new Set<string>();
  for (const record of records) {
    const open = withoutSecrets(record);
    if (open === record) continue;
    for (const field in record) if (record[field] !== open[field]) fields.add(field);
  }
  return [...fields];
}

/** Whether a column is secret by its name, or by its value if that is JSON with secrets. */
function isSecret(field: string, value: Value): boolean {
  return isSecretField(field) || (!isMask(value) && isMask(maskedValue(field, value)));
}

function openPart(field: string, value: Value): Value {
  if (!isNested(value)) return value;
  if (!isValueList(value)) return withoutSecrets(value);
  const open = value.filter((item) => !isSecret(field, item)).map((item) => openPart(field, item));
  return open.length === value.length && open.every((item, index) => item === value[index])
    ? value
    : open;
}
