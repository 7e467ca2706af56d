import { fieldText, MOST_ON_SCREEN } from '../../output/cells.ts';
import { counted } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { valueAt } from '../../device/record.ts';
import { key, keysOf, type Reason } from '../keys/binding.ts';
import type { ColumnChoice, State } from '../state.ts';
import { tableRows } from '../table/rows.ts';
import {
  arranged,
  type ListColumn,
  listLines,
  listOf,
  type ListSource,
  type OverOf,
  sourceOf,
} from './view.ts';

type ColumnsOver = OverOf<'columns'>;

function source({ fields }: ColumnsOver, state: State): ListSource<ColumnChoice> {
  return sourceOf(fields, ({ field }) => field, listColumns(state));
}

const keyStays: Reason = (state) => {
  const { overlay } = state;
  if (overlay.kind !== 'columns') return undefined;
  const chosen = currentChoice(overlay, state);
  return chosen?.field === keyFieldIn(state) ? 'it names the rows and stays first' : undefined;
};

/** The fields of the table's records: which are shown, and in which order. */
export const COLUMNS = listOf<ColumnsOver, ColumnChoice>({
  keys: keysOf('columns', 'While columns are chosen', [
    key(['space'], 'mark', 'show the column, or hide it', {
      hint: [1, 'show or hide'],
      disabled: keyStays,
    }),
    key(['J'], 'later', 'move the column to the right', {
      hint: [3, 'right'],
      disabled: keyStays,
    }),
    key(['K'], 'earlier', 'move the column to the left', {
      hint: [4, 'left'],
      disabled: keyStays,
    }),
    key(['a'], 'usual', 'the columns that devsh chooses', { hint: [5, 'usual'] }),
    key(['enter'], 'keep-columns', 'show these columns from now on', {
      hint: [2, 'done'],
      command: 'user list --columns FIELD,…',
    }),
  ]),
  breadcrumb: () => 'columns',
  title: ({ fields }, _state, found) => [
    { text: `${shownOf(fields).length} of ${counted(fields.length, 'column')} shown`, rank: 2 },
    found,
  ],
  act(overlay, state, action) {
    const { fields } = overlay;
    const changed = (now: readonly ColumnChoice[]): State => ({
      ...state,
      overlay: { ...overlay, fields: now },
    });
    if (action === 'usual') return changed(choicesOf(tableRows(state).usual, state));
    if (action !== 'mark' && action !== 'earlier' && action !== 'later') return undefined;
    const chosen = currentChoice(overlay, state);
    if (chosen === undefined || keyStays(state) !== undefined) return state;
    const at = fields.indexOf(chosen);
    if (action === 'mark') return changed(fields.with(at, { ...chosen, isShown: !chosen.isShown }));
    return changed(swapped(fields, at, action === 'earlier' ? at - 1 : at + 1, keyFieldIn(state)));
  },
  source,
  draw: (fields, _overlay, state, width) => listLines(fields, listColumns(state), width),
  toneOf: ({ isShown }) => (isShown ? 'plain' : 'quiet'),
  empty: () => 'no fields are known yet',
});

/** The chooser for the table, with the columns that it shows now. */
export function columnsOver(state: State): ColumnsOver {
  return { kind: 'columns', fields: choicesOf(tableRows(state).fields, state), cursor: 0 };
}

/** The chosen columns, the key first; undefined: as devsh chooses them. */
export function chosenColumns(
  { fields }: ColumnsOver,
  state: State,
): readonly string[] | undefined {
  const shown = shownOf(fields);
  const { usual } = tableRows(state);
  return shown.join('\n') === usual.join('\n') ? undefined : shown;
}

function choicesOf(shown: readonly string[], state: State): ColumnChoice[] {
  const { known } = tableRows(state);
  const keyField = keyFieldIn(state);
  const first = known.includes(keyField) ? [keyField] : [];
  const names = [...new Set([...first, ...shown, ...known])];
  return names.map((field) => ({ field, isShown: field === keyField || shown.includes(field) }));
}

function shownOf(fields: readonly ColumnChoice[]): string[] {
  return fields.filter(({ isShown }) => isShown).map(({ field }) => field);
}

/** Two neighbours change places, but none with the key. */
function swapped(
  fields: readonly ColumnChoice[],
  from: number,
  to: number,
  keyField: string,
): readonly ColumnChoice[] {
  const [one, other] = [fields[from], fields[to]];
  if (one === undefined || other === undefined || other.field === keyField) return fields;
  return fields.with(from, other).with(to, one);
}

function currentChoice(overlay: ColumnsOver, state: State): ColumnChoice | undefined {
  return arranged(source(overlay, state), state.find)[overlay.cursor];
}

function keyFieldIn(state: State): string {
  return tableRows(state).keyField;
}

function listColumns(state: State): ListColumn<ColumnChoice>[] {
  const { rows, keyField } = tableRows(state);
  const record = rows[state.table.cursor]?.record ?? {};
  return [
    {
      title: 'SHOWN',
      text: ({ field, isShown }) => (field === keyField ? 'always' : isShown ? '✓' : ''),
      most: 6,
      rank: 0,
    },
    { title: 'FIELD', text: ({ field }) => visible(field), most: 40, rank: 0 },
    {
      title: 'VALUE',
      text: ({ field }) => fieldText(field, valueAt(record, field), MOST_ON_SCREEN),
      most: 60,
      rank: 1,
      least: 8,
    },
  ];
}
