import { comparedText, isCompared } from '../../fleet/compared.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { grouped, type Value, valueAt, valueText } from '../../device/record.ts';
import { isMask, isSecretField, maskedValue } from '../../device/sensitive-fields.ts';
import type { Note } from '../../output/sentences.ts';
import { nearHint } from '../../text/suggest.ts';
import type { Known } from '../typed-fields.ts';
import { cellValue, isSame } from './csv-cell.ts';
import { lookAlikeAmong } from './match-rows.ts';
import {
  Problems,
  type RecordFile,
  type RecordRow,
  rowsByKey,
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
  readonly note?: Note;
}

/** Reads the expected records of a file. Throws a `UsageError` for secrets, and what `readRecordFile` throws. */
export function readBaseline(text: string, name: string): RecordFile {
  const file = readRecordFile(text, name, (field) => field);
  const problems = new Problems();
  for (const row of file.rows) {
    for (const [field, value] of Object.entries(row.fields)) {
      if (isMask(value) || maskedValue(field, value) === value) continue;
      problems.add(() => [row.place(field), { code: 'bad-change-file', is: 'secret', field }]);
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

/** Compares the records of a device with the rows for it, and adds mistakes in the rows to the problems. */
export function deviationsFrom(
  rows: readonly RecordRow[],
  device: Known & { readonly name: string },
  { isCells, perDevice, fields }: Rules,
  problems: Problems,
): Deviation[] {
  const { profile, resource, records } = device;
  const keyField = keyFieldOf(profile, resource, records);
  const expected = new Map(rowsByKey(rows, { ...device, keyField, isCells }, problems));
  const stored = grouped(records, (record) => valueText(record[keyField]));
  const found = [...stored].flatMap(([key, [record, ...others]]): Deviation[] => {
    const row = expected.get(key);
    if (row === undefined) {
      const likeOf = lookAlikeAmong([key]);
      const other = Array.from(expected.keys()).find((one) => likeOf(one) !== undefined);
      if (other === undefined) return [{ state: 'unexpected', key }];
      const note = { code: 'bad-change-file', is: 'look-alike', other } as const;
      return [{ state: 'unexpected', key, note }];
    }
    const count = others.length + 1;
    const note = { code: 'bad-change-file', is: 'shared-key', count, keyField } as const;
    const more: Deviation[] = others.length === 0 ? [] : [{ state: 'unexpected', key, note }];
    const stated = Object.keys(row.fields).filter(
      (field) => field !== keyField && fields?.includes(field) !== false,
    );
    const shown = withoutSecrets(record);
    const differing = stated.flatMap((field): Deviation[] => {
      const held = valueAt(shown, field);
      if (!isCompared(field, keyField, perDevice)) return [];
      const given = row.fields[field] ?? null;
      const value = isCells ? cellValue(given) : given;
      const isEqual =
        isSame(given, held, isCells) ||
        comparedText(field, value, perDevice) === comparedText(field, held, perDevice);
      return isEqual ? [] : [{ state: 'differs', key, field, expected: value, held: held ?? null }];
    });
    return [...differing, ...more];
  });
  const missing = [...expected.keys()].filter((key) => !stored.has(key));
  return [...found, ...missing.map((key): Deviation => ({ state: 'missing', key }))];
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
      const note = { code: 'bad-change-file', is: 'unknown-field', resource, field, hint } as const;
      problems.add(() => [row.place(field), note]);
    }
  }
}
