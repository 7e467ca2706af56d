import {
  countMarks,
  isMarkedRow,
  isStaleRow,
  shownDevices,
  staleText,
  tableRows,
  type TableRows,
} from './rows.ts';
import { cut, fit, visible, widthOf } from '../../text/visible.ts';
import { firstSteps, type State } from '../state.ts';
import type { TableChanges } from './table-state.ts';
import type { Filter } from '../../fleet/filter.ts';
import type { FoldedRow } from '../../fleet/fold.ts';
import {
  joined,
  placesOf,
  plainLine,
  type Span,
  stressed,
  type TextLine,
  textOfLine,
  type Tone,
} from '../screen/theme.ts';
import { GAP, GUTTER } from '../../text/fit-columns.ts';
import { type Column, columnLayout, tableWidth } from './columns.ts';
import { marksOfRow, ODD, type RowMarks } from './signs.ts';
import { questionsKey } from '../screen/fleet-strip.ts';
import { questionsText } from '../../shell/commands/questions.ts';
import { LoginInDoubtError } from '../../errors.ts';
import { hideSecrets } from '../../shell/grammar/hide-secrets.ts';
import { counted } from '../../text/one-line.ts';
import { lineText } from '../editor/line.ts';

/** All that the line of a record depends on. */
export interface RowView extends RowMarks {
  readonly row: FoldedRow;
  readonly columns: readonly Column[];
  readonly applied: Filter;
  readonly isCurrent: boolean;
  readonly isMarked: boolean;
  /** Whether its devices do not respond now, so that these are the last known values. */
  readonly isStale: boolean;
}

interface TableView {
  readonly header: string;
  /** Index of the first visible row. */
  readonly top: number;
  readonly rows: readonly RowView[];
}

/** The visible rows, `height` with the header, for `width` cells. */
export function tableView(
  state: Pick<State, 'table' | 'fleet'>,
  width: number,
  height: number,
): TableView {
  const { table } = state;
  const data = tableRows(state);
  const { columns } = columnLayout(state, width);
  const header = columns.map(titleOf).join(GAP);
  const room = Math.max(0, height - 1);
  // A form may take the room of the last rows.
  const top = Math.max(table.top, table.cursor - room + 1);
  const isFiltered = table.view.filtered === true;
  return {
    header: cut(' '.repeat(GUTTER) + header.trimEnd(), width),
    top,
    rows: data.rows.slice(top, top + room).map((row, index) => ({
      row,
      columns,
      applied: table.filter.applied,
      isCurrent: top + index === table.cursor,
      isMarked: isMarkedRow(row, data.keyField, table.marks),
      isStale: isStaleRow(row, data.stale),
      ...marksOfRow(row, data, table.changes, isFiltered),
    })),
  };
}

/** A title that is cut keeps its sort sign: `LASTN… ↓`. */
function titleOf({ title, width, align }: Column): string {
  const [sign = ''] = / \d*[↑↓]$/.exec(title) ?? [];
  const name = title.slice(0, title.length - sign.length);
  return fit(cut(name, width - sign.length) + sign, width, align);
}

/** A record as a line. A mark, or the age of the record, sets the tone of its plain parts. */
export function rowLine(view: RowView): TextLine {
  const { columns, isCurrent, isMarked, isStale, sign } = view;
  const plain: Tone = isMarked ? 'accent' : isStale ? 'quiet' : 'plain';
  const line = joined([
    { tone: plain, text: isCurrent ? '▸' : ' ' },
    { tone: sign.tone === 'plain' ? plain : sign.tone, text: sign.sign },
    { tone: plain, text: isMarked ? '*' : ' ' },
    ...columns.flatMap((column) => cellSpans(column, view, plain)),
  ]);
  while (line.at(-1)?.text.trim() === '') line.pop();
  return line.map((span, index) =>
    index === line.length - 1 ? { ...span, text: span.text.trimEnd() } : span,
  );
}

/** A cell and the gap after it. The sign of an odd value takes the first blank of the gap. */
function cellSpans(
  { kind, field, text: textOf, width, align }: Column,
  { row, applied, differences, changed }: RowView,
  plain: Tone,
): TextLine {
  const text = fit(textOf(row, width), width, align);
  const gap: Span = { tone: plain, text: GAP };
  if (kind === 'note') return [{ tone: 'quiet', text }, gap];
  const wanted = applied.terms.length === 0 ? [] : wantedIn(field, applied);
  if (kind === 'device') return [...filterMarked(plainLine(text, 'quiet'), wanted), gap];
  const difference = differences.get(field);
  const value = text.trimEnd();
  const sign = difference === 'odd' ? ODD : '';
  const blanks = ' '.repeat(width + GAP.length - widthOf(value + sign));
  const shown = changed.has(field)
    ? plainLine(value, 'changed')
    : filterMarked(plainLine(value, difference === undefined ? plain : 'warning'), wanted);
  return [...shown, { tone: 'warning', text: sign }, { ...gap, text: blanks }];
}

/** The lower-case texts that a filter looks for in a field. */
function wantedIn(field: string, { terms }: Filter): string[] {
  return terms.flatMap((term) => {
    const isHere = term.kind === 'word' || (term.kind === 'is' && term.field === field);
    return isHere && term.text !== '' ? [term.text] : [];
  });
}

function filterMarked(line: TextLine, wanted: readonly string[]): TextLine {
  const text = textOfLine(line);
  const lower = text.toLowerCase();
  // If lower case changes the length, the positions do not match.
  if (lower.length !== text.length) return line;
  const letters = wanted.flatMap((word) =>
    placesOf(word, lower).flatMap((start) =>
      Array.from({ length: word.length }, (_, at) => start + at),
    ),
  );
  return stressed(line, 'match', letters);
}

export function emptyLines(state: State): string[] {
  const { fleet, table } = state;
  if (fleet.devices.length === 0 && table.reads.size === 0) {
    return firstStepRows(state);
  }
  const isFiltered = table.filter.parsed.terms.length > 0 || table.commandFilter !== '';
  const reads = [...table.reads.values()];
  const hasResponses = reads.some(({ outcome, last }) => outcome.ok || last !== undefined);
  if (!hasResponses) {
    if (table.view.isPast && reads.length > 0) return ['', 'nothing is known of that time'];
    // Devices that responded before may have changed since.
    const what = table.reads.size === 0 ? 'nothing read yet' : 'no device responds';
    return ['', `${what}; ${nextStep(state)}`];
  }
  const { stale } = tableRows(state);
  const what = isFiltered ? 'no record matches the filter' : 'no records';
  return ['', stale.size === 0 ? what : `${what}; ${staleText(stale)}`];
}

/** The next step to make devices respond. */
function nextStep({ fleet: { questions, devices }, keymap }: State): string {
  if (questions.length > 0) {
    return `${questionsKey(keymap)} shows what is asked: ${questionsText(questions)}`;
  }
  const inDoubt = devices.find(({ error }) => error instanceof LoginInDoubtError);
  return visible(inDoubt?.error?.message ?? 'r in the table tries again');
}

/** The steps while nothing is connected. A number and Enter do the same as the line. */
function firstStepRows(state: State): string[] {
  const steps = firstSteps(state);
  const shown = steps.map(({ line, summary }) => [visible(line), visible(summary)] as const);
  const width = Math.min(
    Math.floor(state.size.columns * 0.6),
    Math.max(...shown.map(([line]) => widthOf(line))),
  );
  return [
    '',
    'Type an address or a number, and Enter:',
    '',
    ...shown.map(([line, summary], index) => `  ${index + 1}  ${fit(line, width)}  ${summary}`),
    ...(state.firstRun === undefined || state.nextSteps.length > 0
      ? []
      : ['', `Your own inventory goes to ${visible(state.firstRun.inventory)}.`]),
  ];
}

/* The title of the table; views over it use the same words. */

export interface TitlePart {
  readonly text: string;
  /** Parts with the largest rank are dropped first. */
  readonly rank: number;
  readonly glue?: string;
}

export function tableParts(state: State): TitlePart[] {
  const { table } = state;
  const data = tableRows(state);
  const devices = shownDevices(state);
  const shown = devices.length === data.deviceCount ? '' : `${data.deviceCount} of `;
  const filter = filterText(state, [table.commandFilter, lineText(table.filter.editing.line)]);
  return [
    {
      text: `${shown}${counted(devices.length, 'device')}${shown === '' ? '' : ' read'}`,
      rank: shown === '' ? 8 : 4,
    },
    { text: staleText(data.stale), rank: 1, glue: ', ' },
    ...countParts(data),
    { text: filter === '' ? '' : `${filter} (${foundText(state)})`, rank: 1 },
    { text: table.filter.problem === undefined ? '' : visible(table.filter.problem), rank: 5 },
    { text: changesText(table.changes), rank: 5.2 },
    { text: hiddenColumnsText(state), rank: 3.8 },
    { text: data.omitted, rank: 4.2 },
    { text: data.hidden, rank: 5.5 },
    { text: watchText(state), rank: 5.3 },
    { text: state.reading ?? '', rank: 6 },
    { text: table.isFolded || devices.length < 2 ? '' : 'not folded', rank: 7 },
  ];
}

/** `39: 14 same · 4 differ · 21 not everywhere`, or `41 records` if that is not known. */
function countParts(data: TableRows): TitlePart[] {
  const { counts, recordCount, deviceCount, unreadCount, stale } = data;
  // devsh knows nothing of devices that were not read.
  if (deviceCount + stale.size === 0) return [];
  if (counts === undefined || recordCount === 0)
    return [{ text: counted(recordCount, 'record'), rank: 3 }];
  const { same, differ, partial } = counts;
  const where = unreadCount === 0 ? '' : ` on ${deviceCount} read`;
  // The number of differences is dropped last.
  return [
    { text: `${same + differ + partial}:`, rank: 3 },
    { text: `${same} same${where}`, rank: differ === 0 ? 3 : 3.65 },
    { text: differ === 0 ? '' : `${differ} ${differ === 1 ? 'differs' : 'differ'}`, rank: 3 },
    { text: partial === 0 ? '' : `${partial} not everywhere`, rank: 3.7 },
  ];
}

/** `filter: lang=de + bob`; empty without a filter. A long pasted one is cut. */
export function filterText({ size }: State, filters: readonly string[]): string {
  const text = filters.filter((one) => one.trim() !== '').join(' + ');
  return text === '' ? '' : `filter: ${visible(hideSecrets(text.slice(0, 4 * size.columns)))}`;
}

/** `12 of 340 rows`; while a long table is being filtered, `searching 340 rows …`. */
function foundText(state: State): string {
  const { filter } = state.table;
  const { rows, all, isSimilar } = tableRows(state);
  const noun = isSimilar ? 'similar row' : 'row';
  if (lineText(filter.editing.line).trim() === '') return counted(all.length, 'row');
  if (filter.applied !== filter.parsed) return `searching ${counted(all.length, 'row')} …`;
  return `${rows.length} of ${counted(all.length, noun)}`;
}

/** `every 5 s`; paused while a question is open. */
export function watchText({ table, questions }: State): string {
  if (table.watchMs === undefined) return '';
  return questions.length > 0 ? 'watching paused' : `every ${table.watchMs / 1000} s`;
}

/** The number of columns without room, and the key that shows all fields of a record. */
function hiddenColumnsText(state: State): string {
  if (tableRows(state).all.length === 0) return '';
  const { hidden } = columnLayout(state, tableWidth(state));
  return hidden === 0 ? '' : `${hidden} more: enter`;
}

/** `[2 marked = 7 records on 4 devices, 1 hidden by the filter]` */
export function marksText(state: State): string {
  const { names, records, devices, hidden } = countMarks(state);
  if (names === 0) return '';
  const isFew = records === names || state.size.columns < 60;
  const all = isFew ? '' : ` = ${records} records on ${counted(devices, 'device')}`;
  const unseen = hidden === 0 ? '' : `, ${hidden} hidden by the filter`;
  return `[${names} marked${all}${unseen}] `;
}

/** "36 changed, 1 new on 12 devices"; empty without changes. */
function changesText(changes: TableChanges | undefined): string {
  if (changes === undefined) return '';
  const { changed, added, removed, devices } = changes;
  const parts = [
    [changed, 'changed'],
    [added, 'new'],
    [removed, 'gone'],
  ] as const;
  const text = parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`]));
  const on = devices.size < 2 ? '' : ` on ${devices.size} devices`;
  return text.join(', ') + on;
}
