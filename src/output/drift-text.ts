import {
  devicesWith,
  devicesWithout,
  type Drift,
  type DriftCell,
  type DriftRow,
  type FieldDrift,
} from '../fleet/drift.ts';
import { quotedKey } from '../change/plan.ts';
import type { DriftOutput } from '../shell/output.ts';
import { visible } from '../text/visible.ts';
import { columnTitle, quotedText } from './cells.ts';
import type { TextTable } from './table-text.ts';

/** Above this number, devices are only counted. */
const MOST_NAMES = 4;

/** The records that differ; on a terminal, each difference has its own row. */
export function driftCells({ drift, resource }: DriftOutput, isTty: boolean): TextTable {
  const key = drift.keyField === '' ? resource : drift.keyField;
  return {
    columns: [
      { title: columnTitle(key), role: 'key' },
      { title: 'ON', role: 'field' },
      { title: 'DIFFERENCE', role: 'whole' },
    ],
    rows: drift.rows
      .filter(({ isSame }) => !isSame)
      .flatMap((row) => {
        const head = [keyText(row, resource), onText(drift, row)];
        const texts = differenceTexts(drift, row);
        if (!isTty) return [[...head, texts.join('; ')]];
        return texts.map((text, index) => [...(index === 0 ? head : ['', '']), text]);
      }),
  };
}

/** `bob`, or `(resource)` if there is no key. */
export function keyText({ key }: DriftRow, resource: string): string {
  return key === '' ? `(${visible(resource)})` : visible(quotedKey(key));
}

/** `9 of 10`; `9 of 10 read` if some were not read. */
export function onText(drift: Drift, row: DriftRow): string {
  const read = drift.unread.length === 0 ? '' : ' read';
  return `${devicesWith(drift, row).length} of ${drift.devices.length}${read}`;
}

/** `missing on fw3`, `lang differs: de on 8, fr on fw2`: each difference of a record in words. */
export function differenceTexts(drift: Drift, row: DriftRow): string[] {
  const names = (devices: readonly { name: string }[]): string =>
    namesText(devices.map(({ name }) => name));
  const missing = devicesWithout(drift, row);
  const holders = devicesWith(drift, row);
  const texts: string[] = [];
  if (missing.length > 0) {
    const isRare = holders.length < missing.length;
    const isListed = row.cells.some(({ kind }) => kind === 'not listed');
    const [only, not] = isListed ? ['only listed', 'not listed'] : ['only', 'missing'];
    texts.push(isRare ? `${only} on ${names(holders)}` : `${not} on ${names(missing)}`);
  }
  texts.push(...row.fields.map(fieldText));
  const counts = new Set(row.held.map(({ length }) => length).filter((count) => count > 0));
  // Equal counts may hide records that combine the same values differently.
  if (counts.size > 1 || (texts.length === 0 && !row.isSame)) {
    const most = Math.max(...counts);
    const twice = drift.devices.filter((_, index) => row.held[index]?.length === most);
    texts.push(`${most} times on ${names(twice)}`);
  }
  return texts;
}

/** `same`, `only`, `missing`, `not listed`, `differs: lang, first_name` */
export function driftWord(cell: DriftCell): string {
  if (cell.kind !== 'differs' || cell.fields.length === 0) return cell.kind;
  return `differs: ${cell.fields.map(visible).join(', ')}`;
}

function fieldText({ field, values }: FieldDrift): string {
  const shown = values.map(({ value, devices }) => {
    return `${quotedText(field, value)} on ${namesText(devices)}`;
  });
  return `${visible(field)} differs: ${shown.join(', ')}`;
}

function namesText(names: readonly string[]): string {
  if (names.length > MOST_NAMES) return `${names.length} devices`;
  return visible(names.join(', '));
}
