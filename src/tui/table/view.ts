import { createStyle } from '../../output/streams.ts';
import { alignedLines } from '../../output/table-text.ts';
import type { Filter } from '../../fleet/filter.ts';
import type { FoldedRow } from '../../fleet/fold.ts';
import { cut, fit, widthOf } from '../../text/width.ts';
import { isMarkedRow } from './reduce-marks.ts';
import type { State, TableChanges } from '../state.ts';
import { type Column, columnLayout, GAP, GUTTER } from './columns.ts';
import { isStaleRow, staleText } from './age.ts';
import { marksOf, tableRows } from './rows.ts';
import { firstStepRows } from '../screen/first-steps.ts';

/** A part of a line: what the filter found in it, or what the last refresh found changed. */
export interface Piece {
  readonly kind: 'plain' | 'match' | 'changed';
  readonly text: string;
}

/** A line of the table, ready to be drawn: no wider than the screen, not padded. */
export interface RowView {
  readonly text: string;
  /** The same text in parts. */
  readonly pieces: readonly Piece[];
  readonly isCurrent: boolean;
  readonly isMarked: boolean;
  /** Its devices do not answer now: this is what they held. */
  readonly isStale: boolean;
}

interface TableView {
  readonly header: string;
  readonly rows: readonly RowView[];
}

/** The rows from `top` on, `height` of them with the header, fit into `width` cells. */
export function tableView(
  state: Pick<State, 'table' | 'fleet'>,
  width: number,
  height: number,
): TableView {
  const { table } = state;
  const data = tableRows(state);
  const { columns } = columnLayout(state, width);
  const header = columns.map((column) => fit(column.title, column.width, column.align)).join(GAP);
  const rows = data.rows.slice(table.top, table.top + Math.max(0, height - 1));
  return {
    header: cut(' '.repeat(GUTTER) + header.trimEnd(), width),
    rows: rows.map((row, index) => {
      const isCurrent = table.top + index === table.cursor;
      const isMarked = isMarkedRow(row, data.keyField, table.marks);
      const changed = changedIn(row, data.keyField, table.changes);
      const gutter = (isCurrent ? '▸' : ' ') + (isMarked ? '*' : changed.sign);
      const { applied } = table.filter;
      const isStale = isStaleRow(row, data.stale);
      const line = lineOf(row, { gutter, columns, width, applied, changed });
      return { isCurrent, isMarked, isStale, ...line };
    }),
  };
}

/** All that the line of a row depends on. */
interface LineParts {
  readonly gutter: string;
  readonly columns: readonly Column[];
  readonly width: number;
  readonly applied: Filter;
  readonly changed: RowChange;
}

type Line = Pick<RowView, 'text' | 'pieces'>;

/** From frame to frame most lines stay, or move as they are. */
const drawn = new WeakMap<FoldedRow, { readonly parts: LineParts; readonly line: Line }>();

function lineOf(row: FoldedRow, parts: LineParts): Line {
  const known = drawn.get(row);
  if (known !== undefined && isSame(known.parts, parts)) return known.line;
  const pieces = trimmed(
    parts.columns.flatMap((column, at): Piece[] => [
      { kind: 'plain', text: at === 0 ? parts.gutter : GAP },
      ...cellPieces(column, row, parts.applied, parts.changed.fields),
    ]),
    parts.width,
  );
  const line = { pieces, text: pieces.map(({ text }) => text).join('') };
  drawn.set(row, { parts, line });
  return line;
}

function isSame(a: LineParts, b: LineParts): boolean {
  return (
    a.gutter === b.gutter &&
    a.columns === b.columns &&
    a.width === b.width &&
    a.applied === b.applied &&
    a.changed === b.changed
  );
}

interface RowChange {
  /** `~` changed, `+` new. */
  readonly sign: string;
  readonly fields: ReadonlySet<string>;
}

const UNCHANGED: RowChange = { sign: ' ', fields: new Set() };

function changedIn(row: FoldedRow, keyField: string, changes: TableChanges | undefined): RowChange {
  if (changes === undefined) return UNCHANGED;
  const found = marksOf(row, keyField).filter((mark) => changes.fields.has(mark));
  if (found.length === 0) return UNCHANGED;
  const fields = found.flatMap((mark) => changes.fields.get(mark) ?? []);
  const isNew = found.every((mark) => changes.fields.get(mark) === undefined);
  return { sign: isNew ? '+' : '~', fields: new Set(isNew ? [keyField] : fields) };
}

function cellPieces(
  column: Column,
  row: FoldedRow,
  filter: Filter,
  changed: ReadonlySet<string>,
): Piece[] {
  const { kind, field, width, align } = column;
  const text = fit(column.text(row), width, align);
  if (kind === 'field' && changed.has(field)) return [{ kind: 'changed', text }];
  if (kind === 'note' || filter.terms.length === 0) return [{ kind: 'plain', text }];
  return markMatches(text, wantedIn(field, filter));
}

/** The lower-case texts that a filter looks for in a field. */
function wantedIn(field: string, { terms }: Filter): string[] {
  return terms.flatMap((term) => {
    const isHere = term.kind === 'word' || (term.kind === 'is' && term.field === field);
    return isHere && term.text !== '' ? [term.text] : [];
  });
}

/** Takes the text apart where one of the wanted ones stands in it. */
function markMatches(text: string, wanted: readonly string[]): Piece[] {
  const lower = text.toLowerCase();
  // Where a letter changes its length, places in the one are no places in the other.
  if (lower.length !== text.length) return [{ kind: 'plain', text }];
  const pieces: Piece[] = [];
  let done = 0;
  for (;;) {
    const found = wanted
      .map((word) => ({ word, at: lower.indexOf(word, done) }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at || b.word.length - a.word.length)[0];
    if (found === undefined) break;
    const end = found.at + found.word.length;
    if (found.at > done) pieces.push({ kind: 'plain', text: text.slice(done, found.at) });
    pieces.push({ kind: 'match', text: text.slice(found.at, end) });
    done = end;
  }
  if (done < text.length) pieces.push({ kind: 'plain', text: text.slice(done) });
  return pieces;
}

/** Neighbours of one kind together, no blanks at the end, no wider than the screen. */
function trimmed(pieces: readonly Piece[], width: number): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.kind === piece.kind)
      joined[joined.length - 1] = { ...last, text: last.text + piece.text };
    else joined.push(piece);
  }
  for (let last = joined.at(-1); last !== undefined; last = joined.at(-1)) {
    const text = last.text.trimEnd();
    if (text === last.text) break;
    joined.pop();
    if (text !== '') joined.push({ ...last, text });
  }
  let left = width;
  return joined.flatMap((piece) => {
    const text = cut(piece.text, left);
    left -= widthOf(text);
    return text === '' ? [] : [{ ...piece, text }];
  });
}

/** What stands in the place of the table while it has no row. */
export function emptyLines(state: State): string[] {
  const { fleet, table } = state;
  if (fleet.devices.length === 0 && table.reads.size === 0) {
    return firstStepRows(state);
  }
  const isFiltered = table.filter.parsed.terms.length > 0 || table.commandFilter !== '';
  const reads = [...table.reads.values()];
  const hasAnswers = reads.some(({ outcome, last }) => outcome.ok || last !== undefined);
  if (!hasAnswers) {
    // Those that answered before may hold what they held, or not.
    const what = table.reads.size === 0 ? 'nothing was read yet' : 'no device answers';
    return ['', `${what}; r in the table tries again`];
  }
  const { stale } = tableRows(state);
  const what = isFiltered ? 'no record matches the filter' : 'no records';
  return ['', stale.size === 0 ? what : `${what}; ${staleText(stale)}`];
}

/** All of it, every line and every column, for the pager. */
export function wholeTable(state: State): readonly string[] {
  const { rows } = tableRows(state);
  if (rows.length === 0) return [];
  const unscrolled = { ...state, table: { ...state.table, shift: 0 } };
  const { columns } = columnLayout(unscrolled, Number.MAX_SAFE_INTEGER);
  const table = {
    columns: columns.map(({ title, kind }) => ({
      title,
      role: kind === 'note' ? ('note' as const) : ('field' as const),
    })),
    rows: rows.map((row) => columns.map(({ text }) => text(row))),
  };
  return alignedLines(table, Number.MAX_SAFE_INTEGER, createStyle(false));
}
