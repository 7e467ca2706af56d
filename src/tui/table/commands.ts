import type { FoldedRow } from '../../fleet/fold.ts';
import { hasUnsafe } from '../../visible.ts';
import { cellText, fieldText } from '../../output/value.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import { quoteAssignment, quoteWord } from '../../shell/grammar/parse.ts';
import type { Effect } from '../keys/key-binding.ts';
import type { FormOpening } from '../form/form-state.ts';
import { lineText, type Line } from '../editor/line.ts';
import type { State } from '../state.ts';
import { marksOf, rawKeyOf, shownDevices, tableRows } from './rows.ts';
import { valueAt } from '../../value-at.ts';
import { currentId } from '../views/listed.ts';

/* What the keys of the table do, as lines that could be typed. */

export function addLine({ table }: State): string {
  return `${resourceWords(table.view.resource)} add `;
}

/** `export user lang=de --output `: what the table shows, but for the name of the file. */
export function exportLine({ table }: State): string {
  const filters = [table.commandFilter, lineText(table.filter.editing.line)];
  const words = filters.filter((text) => text.trim() !== '');
  const on = table.scope === undefined ? [] : [onDevices(table.scope)];
  return ['export', table.view.resource, ...words, ...on, '--output '].join(' ');
}

/** `user set bob lang=de …` with all that the record under the cursor holds; undefined without one. */
export function editLine(state: State): Line | undefined {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return undefined;
  const key = rawKeyOf(row.record, keyField);
  const { resource, perDevice } = state.table.view;
  const start = `${resourceWords(resource)} set`;
  const fields = Object.keys(row.record).filter(
    (field) => field !== keyField && !perDevice.includes(field),
  );
  const on = onRow(state, row);
  const named = key === '' ? [] : [quoteWord(key)];
  const words = [...named, ...assignments(row.record, fields)].join(' ');
  // Behind `--` a key that starts with a dash is no option, and options come before it.
  return key.startsWith('-')
    ? { before: `${start} ${on} -- ${words}`, after: '' }
    : { before: `${start} ${words}`, after: on === '' ? '' : ` ${on}` };
}

/** What a form for a new record is about. */
export function addForm({ table }: State): FormOpening {
  return { action: 'add', resource: table.view.resource, key: '', on: '', device: undefined };
}

/** What a form for the record under the cursor is about; undefined without one. */
export function editForm(state: State): FormOpening | undefined {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return undefined;
  const { record } = row;
  return {
    action: 'set',
    resource: state.table.view.resource,
    key: rawKeyOf(record, keyField),
    on: onRow(state, row),
    device: row.devices[0]?.name,
    record,
  };
}

/**
 * `--on` for a record that not all devices hold like this: those that do, and those that were not read,
 * which may. Empty where that is what the line means anyway.
 */
function onRow(state: State, row: FoldedRow): string {
  const { keyField } = tableRows(state);
  const names = new Set(row.devices.map(({ name }) => name));
  const key = rawKeyOf(row.record, keyField);
  const left = leftOut(state, new Map([[key, names]])).get(key);
  const on = shownDevices(state).filter(
    (name) => left?.has(name) !== true && (names.has(name) || !isRead(state, name)),
  );
  return onUnlessAll(state, on);
}

/** `user delete` for the marked records, or the current one: one plan, whichever devices each is on. */
export function deleteLine(state: State): string | undefined {
  return lineOfMarked(state, 'delete');
}

/** `user edit` for the same records. */
export function editTextLine(state: State): string | undefined {
  return lineOfMarked(state, 'edit');
}

/** The same devices as in the line that one would type, but for those that are known to hold others. */
function lineOfMarked(state: State, verb: 'delete' | 'edit'): string | undefined {
  const meant = meantRecords(state);
  if (meant.size === 0) return undefined;
  const left = leftOut(state, meant);
  const isMeant = (name: string, key: string): boolean => left.get(key)?.has(name) !== true;
  const keys = [...meant.keys()];
  const all = shownDevices(state).filter((name) => keys.some((key) => isMeant(name, key)));
  const named = keys.filter((key) => key !== '');
  const only = named.flatMap((key) => {
    const on = left.has(key) ? all.filter((name) => isMeant(name, key)) : all;
    return on.length === all.length ? [] : [`--only ${quoteWord(`${on.join(',')}=${key}`)}`];
  });
  const options = [onUnlessAll(state, all), ...only].filter((text) => text !== '');
  const words = named.map(quoteWord);
  const hasDash = named.some((key) => key.startsWith('-'));
  const said = hasDash ? [...options, '--', ...words] : [...words, ...options];
  return [resourceWords(state.table.view.resource), verb, ...said].join(' ');
}

/** By key: the devices that the marked records, or the current one, are meant on. */
function meantRecords(state: State): Map<string, Set<string>> {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  const { marks } = state.table;
  const wanted = marks.size > 0 ? [...marks] : row === undefined ? [] : marksOf(row, keyField);
  // What is marked on devices that are out of sight is not meant.
  const shown = new Set(shownDevices(state));
  const meant = new Map<string, Set<string>>();
  for (const mark of wanted) {
    const at = mark.indexOf('\n');
    const [device, key] = [mark.slice(0, at), mark.slice(at + 1)];
    if (!shown.has(device)) continue;
    const on = meant.get(key);
    if (on === undefined) meant.set(key, new Set([device]));
    else on.add(device);
  }
  return meant;
}

/**
 * By key: the devices that a line is to leave out, because they hold another record of that name than
 * the one meant, or may do so behind a filter. A device that was not read is not left out, unless one
 * row of several equal ones was chosen.
 */
function leftOut(
  state: State,
  meant: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const { table } = state;
  const { keyField } = tableRows(state);
  const shown = shownDevices(state);
  const left = new Map<string, Set<string>>();
  const leave = (name: string, key: string): void => {
    const devices = left.get(key);
    if (devices === undefined) left.set(key, new Set([name]));
    else devices.add(name);
  };
  for (const name of shown) {
    const outcome = table.reads.get(name)?.outcome;
    if (outcome?.ok !== true) continue;
    const isHidden = table.commandFilter !== '';
    const keys = isHidden ? meant.keys() : outcome.records.map((one) => rawKeyOf(one, keyField));
    for (const key of keys) if (meant.get(key)?.has(name) === false) leave(name, key);
  }
  for (const [key, devices] of left) {
    if (table.isFolded !== table.turnedRows.has(key)) continue;
    for (const name of shown) if (meant.get(key)?.has(name) !== true) devices.add(name);
  }
  return left;
}

function isRead({ table }: State, name: string): boolean {
  return table.reads.get(name)?.outcome.ok === true;
}

/** Without `--on` a line means the devices that are selected. */
function onUnlessAll(state: State, names: readonly string[]): string {
  const isAll = state.table.scope === undefined && names.length === shownDevices(state).length;
  return isAll ? '' : onDevices(names);
}

/** `user add …` for the marked rows, or the current one: what would make the same records elsewhere. */
export function copyLines(state: State): string[] {
  const { rows, keyField } = tableRows(state);
  const { marks, view, cursor } = state.table;
  const marked = rows.filter((row) => marksOf(row, keyField).some((mark) => marks.has(mark)));
  const current = rows[cursor];
  const chosen = marked.length > 0 ? marked : current === undefined ? [] : [current];
  return chosen.map(({ record }) => {
    const fields = Object.keys(record).filter((field) => !view.perDevice.includes(field));
    return [`${resourceWords(view.resource)} add`, ...assignments(record, fields)].join(' ');
  });
}

/** `use fw2` for the device `by` places further; `use all` behind the last one. */
export function useLine({ fleet }: State, by: 1 | -1): string | undefined {
  const names = fleet.devices.map(({ name }) => name);
  if (names.length < 2) return undefined;
  const [selected] = fleet.selected;
  const isOne = fleet.isNarrowed && fleet.selected.length === 1 && selected !== undefined;
  const now = isOne ? names.indexOf(selected) + 1 : 0;
  const next = names[((now + by + names.length + 1) % (names.length + 1)) - 1];
  return next === undefined ? 'use all' : `use ${quoteWord(next)}`;
}

/** `use fw2` for the device with this place, from 0; undefined when there is none. */
export function jumpLine({ fleet }: State, index: number): string | undefined {
  const device = fleet.devices.find(({ number }, at) => (number ?? at + 1) === index + 1);
  return device && `use ${quoteWord(device.name)}`;
}

const RUN_COMMANDS = {
  'show-run': 'run show',
  'resume-run': 'resume',
  'retry-run': 'retry',
  'undo-run': 'undo',
  'report-run': 'report',
} as const satisfies Partial<Record<Effect, string>>;

/** A command about the run under the cursor. */
export function runLine(state: State, effect: keyof typeof RUN_COMMANDS): string | undefined {
  const id = state.overlay.kind === 'runs' ? currentId(state) : undefined;
  return id && `${RUN_COMMANDS[effect]} ${quoteWord(id)}`;
}

/** A command about the device under the cursor of the list of devices. */
export function deviceLine(
  state: State,
  effect: 'open-device' | 'connect-device' | 'disconnect-device' | 'trust-device',
): string | undefined {
  const id = state.overlay.kind === 'devices' ? currentId(state) : undefined;
  const device = state.fleet.devices.find((one) => one.name === id);
  if (device === undefined) return undefined;
  const name = quoteWord(device.name);
  switch (effect) {
    case 'open-device':
      return `use ${name}`;
    case 'connect-device':
      return `connect ${name}`;
    case 'disconnect-device':
      return `disconnect ${name}`;
    case 'trust-device':
      if (device.error?.code !== 'untrusted') return `trust scan ${name}`;
      return device.facts?.trust === 'pinned' ? `trust replace ${name}` : `trust accept ${name}`;
  }
}

/** The table of the resource under the cursor. */
export function resourceLine(state: State): string | undefined {
  const id = state.overlay.kind === 'resources' ? currentId(state) : undefined;
  return id && `${resourceWords(id)} list`;
}

/** The comparison of what the table shows, or the one that is on the screen. */
export function driftLine({ overlay, table }: State): string {
  if (overlay.kind === 'drift') return overlay.command;
  const filter = lineText(table.filter.editing.line).trim();
  return [table.command, filter, '--drift'].filter((text) => text !== '').join(' ');
}

/** Values that cannot be typed as they are, and secrets, are left out. */
function assignments(record: FoldedRow['record'], fields: readonly string[]): string[] {
  return fields.flatMap((field) => {
    const value = valueAt(record, field);
    const text = typeof value === 'string' ? value : cellText(value);
    if (hasUnsafe(text) || hasUnsafe(field) || fieldText(field, value) !== text) return [];
    return [quoteAssignment(field, text)];
  });
}

function onDevices(names: readonly string[]): string {
  return `--on ${quoteWord(names.join(','))}`;
}
