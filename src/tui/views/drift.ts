import { driftSummary, type Drift, type DriftCell, type DriftRow } from '../../fleet/drift.ts';
import { prepareHaystack, type Haystack } from '../../fleet/filter.ts';
import { columnTitle } from '../../output/cells.ts';
import { differenceTexts, driftWord, keyText, onText } from '../../output/drift-text.ts';
import { cut, fit, visible, widthOf } from '../../text/visible.ts';
import { key, keysOf, lineKey, noRow, type Reason } from '../keys/binding.ts';
import { memoized } from '../store.ts';
import type { Span } from '../screen/theme.ts';
import type { DriftOverlay, State } from '../state.ts';
import { keyOfRow, tableRows } from '../table/rows.ts';
import { filterOf } from '../table/feed.ts';
import { filterText } from '../table/view.ts';
import { arranged, listOf, type ListRow, type ListSource } from './view.ts';

const MOST_KEY = 28;
const MOST_CELL = 22;
/** With narrower columns, one sentence for all devices says more. */
const LEAST_CELL = 7;
/** Number of rows measured for the column widths. */
const MEASURED_ROWS = 200;

/** The signs and words of the cells repeat the meaning. */
const CELL_TONES = { same: 'good', only: 'warning', differs: 'warning', missing: 'bad' } as const;

const MISSING: DriftCell = { kind: 'missing' };

/** A filter finds records by the values of any device, and devices by their cells. */
function source({ output, isWhole }: DriftOverlay): ListSource<DriftRow> {
  const { keyField } = output.drift;
  const field = keyField === '' ? output.resource : keyField;
  return {
    items: rowsInSight(output.drift.rows, isWhole),
    idOf: ({ key }) => key,
    fields: [field, 'difference'],
    recordOf: (row) => ({
      [field]: row.key,
      difference: differenceTexts(output.drift, row).join('; '),
    }),
    haystacksOf: (row) => haystacks(row, output.drift),
  };
}

const noDifference: Reason = (state) => {
  const { overlay, find } = state;
  if (overlay.kind !== 'drift') return noRow(state);
  return arranged(source(overlay), find).length === 0 ? 'nothing differs' : undefined;
};

/** Records and devices as a matrix; on a narrow screen one sentence for each record. */
export const DRIFT = listOf<DriftOverlay, DriftRow>({
  keys: keysOf('drift', 'While devices are compared', [
    key(['enter'], 'details', 'every field, device by device', {
      hint: [1, 'details'],
      command: 'user show KEY',
      disabled: noDifference,
    }),
    key(['f'], 'whole', 'also what is the same on all devices, or not', { hint: [3, 'all'] }),
    key(['right', 'l'], 'right', 'devices to the right', { hint: [4, 'devices'] }),
    key(['left', 'h'], 'left', 'devices to the left'),
    lineKey(
      ['r'],
      'compare-again',
      'compare again',
      ({ overlay }) => (overlay.kind === 'drift' ? overlay.command : undefined),
      { hint: [5, 'again'], command: 'user list --drift' },
    ),
    key(['escape', 'q'], 'close', 'back', { hint: [2, 'back'] }),
  ]),
  crumb: ({ output }) => `${visible(output.resource)} drift`,
  id: ({ command }) => command,
  resumed: (overlay, { cursor, shift, isWhole }) => ({ ...overlay, cursor, shift, isWhole }),
  title: ({ output, filter }, state, found) => [
    { text: visible(driftSummary(output.drift, output.resource)), rank: found.text === '' ? 1 : 2 },
    { text: filterText(state, [filter]), rank: 1.5 },
    found,
  ],
  act(overlay, state, action) {
    const { shift, isWhole } = overlay;
    const changed = (change: Partial<DriftOverlay>): State => ({
      ...state,
      overlay: { ...overlay, ...change },
    });
    if (action === 'whole') return changed({ isWhole: !isWhole });
    if (action === 'left') return changed({ shift: Math.max(0, shift - 1) });
    if (action !== 'right') return undefined;
    return devicesBeyond(overlay, state) === 0 ? state : changed({ shift: shift + 1 });
  },
  details(overlay, { find }) {
    const row = arranged(source(overlay), find)[overlay.cursor];
    if (row === undefined) return undefined;
    const details = { kind: 'of-drift', key: row.key, drift: overlay.output, row } as const;
    return { kind: 'details', details, top: 0 };
  },
  opening: (output, invocation, command) =>
    output.kind === 'drift'
      ? { kind: 'drift', command, filter: filterOf(invocation), output, ...START }
      : undefined,
  // A comparison begins at the table's current record.
  start(state) {
    const { rows, keyField } = tableRows(state);
    const row = rows[state.table.cursor];
    return row && keyOfRow(row, keyField);
  },
  source,
  draw: drawn,
  empty: ({ output: { drift } }) =>
    `no differences: all ${drift.rows.length} are the same on ${devicesText(drift)}; f shows them`,
});

const START = { cursor: 0, shift: 0, isWhole: false };

const rowsInSight = memoized((rows: readonly DriftRow[], isWhole: boolean) =>
  isWhole ? rows : rows.filter(({ isSame }) => !isSame),
);

const prepared = new WeakMap<DriftRow, readonly Haystack[]>();

/** One for each device, with the word of its cell; a single one if the record is the same on all. */
function haystacks(row: DriftRow, { devices, keyField }: Drift): readonly Haystack[] {
  const before = prepared.get(row);
  if (before !== undefined) return before;
  const names = devices.map(({ name }) => name);
  const made = (row.isSame ? row.cells.slice(0, 1) : row.cells).flatMap((cell, index) => {
    const held = row.held[index] ?? [];
    const records = held.length === 0 ? [{ [keyField]: row.key }] : held;
    const facts = {
      device: row.isSame ? names : (names[index] ?? ''),
      difference: driftWord(cell),
    };
    return records.map((record) => prepareHaystack({ ...facts, ...record }, ''));
  });
  prepared.set(row, made);
  return made;
}

/** Columns for devices from `shift` on; on a narrow screen one sentence for each record. */
function drawn(rows: readonly DriftRow[], overlay: DriftOverlay, _state: State, width: number) {
  const { resource } = overlay.output;
  const { title, key, devices, widths, more } = measured(rows, overlay, width);
  const isSentence = widths.length < Math.min(2, devices.length);
  const line = (head: string, texts: readonly string[]): string =>
    cut([fit(head, key), ...texts].join('  ').trimEnd(), width);
  const cells = (texts: readonly string[]): string[] =>
    widths.map((cell, index) => fit(texts[index] ?? '', cell));
  const names = cells(devices.map(({ name }) => visible(name)));
  return {
    header: isSentence
      ? line(title, ['DIFFERENCE'])
      : line(title, [...names, ...(more > 0 ? [`→${more}`] : [])]),
    row(index: number): ListRow {
      const row = rows[index];
      if (row === undefined) return { text: '', tone: 'plain' };
      const tone = row.isSame ? 'quiet' : 'plain';
      const name = keyText(row, resource);
      if (isSentence) return { text: line(name, [sentence(overlay, row)]), tone };
      const shown = row.cells.slice(overlay.shift, overlay.shift + widths.length);
      const words = cells(shown.map(cellWord));
      const parts: Span[] = [
        { tone, text: fit(name, key) },
        ...shown.flatMap((cell, at): Span[] => [
          { tone: 'plain', text: '  ' },
          { tone: row.isSame ? 'quiet' : CELL_TONES[cell.kind], text: words[at] ?? '' },
        ]),
      ];
      return { text: line(name, words), tone, parts };
    },
  };
}

/** Number of devices without room on the right. */
function devicesBeyond(overlay: DriftOverlay, { find, size }: State): number {
  return measured(arranged(source(overlay), find), overlay, size.columns - 2).more;
}

function measured(rows: readonly DriftRow[], overlay: DriftOverlay, width: number) {
  const { drift, resource } = overlay.output;
  const title = columnTitle(drift.keyField === '' ? resource : drift.keyField);
  const sample = rows.slice(0, MEASURED_ROWS);
  const keys = sample.map((row) => widthOf(keyText(row, resource)));
  const key = Math.min(MOST_KEY, Math.max(widthOf(title), ...keys));
  const devices = drift.devices.slice(overlay.shift);
  const widths = cellWidths(overlay, sample, width - key);
  return { title, key, devices, widths, more: devices.length - widths.length };
}

function sentence({ output }: DriftOverlay, row: DriftRow): string {
  const texts = differenceTexts(output.drift, row);
  return texts.length === 0 ? 'same' : `${onText(output.drift, row)}: ${texts.join('; ')}`;
}

/** Widths of the cells that fit, from the first visible device on. */
function cellWidths(
  { output, shift }: DriftOverlay,
  rows: readonly DriftRow[],
  room: number,
): number[] {
  const widths: number[] = [];
  // Room for `→12`.
  let left = room - 4;
  for (const [index, { name }] of output.drift.devices.slice(shift).entries()) {
    const texts = rows.map(({ cells }) => cellWord(cells[shift + index] ?? MISSING));
    const widest = Math.max(widthOf(visible(name)), LEAST_CELL, ...texts.map(widthOf));
    const wanted = Math.min(MOST_CELL, widest);
    if (left < wanted + 2) break;
    widths.push(wanted);
    left -= wanted + 2;
  }
  return widths;
}

/** A sign and a word: `= same`, `≠ lang`, `- missing`. */
function cellWord(cell: DriftCell): string {
  switch (cell.kind) {
    case 'same':
      return '= same';
    case 'only':
      return '+ only';
    case 'missing':
      return '- missing';
    case 'differs':
      return cell.fields.length === 0
        ? '≠ number'
        : `≠ ${driftWord(cell).slice('differs: '.length)}`;
  }
}

/** `3 devices`; `the 10 devices read (2 not read)`. */
function devicesText({ devices, unread }: Drift): string {
  if (unread.length === 0) return `${devices.length} devices`;
  return `the ${devices.length} devices read (${unread.length} not read)`;
}
