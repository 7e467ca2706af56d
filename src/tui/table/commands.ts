import type { FoldedRow } from '../../fleet/fold.ts';
import { cellText, fieldText } from '../../output/cells.ts';
import { assignmentWord } from '../../shell/arguments.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import { quoteWord } from '../../text/words.ts';
import type { FormOpening } from '../form/form-state.ts';
import { lineText } from '../editor/line.ts';
import type { State } from '../state.ts';
import { countMarks, isRead, markOf, marksOf, rawKeyOf, shownDevices, tableRows } from './rows.ts';

/* The lines that keys of the table run. */

/** Opens a form for a new record. */
export function addForm({ table }: State): FormOpening {
  return { action: 'add', resource: table.view.resource, keys: [], on: '', device: undefined };
}

/** Opens one form for the marked records, or for the current one; undefined without any. */
export function editForm(state: State): FormOpening | undefined {
  const { all, rows, keyField } = tableRows(state);
  const { marks, cursor, view } = state.table;
  const current = rows[cursor];
  const marked = marks.size > 0 ? marks : new Set(current && marksOf(current, keyField));
  const selected = selectedRecords(state);
  if (selected.size === 0) return undefined;
  // `set` on a device that was read and has no such record would only fail there.
  const { keys, options } = wordsOfMarked(state, selected, (key, name) => {
    return selected.get(key)?.has(name) === true || !isRead(state, name);
  });
  const devices = new Set([...selected.values()].flatMap((names) => [...names]));
  const isChosen = (row: FoldedRow, name: string): boolean =>
    devices.has(name) && marked.has(markOf(name, rawKeyOf(row.record, keyField)));
  const held = all.flatMap((row) =>
    row.devices.flatMap(({ name }, index) =>
      isChosen(row, name) ? [{ name, record: row.records[index] ?? row.record }] : [],
    ),
  );
  return {
    action: 'set',
    resource: view.resource,
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
  const keys = [...selectedRecords(state).keys()].filter((key) => key.includes('='));
  if (keys.length < 2) return undefined;
  return 'more than one marked key contains "=": mark fewer, or press E to edit them as text';
}

/** `user delete` for the marked records, or the current one, as one plan for all their devices. */
export const deleteLine = (state: State): string | undefined => lineOfMarked(state, 'delete');

/** `lockout` of the one chosen account, everywhere: the devices of the table do not limit it. */
export function lockoutLine(state: State): string | undefined {
  const [key, ...others] = selectedRecords(state).keys();
  if (key === undefined || others.length > 0) return undefined;
  return `lockout ${key.startsWith('-') ? '-- ' : ''}${quoteWord(key)}`;
}

export function notOneAccount(state: State): string | undefined {
  if (state.table.view.resource !== 'user') return 'only users can be locked out';
  return selectedRecords(state).size > 1 ? 'lockout takes one account: mark fewer' : undefined;
}

/** `user edit` for the same records. */
export const editTextLine = (state: State): string | undefined => lineOfMarked(state, 'edit');

/** Selects the devices of a typed line, except those known to have another record of the name. */
function lineOfMarked(state: State, verb: 'delete' | 'edit'): string | undefined {
  const selected = selectedRecords(state);
  if (selected.size === 0) return undefined;
  const { keys, options } = wordsOfMarked(state, selected, () => true);
  const words = keys.map(quoteWord);
  const hasDash = keys.some((key) => key.startsWith('-'));
  const parts = hasDash ? [...options, '--', ...words] : [...words, ...options];
  return [resourceWords(state.table.view.resource), verb, ...parts].join(' ');
}

/** The keys of a line, and the options for its devices. `isMeant`: leaves out devices of a key. */
function wordsOfMarked(
  state: State,
  selected: ReadonlyMap<string, ReadonlySet<string>>,
  isMeant: (key: string, device: string) => boolean,
): { keys: string[]; options: string[] } {
  const shown = shownDevices(state);
  const devicesByKey = intendedDevices(state, selected);
  const onOf = (key: string): readonly string[] =>
    (devicesByKey.get(key) ?? shown).filter((name) => isMeant(key, name));
  const onByKey = new Map([...selected.keys()].map((key) => [key, onOf(key)]));
  const some = new Set([...onByKey.values()].flat());
  const all = shown.filter((name) => some.has(name));
  const keys = [...selected.keys()].filter((key) => key !== '');
  const only = keys.flatMap((key) => {
    const on = onByKey.get(key) ?? all;
    return on.length === all.length ? [] : [`--only ${quoteWord(`${on.join(',')}=${key}`)}`];
  });
  const options = [onUnlessAll(state, all), ...only].filter((text) => text !== '');
  return { keys, options };
}

/** By key: the devices of the marked records, or of the current one. */
function selectedRecords(state: State): Map<string, Set<string>> {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  const { marks } = state.table;
  const wanted = marks.size > 0 ? [...marks] : row === undefined ? [] : marksOf(row, keyField);
  // Marks on devices that are not shown do not count.
  const shown = new Set(shownDevices(state));
  const selected = new Map<string, Set<string>>();
  for (const mark of wanted) {
    const at = mark.indexOf('\n');
    const [device, key] = [mark.slice(0, at), mark.slice(at + 1)];
    if (!shown.has(device)) continue;
    const on = selected.get(key);
    if (on === undefined) selected.set(key, new Set([device]));
    else on.add(device);
  }
  return selected;
}

/**
 * By key: the devices of a line, for keys of which some devices have another record, or may have one
 * hidden by a filter. Devices not read stay included, unless one of several equal rows was chosen.
 */
function intendedDevices(
  state: State,
  selected: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, readonly string[]> {
  const { table } = state;
  const shown = shownDevices(state);
  const places = new Map(shown.map((name, place) => [name, place]));
  const placeOf = (name: string): number => places.get(name) ?? 0;
  const read = shown.filter((name) => isRead(state, name));
  const unread = shown.filter((name) => !isRead(state, name));
  const isHidden = table.commandFilter !== '';
  const others = isHidden ? undefined : devicesWithOthers(state, read, selected);
  const on = new Map<string, readonly string[]>();
  for (const [key, names] of selected) {
    const other = others?.get(key);
    if (isHidden ? read.every((name) => names.has(name)) : other === undefined) continue;
    const kept =
      other === undefined || !table.isFolded
        ? new Set([...names, ...(table.isFolded ? unread : [])])
        : shown.filter((name) => !other.has(name));
    on.set(
      key,
      [...kept].sort((a, b) => placeOf(a) - placeOf(b)),
    );
  }
  return on;
}

/** By key: the devices that have an unselected record of that name. */
function devicesWithOthers(
  { table, fleet }: State,
  read: readonly string[],
  selected: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const { keyField } = tableRows({ table, fleet });
  const others = new Map<string, Set<string>>();
  for (const name of read) {
    const outcome = table.reads.get(name)?.outcome;
    for (const record of outcome?.ok === true ? outcome.records : []) {
      const key = rawKeyOf(record, keyField);
      if (selected.get(key)?.has(name) !== false) continue;
      others.set(key, (others.get(key) ?? new Set()).add(name));
    }
  }
  return others;
}

/** `--on`, unless it names exactly the selected devices. */
function onUnlessAll(state: State, names: readonly string[]): string {
  const isAll = state.table.scope === undefined && names.length === shownDevices(state).length;
  return isAll ? '' : onDevices(names);
}

/** What `y` copies. */
export interface CopiedCommands {
  readonly lines: readonly string[];
  /** Fields that the lines do not have: ids, secrets, and names that no line can have. */
  readonly leftOut: readonly string[];
}

/** `user add …` for the marked rows, or the current one: creates the same records elsewhere. */
export function copiedCommands(state: State): CopiedCommands {
  const { rows, keyField } = tableRows(state);
  const { marks, view, cursor } = state.table;
  const marked = rows.filter((row) => marksOf(row, keyField).some((mark) => marks.has(mark)));
  const current = rows[cursor];
  const chosen = marked.length > 0 ? marked : current === undefined ? [] : [current];
  const leftOut = new Set<string>();
  const lines = chosen.map(({ record }) => {
    const words = Object.entries(record).flatMap(([field, value]) => {
      const isSecret = fieldText(field, value) !== cellText(value);
      const isCopied = !isSecret && !view.perDevice.includes(field);
      const word = isCopied ? assignmentWord(field, value) : undefined;
      if (word === undefined) leftOut.add(field);
      return word ?? [];
    });
    return [`${resourceWords(view.resource)} add`, ...words].join(' ');
  });
  return { lines, leftOut: [...leftOut] };
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

function onDevices(names: readonly string[]): string {
  return `--on ${quoteWord(names.join(','))}`;
}
