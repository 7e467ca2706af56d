import type { DeviceRecord } from '../../device/record.ts';
import { valueText } from '../../device/value-text.ts';
import { lookOf } from '../../look-alike.ts';
import { valueAt } from '../../value-at.ts';
import { allowHint } from '../allow.ts';
import type { Problems, RecordRow } from './record-file.ts';

/** What pruning would do on one device. */
export interface Pruning {
  readonly name: string;
  readonly resource: string;
  /** The field that rows and records were matched by. */
  readonly keyField: string;
  readonly rows: readonly RecordRow[];
  /** The rows that no record was found for, with what they are called. */
  readonly added: readonly { readonly row: RecordRow; readonly key: string }[];
  /** How many records the device holds, and which of them would be deleted. */
  readonly held: number;
  readonly removed: readonly DeviceRecord[];
}

/**
 * A file that was saved by a spreadsheet, or that is about something else, must not delete what it only
 * spells in another way: `Bob` or `bob ` for `bob`, `7` for `007`, or no record of the device at all.
 */
export function checkPrune(
  { name, resource, keyField, rows, added, held, removed }: Pruning,
  problems: Problems,
): void {
  const [first] = rows;
  if (first !== undefined && held > 0 && removed.length === held) {
    const text = `none of the ${held} ${resource}s of ${name} is in the file: --prune would delete them all; --key says by which field they are matched instead of ${keyField}, --allow prune deletes them`;
    problems.add(() => first.place(), text);
    return;
  }
  const looks = new Map(
    removed.map((record) => {
      const key = valueText(valueAt(record, keyField));
      return [spelling(key), key];
    }),
  );
  for (const { row, key } of added) {
    const other = looks.get(spelling(key));
    if (other === undefined) continue;
    const text = `"${key}" looks like "${other}" on ${name}, which --prune would delete: write it in the same way, or ${allowHint('prune')}`;
    problems.add(() => row.place(keyField), text);
  }
}

function spelling(key: string): string {
  return lookOf(key.trim().replace(/^0+(?=\d)/, ''));
}
