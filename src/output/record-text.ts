import type { FoldedRow } from '../fleet/fold.ts';
import type { ReadTable } from './read-table.ts';
import { visible } from '../visible.ts';
import type { Style } from './style.ts';
import { fieldText } from './value.ts';
import { fit, widthOf } from './width.ts';
import { valueAt } from '../value-at.ts';

/** One block for each record, every field in full, the device as heading. */
export function recordLines({ view, rows, fields }: ReadTable, style: Style): string[] {
  const labels = fields.map(visible);
  const width = Math.max(0, ...labels.map(widthOf));
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [''] : []),
    style('heading', visible(row.devices.map(({ name }) => name).join(', '))),
    ...fields.map((field, at) => {
      const isDiffering = row.differing.includes(field);
      const text = recordText(row, field, view.perDevice);
      const note = isDiffering ? '  ' + style('warning', '(differs between devices)') : '';
      return `  ${fit(labels[at] ?? '', width)}  ${text}${note}`.trimEnd();
    }),
  ]);
}

function recordText(row: FoldedRow, field: string, perDevice: readonly string[]): string {
  const texts = row.records.map((record) => fieldText(field, valueAt(record, field)));
  if (!perDevice.includes(field) || new Set(texts).size === 1) return texts[0] ?? '';
  return texts.map((text, at) => `${text} (${visible(row.devices[at]?.name ?? '')})`).join(', ');
}
