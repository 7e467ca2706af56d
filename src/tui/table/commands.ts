import { isHidden } from '../../output/cells.ts';
import { assignmentWord } from '../../shell/arguments.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import { lineOf, quoteWord } from '../../text/words.ts';
import type { FormOpening } from '../form/form-state.ts';
import { lineText } from '../editor/line.ts';
import type { State } from '../state.ts';
import { memoized } from '../store.ts';
import { countMarks, isRead, rawKeyOf, shownDevices, tableRows, withMarks } from './rows.ts';
import type { Marks } from './table-state.ts';

/* The lines that keys of the table run. */

export function addForm({ table }: State): FormOpening {
  return { action: 'add', resource: table.view.resource, keys: [], on: '', device: undefined };
}

/** Opens one form for the marked records, or for the current one; undefined if there is none. */
export function editForm(state: State): FormOpening | undefined {
  const { all, keyField } = tableRows(state);
  const selected = selectedRecords(state);
  if (selected.size === 0) return undefined;
  const isChosen = (key: string, name: string): boolean => selected.get(name)?.has(key) === true;
  const { keys, options } = wordsOfMarked(state, selected);
  const held = all.flatMap((row) => {
    const key = rawKeyOf(row.record, keyField);
    return row.devices.flatMap(({ name }, index) =>
      isChosen(key, name) ? [{ name, record: row.records[index] ?? row.record }] : [],
    );
  });
  return {
    action: 'set',
    resource: state.table.view.resource,
    // Only the first word of the line may contain `=` and still be a key.
    keys: [...keys].sort((a, b) => Number(b.includes('=')) - Number(a.includes('='))),
    on: options.join(' '),
    device: held[0]?.name,
    records: held.map(({ record }) => record),
    hidden: countMarks(state).hidden,
  };
}

/** Why the marked records cannot be changed by one line. */
export function ambiguousKeys(state: State): string | undefined {
  if (!hasAmbiguousKeys(keysOf(selectedRecords(state)))) return undefined;
  return 'more than one marked key contains "=": mark fewer';
}

const hasAmbiguousKeys = memoized(
  (keys: ReadonlySet<string>) => [...keys].filter((key) => key.includes('=')).length > 1,
);

/** `lockout` of the chosen accounts on all devices, not only those of the table. */
export function lockoutLine(state: State): string | undefined {
  const keys = [...keysOf(selectedRecords(state))];
  return keys.length === 0 ? undefined : lineOf('lockout', keys.map(quoteWord));
}

export function noAccounts(state: State): string | undefined {
  return state.table.view.resource === 'user' ? undefined : 'only users can be locked out';
}

/** `user delete` for the marked records, or the current one, as one plan for all their devices. */
export function deleteLine(state: State): string | undefined {
  const selected = selectedRecords(state);
  if (selected.size === 0) return undefined;
  const { keys, options } = wordsOfMarked(state, selected);
  const command = `${resourceWords(state.table.view.resource)} delete`;
  return lineOf(command, keys.map(quoteWord), options);
}

/** The marked keys, and `--on` for the devices where they are marked; for folded rows also those not read. */
function wordsOfMarked(state: State, selected: Marks): { keys: string[]; options: string[] } {
  const shown = shownDevices(state);
  const { isFolded } = state.table;
  const unread = new Set(isFolded ? shown.filter((name) => !isRead(state, name)) : []);
  const chosen = [...keysOf(selected)].map((key) => {
    const isMeant = (name: string): boolean =>
      selected.get(name)?.has(key) === true || unread.has(name);
    return { key, on: shown.filter(isMeant) };
  });
  const some = new Set(chosen.flatMap(({ on }) => on));
  const all = shown.filter((name) => some.has(name));
  const keys = chosen.map(({ key }) => key).filter((key) => key !== '');
  const only = chosen.flatMap(({ key, on }) => {
    if (key === '' || on.length === all.length) return [];
    return [`--only ${quoteWord(`${on.join(',')}=${key}`)}`];
  });
  const options = [onUnlessAll(state, all), ...only].filter((text) => text !== '');
  return { keys, options };
}

function selectedRecords(state: State): Marks {
  const { marks, cursor } = state.table;
  if (marks.size > 0) return marksOn(marks, shownDevices(state));
  const { rows, keyField } = tableRows(state);
  const current = withMarks(marks, rows.slice(cursor, cursor + 1), keyField, true);
  return marksOn(current, shownDevices(state));
}

/** The marks on devices that are shown. */
const marksOn = memoized((marks: Marks, shown: readonly string[]): Marks => {
  const isShown = new Set(shown);
  return new Map([...marks].filter(([name]) => isShown.has(name)));
});

const keysOf = memoized((marks: Marks): ReadonlySet<string> => {
  const [only, ...others] = marks.values();
  if (only !== undefined && others.length === 0) return only;
  return new Set([...marks.values()].flatMap((keys) => [...keys]));
});

/** `--on`, unless it names exactly the selected devices. */
function onUnlessAll(state: State, names: readonly string[]): string {
  const isAll = state.table.scope === undefined && names.length === shownDevices(state).length;
  return isAll ? '' : `--on ${quoteWord(names.join(','))}`;
}

/** The commands that `y` copies. */
export interface CopiedCommands {
  readonly lines: readonly string[];
  /** The number of chosen rows. Those beyond the limit have no line. */
  readonly of: number;
  /** Fields that the lines do not have: ids, secrets, and names that no line can have. */
  readonly leftOut: readonly string[];
}

/** After this many characters no further command is copied: terminals accept no more, and records may be huge. */
const MOST_COPIED = 1_000_000;

/** `user add …` for the marked rows, or the current one: creates the same records elsewhere. */
export function copiedCommands(state: State): CopiedCommands {
  const { rows, keyField } = tableRows(state);
  const { marks, view, cursor } = state.table;
  const marked = rows.filter((row) => {
    const key = rawKeyOf(row.record, keyField);
    return row.devices.some(({ name }) => marks.get(name)?.has(key) === true);
  });
  const current = rows[cursor];
  const chosen = marked.length > 0 ? marked : current === undefined ? [] : [current];
  const leftOut = new Set<string>();
  const lines: string[] = [];
  let length = 0;
  for (const { record } of chosen) {
    if (length > MOST_COPIED) break;
    const words = Object.entries(record).flatMap(([field, value]) => {
      const isCopied = !isHidden(field, value) && !view.perDevice.includes(field);
      const word = isCopied ? assignmentWord(field, value) : undefined;
      if (word === undefined) leftOut.add(field);
      return word ?? [];
    });
    const line = [`${resourceWords(view.resource)} add`, ...words].join(' ');
    lines.push(line);
    length += line.length;
  }
  return { lines, of: chosen.length, leftOut: [...leftOut] };
}

/** `use fw2` for the device `by` positions further, or `use all` after the last one. */
export function useLine({ fleet }: State, by: 1 | -1): string | undefined {
  const names = fleet.devices.map(({ name }) => name);
  if (names.length < 2) return undefined;
  const [selected] = fleet.selected;
  const isOne = fleet.isNarrowed && fleet.selected.length === 1 && selected !== undefined;
  const now = isOne ? names.indexOf(selected) + 1 : 0;
  const next = names[((now + by + names.length + 1) % (names.length + 1)) - 1];
  return next === undefined ? 'use all' : `use ${quoteWord(next)}`;
}

/** The line that compares the records of the table. */
export function driftLine({ table }: State): string {
  const filter = lineText(table.filter.editing.line).trim();
  return [table.command, filter, '--drift'].filter((text) => text !== '').join(' ');
}
