import { hideSecrets } from '../../shell/grammar/hide-secrets.ts';
import { sharedText } from '../../fleet/fold.ts';
import { counted } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { lineText } from '../editor/line.ts';
import type { State, TableChanges } from '../state.ts';
import { staleText } from './age.ts';
import { columnLayout } from './columns.ts';
import { countMarks } from './reduce-marks.ts';
import { shownDevices, tableRows } from './rows.ts';

/* What the title says of the table, and in the same words of a view over it. */

export interface TitlePart {
  readonly text: string;
  /** What goes first when there is no room: the largest. */
  readonly rank: number;
  readonly glue?: string;
}

export function tableParts(state: State): TitlePart[] {
  const { table } = state;
  const data = tableRows(state);
  const devices = shownDevices(state);
  const shown = devices.length === data.deviceCount ? '' : `${data.deviceCount} of `;
  const filter = filterText(state, [table.commandFilter, lineText(table.filter.editing.line)]);
  const shared = data.recordCount === 0 ? undefined : data.sharedCount;
  return [
    { text: `${shown}${counted(devices.length, 'device')}${shown === '' ? '' : ' read'}`, rank: 4 },
    { text: staleText(data.stale), rank: 1, glue: ', ' },
    { text: counted(data.recordCount, 'record'), rank: 3 },
    {
      text:
        shared === undefined ? '' : `${shared} ${sharedText(data.deviceCount, data.unreadCount)}`,
      rank: 4.5,
      glue: ', ',
    },
    {
      text: filter === '' ? '' : `${filter} (${foundText(state)})`,
      rank: 1,
    },
    { text: table.filter.problem === undefined ? '' : visible(table.filter.problem), rank: 5 },
    { text: changesText(table.changes), rank: 5.2 },
    { text: hiddenColumnsText(state), rank: 3.5 },
    { text: data.hidden, rank: 5.5 },
    { text: watchText(state), rank: 5.3 },
    { text: state.reading ?? '', rank: 6 },
    { text: table.isFolded || devices.length < 2 ? '' : 'not folded', rank: 7 },
  ];
}

/** `filter: lang=de + bob`; empty without any. More of a pasted one is in no line. */
export function filterText({ size }: State, filters: readonly string[]): string {
  const text = filters.filter((one) => one.trim() !== '').join(' + ');
  return text === '' ? '' : `filter: ${visible(hideSecrets(text.slice(0, 4 * size.columns)))}`;
}

/** `12 of 340 rows`; while many rows are still being looked through, `340 rows, looking …`. */
function foundText(state: State): string {
  const { filter } = state.table;
  const { rows, all, isSimilar } = tableRows(state);
  const noun = isSimilar ? 'similar row' : 'row';
  if (lineText(filter.editing.line).trim() === '') return counted(all.length, 'row');
  if (filter.applied !== filter.parsed) return `looking in ${counted(all.length, 'row')} …`;
  return `${rows.length} of ${counted(all.length, noun)}`;
}

/** `every 5 s`; a question that is open holds it up. */
export function watchText({ table, questions }: State): string {
  if (table.watchMs === undefined) return '';
  return questions.length > 0 ? 'watching paused' : `every ${table.watchMs / 1000} s`;
}

/** How far the columns are scrolled, and how many have no room. */
function hiddenColumnsText(state: State): string {
  const { columns } = state.size;
  const { shift } = state.table;
  if (tableRows(state).all.length === 0) return '';
  const { hidden } = columnLayout(state, columns);
  const before = shift === 0 ? '' : `← ${counted(shift, 'column')}`;
  const after = hidden === 0 ? '' : `${hidden} more →`;
  return [before, after].filter((text) => text !== '').join(' ');
}

/** What is marked, filtered out or not; a folded row means its record on each of its devices. */
export function marksText(state: State): string {
  const { rows, records, devices } = countMarks(state);
  if (rows === 0) return '';
  const head = state.table.range === undefined ? `${rows} marked` : `range: ${rows} marked`;
  const isFew = records === rows || state.size.columns < 60;
  const all = isFew ? '' : ` = ${records} records on ${counted(devices, 'device')}`;
  return `[${head}${all}] `;
}

/** "2 changed, 1 new, 1 gone"; empty without changes. */
function changesText(changes: TableChanges | undefined): string {
  if (changes === undefined) return '';
  const { changed, added, removed } = changes;
  const parts = [
    [changed, 'changed'],
    [added, 'new'],
    [removed, 'gone'],
  ] as const;
  return parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`])).join(', ');
}
