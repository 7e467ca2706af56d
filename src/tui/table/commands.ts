import type { FoldedRow } from '../../fleet/fold.ts';
import { hasUnsafe } from '../../visible.ts';
import { cellText, fieldText } from '../../output/value.ts';
import { quoteAssignment, quoteWord } from '../../shell/grammar/parse.ts';
import type { Effect } from '../keys/key-binding.ts';
import type { FormOpening } from '../form/form-state.ts';
import { lineText, type Line } from '../editor/line.ts';
import type { State } from '../state.ts';
import { marksOf, rawKeyOf, shownDevices, tableRows } from './rows.ts';
import { valueAt } from '../../value-at.ts';

/* What the keys of the table do, as lines that could be typed. */

export function addLine({ table }: State): string {
  return `${table.view.resource} add `;
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
  const fields = Object.keys(row.record).filter(
    (field) => field !== keyField && !perDevice.includes(field),
  );
  const on = onRow(state, row);
  const named = key === '' ? [] : [quoteWord(key)];
  const words = [...named, ...assignments(row.record, fields)].join(' ');
  // Behind `--` a key that starts with a dash is no option, and options come before it.
  return key.startsWith('-')
    ? { before: `${resource} set ${on} -- ${words}`, after: '' }
    : { before: `${resource} set ${words}`, after: on === '' ? '' : ` ${on}` };
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

/** `--on` for a record that not all selected devices hold like this. */
function onRow({ fleet }: State, row: FoldedRow): string {
  const names = row.devices.map(({ name }) => name);
  return names.length === fleet.selected.length ? '' : onDevices(names);
}

/** `user delete` for the marked records, or the current one: one plan, whichever devices each is on. */
export function deleteLine(state: State): string | undefined {
  return lineOfMarked(state, 'delete');
}

/** `user edit` for the same records. */
export function editTextLine(state: State): string | undefined {
  return lineOfMarked(state, 'edit');
}

function lineOfMarked(state: State, verb: 'delete' | 'edit'): string | undefined {
  const { keyField } = tableRows(state);
  const shown = shownDevices(state);
  const devicesByKey = meantRecords(state);
  const all = shown.filter((name) => [...devicesByKey.values()].some((on) => on.includes(name)));
  if (devicesByKey.size === 0) return undefined;
  const keys = [...devicesByKey.keys()].filter((key) => key !== '');
  const only = keys.flatMap((key) => {
    const on = devicesByKey.get(key) ?? [];
    if (on.length === all.length) return [];
    // What is edited must be there: a device that does not hold it needs no mention.
    if (verb === 'edit' && !isElsewhere(state, keyField, key, on, all)) return [];
    return [`--only ${quoteWord(`${on.join(',')}=${key}`)}`];
  });
  const options = [onDevices(all), ...only];
  const words = keys.map(quoteWord);
  const hasDash = keys.some((key) => key.startsWith('-'));
  const said = hasDash ? [...options, '--', ...words] : [...words, ...options];
  return [state.table.view.resource, verb, ...said].join(' ');
}

/** By key: the devices that the marked records, or the current one, are meant on. */
function meantRecords(state: State): Map<string, string[]> {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  const { marks } = state.table;
  const wanted = marks.size > 0 ? [...marks] : row === undefined ? [] : marksOf(row, keyField);
  const meant = new Map<string, string[]>();
  // What is marked on devices that are out of sight is not meant.
  for (const device of shownDevices(state)) {
    for (const mark of wanted) {
      const at = mark.indexOf('\n');
      if (mark.slice(0, at) !== device) continue;
      const key = mark.slice(at + 1);
      meant.set(key, [...(meant.get(key) ?? []), device]);
    }
  }
  return meant;
}

/** Whether one of the devices holds a record with this key that is not among those `on` which it is meant. */
function isElsewhere(
  { table }: State,
  keyField: string,
  key: string,
  on: readonly string[],
  devices: readonly string[],
): boolean {
  return devices
    .filter((name) => !on.includes(name))
    .some((name) => {
      const outcome = table.reads.get(name)?.outcome;
      return (
        outcome?.ok === true && outcome.records.some((record) => rawKeyOf(record, keyField) === key)
      );
    });
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
    return [`${view.resource} add`, ...assignments(record, fields)].join(' ');
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

/** `use fw2` for the device at this place, from 0; undefined when there is none. */
export function jumpLine({ fleet }: State, index: number): string | undefined {
  const device = fleet.devices[index];
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
export function runLine({ overlay }: State, effect: keyof typeof RUN_COMMANDS): string | undefined {
  const run = overlay.kind === 'runs' ? overlay.runs[overlay.cursor] : undefined;
  return run && `${RUN_COMMANDS[effect]} ${quoteWord(run.id)}`;
}

/** A command about the device under the cursor of the list of devices. */
export function deviceLine(
  { overlay, fleet }: State,
  effect: 'open-device' | 'connect-device' | 'disconnect-device' | 'trust-device',
): string | undefined {
  const device = overlay.kind === 'devices' ? fleet.devices[overlay.cursor] : undefined;
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
export function resourceLine({ overlay }: State): string | undefined {
  const offer = overlay.kind === 'resources' ? overlay.resources[overlay.cursor] : undefined;
  return offer && `${quoteWord(offer.resource)} list`;
}

/** The comparison of what the table shows, or the one that is on the screen. */
export function driftLine({ overlay, table }: State): string {
  if (overlay.kind === 'drift') return overlay.command;
  return `${table.command} --drift`;
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
