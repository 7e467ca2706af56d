import { isSecretField, MASK } from '../../device/secret-fields.ts';
import type { DeviceRecord, Value } from '../../device/record.ts';
import { isValueObject, isValueList } from '../../device/value-text.ts';
import { valueAt } from '../../value-at.ts';
import type { Problems, RecordFile, RecordRow, Rename } from './record-file.ts';

type Path = readonly (string | number)[];

/** Where in the text something stands: `file:line:column`. */
type PlaceOf = (path: Path) => string;

/**
 * The records of a document: that of `export` or `list --json` (`devices:` with `records:`), lines or a list
 * of `{device, record}`, or plain records, where `device` is no field.
 */
export function readRecordValues(
  data: Value,
  name: string,
  rename: Rename,
  problems: Problems,
  placeOf: PlaceOf,
): RecordFile {
  const rows: RecordRow[] = [];
  const missing: string[] = [];

  const record = (value: Value, path: Path, device: string | undefined): void => {
    if (!isValueObject(value)) {
      problems.add(() => placeOf(path), 'a record looks like {"username": "bob", "lang": "de"}');
      return;
    }
    rows.push(rowOf(value, path, device, rename, placeOf));
  };
  const item = (value: Value, path: Path): void => {
    if (!isValueObject(value)) {
      record(value, path, undefined);
      return;
    }
    const device = deviceOf(value, rename);
    const wrapped = valueAt(value, 'record');
    const names = Object.keys(value);
    if (device !== undefined && wrapped !== undefined && names.length === 2) {
      record(wrapped, [...path, 'record'], device.name);
    } else if (isFailure(value)) {
      missing.push(device?.name ?? '');
    } else if (device === undefined) {
      record(value, path, undefined);
    } else {
      const fields = Object.entries(value).filter(([field]) => field !== device.field);
      record(Object.fromEntries(fields), path, device.name);
    }
  };
  const ofDevice = (value: Value, path: Path): void => {
    const records = isValueObject(value) ? valueAt(value, 'records') : undefined;
    const device = isValueObject(value) ? valueAt(value, 'device') : undefined;
    if (typeof device !== 'string') {
      problems.add(() => placeOf(path), 'a device of an export has "device" and "records"');
    } else if (isValueList(records)) {
      for (const [index, one] of records.entries())
        record(one, [...path, 'records', index], device);
    } else {
      missing.push(device);
    }
  };

  const devices = isValueObject(data) ? valueAt(data, 'devices') : undefined;
  if (isValueObject(data) && isValueList(devices)) {
    for (const [index, one] of devices.entries()) ofDevice(one, ['devices', index]);
  } else if (isValueObject(data) && Object.hasOwn(data, 'schema')) {
    problems.add(
      () => placeOf([]),
      'this document of devsh has no records: there is no "devices" in it',
    );
  } else if (isValueList(data)) {
    for (const [index, one] of data.entries()) item(one, [index]);
  } else {
    item(data, []);
  }
  const [resource, filter] = ['resource', 'filter'].map((key) =>
    isValueObject(data) && devices !== undefined ? valueAt(data, key) : undefined,
  );
  return {
    name,
    rows,
    isCells: false,
    missing,
    ...(typeof resource === 'string' && { resource }),
    ...(typeof filter === 'string' && { filter }),
  };
}

function rowOf(
  record: DeviceRecord,
  path: Path,
  device: string | undefined,
  rename: Rename,
  placeOf: PlaceOf,
): RecordRow {
  const said = Object.entries(record).flatMap(([name, value]): [string, Value, string][] => {
    const field = rename(name);
    // A secret that was masked when it was printed tells nothing.
    const isHidden = value === MASK && isSecretField(name);
    return field === undefined || isHidden ? [] : [[field, value, name]];
  });
  return {
    ...(device !== undefined && device !== '' && { device }),
    fields: Object.fromEntries(said.map(([field, value]) => [field, value])),
    place: (field) => {
      const [, , name] = said.find(([other]) => other === field) ?? [];
      return placeOf(name === undefined ? path : [...path, name]);
    },
  };
}

/** The device that a plain record names, unless `--map` says that it is a field. */
function deviceOf(
  record: DeviceRecord,
  rename: Rename,
): { name: string; field: string } | undefined {
  const field = Object.keys(record).find((name) => /^device$/i.test(name) && rename(name) === name);
  const name = field === undefined ? undefined : record[field];
  return field === undefined || typeof name !== 'string' ? undefined : { name, field };
}

/** As `export` says in a line that a device could not be read. */
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
