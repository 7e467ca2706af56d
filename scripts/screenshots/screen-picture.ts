import type { PtyProgram } from '../../test/pty/harness.ts';
import { widthOf } from '../../src/text/visible.ts';
import { BLANK, type Cell, type Picture } from './svg.ts';

/** Varying texts, and their replacements of the same length. */
const MASKS: readonly { readonly pattern: RegExp; readonly shown: string }[] = [
  { pattern: /\b\d{8}-\d{6}-[a-z0-9]{6}\b/g, shown: '20260302-094211-k3qd7m' },
  { pattern: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, shown: '2026-03-02T09:42:11.380Z' },
  {
    pattern: /\/tmp\/devsh-screenshots-\w{6}\/state/g,
    shown: '/home/firewall-team-01/.local/state',
  },
  { pattern: /\b127\.0\.0\.\d:\d{5}\b/g, shown: '10.20.30.4:8443' },
  { pattern: /\b127\.0\.0\.\d\d:\d{5}\b/g, shown: '10.20.30.41:8443' },
];

/** The current screen of a program. */
export function pictureOf(program: PtyProgram, title: string, columns: number): Picture {
  const { row, column, isShown } = program.cursor;
  return {
    title,
    columns,
    rows: program.screen().map((_, index) => masked(cellsOf(program, index, columns))),
    cursor: isShown ? { row, column } : undefined,
  };
}

function cellsOf(program: PtyProgram, row: number, columns: number): Cell[] {
  const cells: Cell[] = [];
  while (cells.length < columns) {
    const style = program.cellStyle(row, cells.length) ?? BLANK;
    const width = Math.max(1, widthOf(style.text));
    cells.push({ ...style, width });
    if (width === 2) cells.push({ ...style, text: '', width: 0 });
  }
  return cells;
}

function masked(cells: readonly Cell[]): Cell[] {
  // One character per cell, so that indices in the text are columns.
  const text = cells.map((cell) => (cell.text.length === 1 ? cell.text : ' ')).join('');
  const shown = [...cells];
  for (const { pattern, shown: instead } of MASKS) {
    for (const { index, 0: found } of text.matchAll(pattern)) {
      Array.from(found).forEach((_, offset) => {
        const cell = shown[index + offset];
        if (cell) shown[index + offset] = { ...cell, text: instead[offset] ?? ' ' };
      });
    }
  }
  return shown;
}
