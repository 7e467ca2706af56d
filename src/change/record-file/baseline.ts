import { comparedText, isCompared } from '../../fleet/compared.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { grouped, type Value, valueAt, valueText } from '../../device/record.ts';
import { isMask, isSecretField, maskedValue } from '../../device/sensitive-fields.ts';
import { nearHint } from '../../text/suggest.ts';
import { isStored } from '../../device/equality.ts';
import type { Known } from '../typed-fields.ts';
import { cellValue, isSameCell, keyOfRow } from './csv-cell.ts';
import { lookAlikeAmong } from './match-rows.ts';
import {
  keylessText,
  Problems,
  type RecordFile,
  type RecordRow,
  withoutSecrets,
} from './record-file.ts';
import { readRecordFile } from './read-record-file.ts';

/** How a record of a device deviates from the baseline. */
export interface Deviation {
  readonly state: 'unexpected' | 'missing' | 'differs';
  readonly key: string;
  readonly field?: string;
  readonly expected?: Value;
  readonly held?: Value;
  readonly note?: string;
}

/** Reads the expected records of a file. Throws a `UsageError` for secrets, and what `readRecordFile` throws. */
export function readBaseline(text: string, name: string): RecordFile {
  const file = readRecordFile(text, name, (field) => field);
  const problems = new Problems();
  for (const row of file.rows) {
    for (const [field, value] of Object.entries(row.fields)) {
      if (isMask(value) || maskedValue(field, value) === value) continue;
      const isNamed = isSecretField(field);
      problems.add(
        () => row.place(field),
        `${field} ${isNamed ? 'is' : 'contains'} a secret: a baseline is shared and has none; remove ${isNamed ? 'the field' : 'it'}`,
      );
    }
  }
  problems.throwAny();
  return file;
}

interface Rules {
  readonly isCells: boolean;
  /** Fields with a value per device. */
  readonly perDevice: ReadonlySet<string>;
  /** Only these are compared; undefined: all that the file states. */
  readonly fields?: readonly string[] | undefined;
}

/** Compares the records of a device with the rows for it, and adds what is wrong with these to the problems. */
export function deviationsFrom(
  rows: readonly RecordRow[],
  device: Known & { readonly name: string },
  { isCells, perDevice, fields }: Rules,
  problems: Problems,
): Deviation[] {
  const { profile, resource, records, name } = device;
  const keyField = keyFieldOf(profile, resource, records);
  const expected = new Map<string, RecordRow>();
  for (const row of rows) {
    const key = keyOfRow(row, keyField, isCells);
    const earlier = expected.get(key);
    if (key === '' && keyField !== '') {
      problems.add(() => row.place(), keylessText(row, resource, keyField));
    } else if (earlier !== undefined) {
      const first = (): string => earlier.place(keyField);
      problems.add(
        () => row.place(keyField),
        () => `${resource} ${key} appears twice for ${name} (first at ${first()})`,
      );
    } else expected.set(key, row);
  }
  const stored = grouped(records, (record) => valueText(record[keyField]));
  const found = [...stored].flatMap(([key, [record, ...others]]): Deviation[] => {
    const row = expected.get(key);
    if (row === undefined) {
      const note = unexpectedNote(key, expected.keys());
      return [{ state: 'unexpected', key, ...(note !== undefined && { note }) }];
    }
    const more = others.map((): Deviation => {
      return {
        state: 'unexpected',
        key,
        note: `${others.length + 1} records with this ${keyField}`,
      };
    });
    const stated = Object.keys(row.fields).filter(
      (field) => field !== keyField && fields?.includes(field) !== false,
    );
    const shown = withoutSecrets(record);
    const differing = stated.flatMap((field): Deviation[] => {
      const held = valueAt(shown, field);
      if (!isCompared(field, keyField, perDevice)) return [];
      const given = row.fields[field] ?? null;
      const value = isCells ? cellValue(given) : given;
      const isSame =
        (isCells && typeof given === 'string' ? isSameCell(given, held) : isStored(given, held)) ||
        comparedText(field, value, perDevice) === comparedText(field, held, perDevice);
      return isSame ? [] : [{ state: 'differs', key, field, expected: value, held: held ?? null }];
    });
    return [...differing, ...more.slice(0, 1)];
  });
  const missing = [...expected.keys()].filter((key) => !stored.has(key));
  return [...found, ...missing.map((key): Deviation => ({ state: 'missing', key }))];
}

/** Says which expected key could be confused with one that is not expected. */
function unexpectedNote(key: string, expected: Iterable<string>): string | undefined {
  const likeOf = lookAlikeAmong([key]);
  const like = Array.from(expected).find((other) => likeOf(other) !== undefined);
  return like === undefined ? undefined : `looks like "${like}" in the file`;
}

/** Adds the fields of a file that no record has: probably a mistyped column. */
export function checkKnownFields(
  file: RecordFile,
  known: ReadonlySet<string>,
  resource: string,
  problems: Problems,
): void {
  if (known.size === 0) return;
  const checked = new Set(known);
  for (const row of file.rows) {
    for (const field of Object.keys(row.fields)) {
      if (checked.has(field) || isSecretField(field)) continue;
      checked.add(field);
      const hint = nearHint(field, known);
      problems.add(
        () => row.place(field),
        `no ${resource} on the devices that were read has a field "${field}"${hint}`,
      );
    }
  }
}
