import { type DeviceRecord, isValueList, type Value } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { isSecretField, MASK, maskedRecord, maskedValue } from '../../device/sensitive-fields.ts';

/** One record as a file has it. */
export interface RecordRow {
  /** On which device; absent: on all that are selected. */
  readonly device?: string | undefined;
  readonly fields: DeviceRecord;
  /** `file:line:column` of the record, or of one of its fields. Worked out when it is asked for. */
  readonly place: (field?: string) => string;
}

/** The records of a file that was exported, or made by hand. */
export interface RecordFile {
  readonly name: string;
  readonly rows: readonly RecordRow[];
  /** The fields are cells of CSV, all text, not values. */
  readonly isCells: boolean;
  /** What they are records of, where the file says so. */
  readonly resource?: string | undefined;
  /** Only the records that match this were exported. */
  readonly filter?: string | undefined;
  /** Devices that could not be read when it was exported. */
  readonly missing: readonly string[];
}

/** What a column, or a field, of the file is called on the devices; undefined: it is left out. */
export type Rename = (name: string) => string | undefined;

const MOST_PROBLEMS = 20;

/** What is wrong with a file: all of it is said at once, before anything is sent. */
export class Problems {
  readonly #texts = new Set<string>();
  #more = 0;

  /** Place and message are only worked out for those that are said. */
  add(place: () => string, message: string | (() => string)): void {
    if (this.#texts.size >= MOST_PROBLEMS) {
      this.#more += 1;
      return;
    }
    this.#texts.add(`${place()}: ${typeof message === 'string' ? message : message()}`);
  }

  /** Throws a UsageError with the first twenty, where there are any. */
  throwAny(): void {
    if (this.#texts.size === 0) return;
    const rest = this.#more > 0 ? [`and ${this.#more} more`] : [];
    const sent = this.#texts.size > 1 ? ['nothing was sent'] : [];
    throw new UsageError([...this.#texts, ...rest, ...sent].join('\n'));
  }
}

/** What is wrong with a row that does not say which record it is about. */
export function keylessText({ fields }: RecordRow, resource: string, keyField: string): string {
  const names = Object.keys(fields).slice(0, 10).join(', ');
  return `this ${resource} has no ${keyField}, only ${names} (--map COLUMN=${keyField}, or --key)`;
}

/** `line:column`, both from 1, of an offset in a text. */
export function lineAndColumn(text: string, offset: number): string {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `${line}:${Array.from(text.slice(start, offset)).length + 1}`;
}

export type RecordFormat = 'csv' | 'json' | 'jsonl' | 'yaml';

/** The format of a file of records, by the end of its name. */
export function formatOfFile(name: string): RecordFormat | undefined {
  const [, end = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  switch (end) {
    case 'csv':
    case 'tsv':
      return 'csv';
    case 'json':
      return 'json';
    case 'jsonl':
    case 'ndjson':
      return 'jsonl';
    case 'yaml':
    case 'yml':
      return 'yaml';
    default:
      return undefined;
  }
}

/** A record without its secrets, also those inside nested values; itself where there are none. */
export function withoutSecrets(record: DeviceRecord): DeviceRecord {
  if (maskedRecord(record) === record) return record;
  return Object.fromEntries(
    Object.entries(record)
      .filter(([field, value]) => !isSecret(field, value))
      .map(([field, value]) => [field, openPart(value)]),
  );
}

/** The fields of the records that are secret, or hold secrets. */
export function secretFields(records: readonly DeviceRecord[]): string[] {
  const fields = new Set<string>();
  for (const record of records) {
    const open = withoutSecrets(record);
    if (open === record) continue;
    for (const field in record) if (record[field] !== open[field]) fields.add(field);
  }
  return [...fields];
}

/** By its name, or as JSON in a text. */
function isSecret(field: string, value: Value): boolean {
  return isSecretField(field) || (value !== MASK && maskedValue(field, value) === MASK);
}

function openPart(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (!isValueList(value)) return withoutSecrets(value);
  const open = value.filter((item) => !isSecret('', item)).map(openPart);
  return open.length === value.length && open.every((item, index) => item === value[index])
    ? value
    : open;
}
