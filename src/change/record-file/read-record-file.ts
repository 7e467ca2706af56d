import { JsonFailure, jsonIn, parseJsonFile, parseStrictJson } from '../../device/json.ts';
import {
  type DeviceRecord,
  isValueList,
  isValueObject,
  type Value,
  valueAt,
  withoutFields,
} from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { YamlSource } from '../../text/yaml-source.ts';
import {
  formatOfFile,
  Problems,
  type RecordFile,
  type RecordFormat,
  type RecordRow,
  type Rename,
} from './record-file.ts';
import { isSecretField } from '../../device/sensitive-fields.ts';
import { MASK } from '../../text/one-line.ts';
import { csvRows, type CsvRow, widthProblem } from '../../text/csv.ts';
import { decodeCell } from './csv-cell.ts';

/** A file of records, and the mistakes that were found in it. */
interface Source {
  readonly text: string;
  readonly name: string;
  readonly rename: Rename;
  readonly problems: Problems;
}

/**
 * Reads the records of a file: CSV, JSON, JSON lines or YAML, by its extension, else by its start. Throws a
 * `UsageError` with `file:line:column` of up to twenty mistakes.
 */
export function readRecordFile(text: string, name: string, rename: Rename): RecordFile {
  if (text.includes('\0')) {
    throw new UsageError({ code: 'bad-change-file', is: 'not-utf8', file: name });
  }
  const problems = new Problems();
  const read = READERS[formatOfFile(name) ?? formatOfText(text)];
  const file = read({ text, name, rename, problems });
  problems.throwAny();
  if (file.rows.length === 0 && file.missing.length === 0) {
    throw new UsageError({ code: 'bad-change-file', is: 'no-records', file: name });
  }
  return file;
}

const READERS: Readonly<Record<RecordFormat, (source: Source) => RecordFile>> = {
  csv: readCsv,
  json: readJson,
  jsonl: readJsonLines,
  yaml: readYaml,
};

function formatOfText(text: string): RecordFormat {
  const start = text.replace(/^\ufeff/, '').trimStart();
  if (start.startsWith('[')) return 'json';
  const [line = ''] = start.split(/\r?\n/, 1);
  if (start.startsWith('{')) return isJson(line) ? 'jsonl' : 'json';
  return /^(?:#|---|- |-$|\w+: |\w+:$)/.test(line) ? 'yaml' : 'csv';
}

function isJson(line: string): boolean {
  const value = jsonIn(line);
  return value !== undefined && !(isValueObject(value) && 'devices' in value);
}

/** In UTF-16 units. A mistake in a longer JSON text has its path in place of its line: finding that takes much memory. */
const MOST_PLACED = 4_000_000;

function readJson(source: Source): RecordFile {
  const { text, name } = source;
  let yaml: YamlSource | undefined;
  return readRecords(parseJsonFile(text, name), source, (path) => {
    // JSON is YAML, and its reader knows places. It is slower, so only a mistake starts it.
    if (text.length > MOST_PLACED) return `${name}: ${path.join('.')}`;
    yaml ??= new YamlSource(text, name, UsageError);
    return yaml.place(path);
  });
}

function readYaml(source: Source): RecordFile {
  const yaml = new YamlSource(source.text, source.name, UsageError);
  // The YAML reader produces only values; undefined for an empty file.
  const data = (yaml.data({ readsScalars: true }) ?? []) as Value;
  return readRecords(data, source, (path) => yaml.place(path));
}

function readJsonLines(source: Source): RecordFile {
  const { text, name, problems } = source;
  const values: Value[] = [];
  const lines: number[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(parseStrictJson(line));
      lines.push(index + 1);
    } catch (error) {
      if (!(error instanceof JsonFailure)) throw error;
      const place = `${name}:${index + 1}:${(error.offset ?? 0) + 1}`;
      problems.add(() => [place, error.message]);
    }
  }
  return readRecords(values, source, ([index]) => `${name}:${lines[Number(index)] ?? 1}`);
}

type Path = readonly (string | number)[];

/** The place of a path in the text: `file:line:column`, or `file:line`. */
type PlaceOf = (path: Path) => string;

/**
 * Reads the records of a document: of `export` or `list --json` (`devices:` with `records:`), a list of
 * `{device, record}`, or plain records, where `device` is no field.
 */
function readRecords(
  data: Value,
  { name, rename, problems }: Source,
  placeOf: PlaceOf,
): RecordFile {
  const rows: RecordRow[] = [];
  const missing: string[] = [];
  const empty: string[] = [];

  const record = (value: Value, path: Path, device: string | undefined): void => {
    if (!isValueObject(value)) {
      problems.add(() => [placeOf(path), { code: 'bad-change-file', is: 'record' }]);
      return;
    }
    rows.push(rowOf(value, { path, device }, rename, placeOf));
  };
  const item = (value: Value, path: Path): void => {
    if (!isValueObject(value)) {
      record(value, path, undefined);
      return;
    }
    const { device, fields } = withoutDevice(value, rename);
    const wrapped = valueAt(value, 'record');
    const names = Object.keys(value);
    if (device !== undefined && wrapped !== undefined && names.length === 2) {
      record(wrapped, [...path, 'record'], device);
    } else if (isFailure(value)) {
      missing.push(device ?? '');
    } else {
      record(fields, path, device);
    }
  };
  const ofDevice = (value: Value, path: Path): void => {
    const [device, records] = ['device', 'records'].map((key) => partAt(value, key));
    if (typeof device !== 'string') {
      problems.add(() => [placeOf(path), { code: 'bad-change-file', is: 'bad-device' }]);
    } else if (isValueList(records)) {
      if (records.length === 0) empty.push(device);
      for (const [index, one] of records.entries())
        record(one, [...path, 'records', index], device);
    } else {
      missing.push(device);
    }
  };

  const devices = partAt(data, 'devices');
  if (isValueList(devices)) {
    for (const [index, one] of devices.entries()) ofDevice(one, ['devices', index]);
  } else if (isValueObject(data) && Object.hasOwn(data, 'schema')) {
    problems.add(() => [placeOf([]), { code: 'bad-change-file', is: 'no-devices' }]);
  } else if (isValueList(data)) {
    for (const [index, one] of data.entries()) item(one, [index]);
  } else {
    item(data, []);
  }
  const [resource, filter] = ['resource', 'filter'].map((key) =>
    devices === undefined ? undefined : partAt(data, key),
  );
  return {
    name,
    rows,
    isCells: false,
    missing,
    empty,
    ...(typeof resource === 'string' && { resource }),
    ...(typeof filter === 'string' && { filter }),
  };
}

function partAt(value: Value, key: string): Value | undefined {
  return isValueObject(value) ? valueAt(value, key) : undefined;
}

function rowOf(
  record: DeviceRecord,
  { path, device = '' }: { path: Path; device?: string | undefined },
  rename: Rename,
  placeOf: PlaceOf,
): RecordRow {
  const renamed = Object.entries(record).flatMap(([name, value]): [string, Value, string][] => {
    const field = rename(name);
    // A masked secret has no value to send.
    const isHidden = value === MASK && isSecretField(name);
    return field === undefined || isHidden ? [] : [[field, value, name]];
  });
  return {
    ...(device !== '' && { device }),
    fields: Object.fromEntries(renamed.map(([field, value]) => [field, value])),
    place: (field) => {
      const [, , name] = renamed.find(([other]) => other === field) ?? [];
      return placeOf(name === undefined ? path : [...path, name]);
    },
  };
}

/** `--map` may make `device` a field. */
function isDevice(name: string, rename: Rename): boolean {
  return /^device$/i.test(name) && rename(name) === name;
}

/** The device and the fields of a plain record. */
function withoutDevice(
  record: DeviceRecord,
  rename: Rename,
): { device?: string; fields: DeviceRecord } {
  const field = Object.keys(record).find((name) => isDevice(name, rename));
  const device = field === undefined ? undefined : record[field];
  if (field === undefined || typeof device !== 'string') return { fields: record };
  return { device, fields: withoutFields(record, [field]) };
}

/** The line that `export` writes for a device that could not be read. */
function isFailure(value: DeviceRecord): boolean {
  const error = valueAt(value, 'error');
  return (
    Object.keys(value).length === 3 &&
    typeof valueAt(value, 'device') === 'string' &&
    Object.hasOwn(value, 'address') &&
    isValueObject(error) &&
    typeof error['code'] === 'string'
  );
}

/** Records as CSV: the first line has the field names; `DEVICE`, in any case, is no field. */
function readCsv({ text, name, rename, problems }: Source): RecordFile {
  const placeOf = ({ line }: CsvRow): string => `${name}:${line}`;
  const [first = { cells: [], line: 1 }, ...others] = csvRows(text, name);
  const columns = first.cells.map((cell) => decodeCell(cell).text);
  const deviceAt = columns.findIndex((column) => isDevice(column, rename));
  // A spreadsheet may leave empty columns; `--map COLUMN=` omits one.
  const names = columns.map((column, index) =>
    column === '' || index === deviceAt ? undefined : rename(column),
  );
  for (const field of new Set(names.filter((one, index) => names.indexOf(one) < index))) {
    if (field === undefined) continue;
    problems.add(() => [placeOf(first), { code: 'bad-change-file', is: 'same-column', field }]);
  }
  const rows = others.flatMap((row): RecordRow[] => {
    const problem = widthProblem(row, columns.length);
    if (problem !== undefined) {
      problems.add(() => [placeOf(row), problem]);
      return [];
    }
    const cells = row.cells.flatMap((cell, index): [string, string][] =>
      names[index] === undefined ? [] : [[columns[index] ?? '', cell]],
    );
    const device = decodeCell(row.cells[deviceAt] ?? '').text;
    return [rowOf(Object.fromEntries(cells), { device, path: [] }, rename, () => placeOf(row))];
  });
  return { name, rows, isCells: true, missing: [] };
}
