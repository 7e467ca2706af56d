import { isHidden } from '../../output/cells.ts';
import { assignmentWord } from '../../shell/arguments.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import { quoteWord } from '../../text/words.ts';
import type { FormOpening } from '../form/form-state.ts';
import { lineText } from '../editor/line.ts';
import type { State } from '../state.ts';
import { memoized } from '../store.ts';
import { countMarks, isRead, rawKeyOf, shownDevices, tableRows, withMarks } from './rows.ts';
import type { Marks } from './table-state.ts';

/* The lines that keys of the table run. */

/** Opens a form for a new record. */
export function addForm({ table }: State): FormOpening {
  return { action: 'add', resource: table.view.resource, keys: [], on: '', device: undefined };
}

/** Opens one form for the marked records, or for the current one; undefined without any. */
export function editForm(state: State): FormOpening | undefined {
  const { all, keyField } = tableRows(state);
  const selected = selectedRecords(state);
  if (selected.size === 0) return undefined;
  const isChosen = (key: string, name: string): boolean => selected.get(name)?.has(key) === true;
  // `set` on a device that was read and has no such record would only fail there.
  const { keys, options } = wordsOfMarked(state, selected, (key, name) => {
    return isChosen(key, name) || !isRead(state, name);
  });
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

/** `lockout` of the one chosen account, everywhere: the devices of the table do not limit it. */
export function lockoutLine(state: State): string | undefined {
  const keys = keysOf(selectedRecords(state));
  const [key] = keys;
  if (key === undefined || keys.size > 1) return undefined;
  return `lockout ${key.startsWith('-') ? '-- ' : ''}${quoteWord(key)}`;
}

export function notOneAccount(state: State): string | undefined {
  if (state.table.view.resource !== 'user') return 'only users can be locked out';
  return keysOf(selectedRecords(state)).size > 1
    ? 'lockout takes one account: mark fewer'
    : undefined;
}

/**
 * `user delete` for the marked records, or the current one, as one plan for all their devices: those of a typed line,
 * except those known to have another record of the name.
 */
export function deleteLine(state: State): string | undefined {
  const selected = selectedRecords(state);
  if (selected.size === 0) return undefined;
  const { keys, options } = wordsOfMarked(state, selected);
  const words = keys.map(quoteWord);
  const hasDash = keys.some((key) => key.startsWith('-'));
  const parts = hasDash ? [...options, '--', ...words] : [...words, ...options];
  return [resourceWords(state.table.view.resource), 'delete', ...parts].join(' ');
}

/** The keys of a line, and the options for its devices. `isMeant`: leaves out devices of a key. */
function wordsOfMarked(
  state: State,
  selected: Marks,
  isMeant?: (key: string, device: string) => boolean,
): { keys: string[]; options: string[] } {
  const shown = shownDevices(state);
  const devicesByKey = intendedDevices(state, selected);
  const onOf = (key: string): readonly string[] => {
    const on = devicesByKey.get(key) ?? shown;
    return isMeant === undefined ? on : on.filter((name) => isMeant(key, name));
  };
  const chosen = [...keysOf(selected)].map((key) => ({ key, on: onOf(key) }));
  const some = new Set([...new Set(chosen.map(({ on }) => on))].flat());
  const all = shown.filter((name) => some.has(name));
  const keys = chosen.map(({ key }) => key).filter((key) => key !== '');
  const only = chosen.flatMap(({ key, on }) => {
    if (key === '') return [];
    return on.length === all.length ? [] : [`--only ${quoteWord(`${on.join(',')}=${key}`)}`];
  });
  const options = [onUnlessAll(state, all), ...only].filter((text) => text !== '');
  return { keys, options };
}

/** The marked records, or the current one. */
function selectedRecords(state: State): Marks {
  const { marks, cursor } = state.table;
  if (marks.size > 0) return marksOn(marks, shownDevices(state));
  const { rows, keyField } = tableRows(state);
  const current = withMarks(marks, rows.slice(cursor, cursor + 1), keyField, true);
  return marksOn(current, shownDevices(state));
}

/** Marks on devices that are not shown do not count. */
const marksOn = memoized((marks: Marks, shown: readonly string[]): Marks => {
  const isShown = new Set(shown);
  return new Map([...marks].filter(([name]) => isShown.has(name)));
});

const keysOf = memoized((marks: Marks): ReadonlySet<string> => {
  const [only, ...others] = marks.values();
  if (only !== undefined && others.length === 0) return only;
  return new Set([...marks.values()].flatMap((keys) => [...keys]));
});

/**
 * By key: the devices of a line, for keys of which some devices have another record, or may have one
 * hidden by a filter. Devices not read stay included, unless one of several equal rows was chosen.
 */
function intendedDevices(state: State, selected: Marks): ReadonlyMap<string, readonly string[]> {
  const { table } = state;
  const shown = shownDevices(state);
  const read = shown.filter((name) => isRead(state, name));
  const unread = new Set(shown.filter((name) => !isRead(state, name)));
  const isHidden = table.commandFilter !== '';
  const others = isHidden ? undefined : devicesWithOthers(state, read, selected);
  const on = new Map<string, readonly string[]>();
  for (const key of isHidden ? keysOf(selected) : (others?.keys() ?? [])) {
    const other = others?.get(key);
    const isChosen = (name: string): boolean => selected.get(name)?.has(key) === true;
    if (isHidden && read.every(isChosen)) continue;
    const isKept = (name: string): boolean =>
      other === undefined || !table.isFolded
        ? isChosen(name) || (table.isFolded && unread.has(name))
        : !other.has(name);
    on.set(key, shown.filter(isKept));
  }
  return on;
}

/** By key: the devices that have an unselected record of that name. */
function devicesWithOthers(
  { table, fleet }: State,
  read: readonly string[],
  selected: Marks,
): ReadonlyMap<string, ReadonlySet<string>> {
  const { keyField } = tableRows({ table, fleet });
  const keys = keysOf(selected);
  const others = new Map<string, Set<string>>();
  for (const name of read) {
    const outcome = table.reads.get(name)?.outcome;
    const chosen = selected.get(name);
    for (const record of outcome?.ok === true ? outcome.records : []) {
      const key = rawKeyOf(record, keyField);
      if (chosen?.has(key) === true || !keys.has(key)) continue;
      others.set(key, (others.get(key) ?? new Set()).add(name));
    }
  }
  return others;
}

/** `--on`, unless it names exactly the selected devices. */
function onUnlessAll(state: State, names: readonly string[]): string {
  const isAll = state.table.scope === undefined && names.length === shownDevices(state).length;
  return isAll ? '' : `--on ${quoteWord(names.join(','))}`;
}

/** What `y` copies. */
export interface CopiedCommands {
  readonly lines: readonly string[];
  /** The number of rows that were chosen: those beyond the limit have no line. */
  readonly of: number;
  /** Fields that the lines do not have: ids, secrets, and names that no line can have. */
  readonly leftOut: readonly string[];
}

/** Characters after which no further command is copied: a terminal takes no more, and devices may send megabytes. */
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

/** `use fw2` for the device `by` positions further; `use all` after the last one. */
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
