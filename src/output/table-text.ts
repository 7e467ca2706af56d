import type { Style } from './style.ts';
import { cut, fit, widthOf } from './width.ts';

/** What a column is for; it decides which ones shrink first. */
export type ColumnRole = 'device' | 'key' | 'field' | 'id' | 'note';

export interface TextColumn {
  readonly title: string;
  readonly role: ColumnRole;
}

/** Cells are one harmless line each (`cellText`). */
export interface TextTable {
  readonly columns: readonly TextColumn[];
  readonly rows: readonly (readonly string[])[];
}

const GAP = '  ';
const NUMBER = /^-?\d+(\.\d+)?$/;
/** The narrowest that each kind of column becomes before the next kind has to shrink. */
const SHRINKING: readonly { readonly roles: readonly ColumnRole[]; readonly floor: number }[] = [
  { roles: ['id'], floor: 9 },
  { roles: ['field', 'id'], floor: 6 },
  { roles: ['field', 'id', 'device', 'note'], floor: 6 },
  { roles: ['field', 'id', 'device', 'note', 'key'], floor: 3 },
];

/** For other programs: a header line and tabs, nothing cut. */
export function tabbedLines(table: TextTable): string[] {
  return [table.columns.map(({ title }) => title), ...table.rows].map((cells) => cells.join('\t'));
}

/** For people: columns aligned by display width, no line wider than the terminal. */
export function alignedLines(table: TextTable, terminalWidth: number, style: Style): string[] {
  const widths = table.columns.map(({ title }, index) =>
    table.rows.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), widthOf(title)),
  );
  shrink(widths, table.columns, terminalWidth - GAP.length * (widths.length - 1));
  const aligns = table.columns.map((_, index) => alignOf(table, index));
  const line = (cells: readonly string[]): string => {
    const text = widths
      .map((width, index) => fit(cells[index] ?? '', width, aligns[index]))
      .join(GAP);
    return cut(text.trimEnd(), terminalWidth);
  };
  // Notes speak for themselves.
  const header = line(table.columns.map(({ title, role }) => (role === 'note' ? '' : title)));
  return [style('heading', header), ...table.rows.map(line)];
}

/** Takes cells from the widest column that may still shrink, ids first, the key last. */
function shrink(widths: number[], columns: readonly TextColumn[], available: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) - available;
  for (const { roles, floor } of SHRINKING) {
    while (excess > 0) {
      let widest = -1;
      widths.forEach((width, index) => {
        const role = columns[index]?.role;
        if (!role || !roles.includes(role) || width <= floor) return;
        if (width > (widths[widest] ?? 0)) widest = index;
      });
      if (widest === -1) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      excess -= 1;
    }
  }
}

function alignOf(table: TextTable, index: number): 'left' | 'right' {
  const cells = table.rows.map((row) => row[index] ?? '').filter((cell) => cell !== '');
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell)) ? 'right' : 'left';
}
