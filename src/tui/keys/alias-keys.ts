import { type DeviceRecord, valueAt } from '../../device/record.ts';
import { expectedError, SettingsError } from '../../errors.ts';
import { commandNamed } from '../../shell/command.ts';
import { COMMANDS } from '../../shell/commands/index.ts';
import {
  type Alias,
  type Aliases,
  checkAlias,
  formerPartOf,
  isProgram,
  namedAliases,
  ON_SCREEN,
  templateOf,
} from '../../shell/grammar/aliases.ts';
import { suggest } from '../../text/suggest.ts';
import { visible } from '../../text/visible.ts';
import { quoteLine } from '../../text/words.ts';
import type { KeyBinding, Keymap, State } from '../state.ts';
import { rawKeyOf, tableRows } from '../table/rows.ts';
import { isKeyName, keyLabel, type KeyName, parseKey, plainKeyNames } from '../terminal/keys.ts';
import { currentCell } from '../views/drift.ts';
import { listView } from '../views/views.ts';
import { firstOf, readOnly, type Reason } from './binding.ts';
import { KEYMAP } from './default-keymap.ts';
import type { LineFacts } from './key-binding.ts';

/* The keys of aliases. Each types the name of its alias, and the values at the cursor as NAME=VALUE. */

/** The record, device, run or resource under the cursor, to which a key applies. */
interface Subject {
  /** The values by placeholder. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly record?: DeviceRecord | undefined;
  /** The names of the devices that it is about; empty if it may be about any. */
  readonly devices: readonly string[];
}

type Place = NonNullable<Alias['place']>;

/** Keys that have the same code as another one in a terminal. */
const TWINS: ReadonlyMap<KeyName, KeyName> = new Map([
  ['ctrl-i', 'tab'],
  ['ctrl-m', 'enter'],
  ['ctrl-j', 'enter'],
  ['ctrl-[', 'escape'],
]);

/** All keys, with those of the aliases. Throws a `SettingsError` with every problem, which names the file `path`. */
export function keymapWith(aliases: Aliases | undefined, path: string): Keymap {
  const problems: string[] = [];
  const added = namedAliases(aliases).flatMap(([name, alias]): KeyBinding[] => {
    const { key, place } = alias;
    if (key === undefined && place === undefined) return [];
    // An alias with a former part gets no key. devsh explains that when its line is typed.
    if (formerPartOf(alias) !== undefined) return [];
    const problem = problemOf(name, alias) ?? keyProblem(name, key ?? '');
    if (problem !== undefined) problems.push(problem);
    if (problem !== undefined || key === undefined || place === undefined) return [];
    return [{ ...bindingOf(name, alias, place), keys: [normalized(key)] }];
  });
  const conflicts = added.flatMap((one, index) =>
    [...KEYMAP, ...added.slice(0, index)].flatMap((other) => conflictOf(other, one)),
  );
  problems.push(...conflicts);
  if (problems.length === 0) return [...KEYMAP, ...added];
  throw new SettingsError(`${path}: ${problems.join('; ')}`);
}

/** The spelling of keys in the keymap: `G` for `shift-g`. */
function normalized(keys: string): KeyName {
  const presses = keys.split(' ');
  return presses.map((key) => keyLabel(parseKey(key))).join(' ');
}

function keyProblem(name: string, key: string): string | undefined {
  const presses = key.split(' ');
  const wrong = presses.find((press) => !isKeyName(press));
  if (wrong !== undefined) {
    // Other programs spell it `ctrl+x` or `Control-x`.
    const spelled = wrong
      .toLowerCase()
      .replace(/[+_]/g, '-')
      .replace(/^control-/, 'ctrl-');
    const [best] = isKeyName(spelled) ? [spelled] : suggest(wrong, plainKeyNames);
    const guess = best === undefined ? '' : `, did you mean "${best}"?`;
    return `alias ${name}: unknown key "${wrong}"${guess}`;
  }
  const twin = presses.find((press) => TWINS.has(press));
  if (twin === undefined) return undefined;
  return `alias ${name}: terminals send "${twin}" as ${TWINS.get(twin) ?? ''}`;
}

/** The problem of a key with two meanings at one place, or one that begins a longer key, which would never be reached. */
function conflictOf(one: KeyBinding, other: KeyBinding): string[] {
  if (one.context !== other.context && one.context !== 'anywhere') return [];
  const key = one.keys.find((mine) =>
    other.keys.some((its) => `${mine} `.startsWith(`${its} `) || its.startsWith(`${mine} `)),
  );
  const [a, b] = [one, other].map(({ context, action }) => `${context}.${action}`);
  return key === undefined ? [] : [`the key ${key} is both ${a ?? ''} and ${b ?? ''}`];
}

function problemOf(name: string, alias: Alias): string | undefined {
  if (commandNamed(COMMANDS, name) !== undefined) return `alias ${name}: is a command`;
  try {
    checkAlias(name, alias);
    return undefined;
  } catch (error) {
    return expectedError(error).message;
  }
}

function bindingOf(
  name: string,
  alias: Alias,
  place: Place,
): Omit<KeyBinding & LineFacts<State>, 'keys'> {
  const { label = name, run } = alias;
  const held = templateOf(alias).placeholders.map((one) => one.name);
  const taken = held.filter((one) => ON_SCREEN.test(one));
  const noSubject: Reason = (state) => {
    if (place === 'table' && state.table.marks.size > 0)
      return 'the key of an alias takes the record under the cursor: clear the marks first (esc)';
    const subject = subjectOf(place, state);
    if (subject === undefined) return 'nothing at the cursor';
    const { devices } = subject;
    const one = taken.find((name) => ['device', 'address'].includes(name));
    if (one !== undefined && devices.length > 1)
      return `\${${one}} needs one device, but the row is on ${devices.length}: unfold it first`;
    return undefined;
  };
  return {
    context: place,
    // Details have no keys of their own.
    place: KEYMAP.find(({ context }) => context === place)?.place ?? 'In the details of a record',
    action: `alias ${name}`,
    label: visible(label),
    command: visible(run),
    disabled: firstOf((state) => (isProgram(alias) ? readOnly(state) : undefined), noSubject),
    // In `retire key=bob record.lang=de`, each value begins behind the first `=`, and may contain another one.
    run: (state) => {
      const subject = subjectOf(place, state);
      if (subject === undefined) return undefined;
      // A program always gets the devices, because it must not run for a read-only one.
      const isAbout = isProgram(alias) && subject.devices.length > 0;
      const names = new Set([...taken, ...(isAbout ? ['devices'] : [])]);
      return quoteLine([name, ...Array.from(names, (one) => `${one}=${valueOf(one, subject)}`)]);
    },
  };
}

function valueOf(name: string, { values, record }: Subject): string {
  if (!name.startsWith('record.')) return values[name] ?? '';
  const value = valueAt(record, name.slice('record.'.length));
  return typeof value === 'object' || value === undefined ? '' : String(value);
}

/** The subject of a key now; undefined if there is nothing at the cursor. */
function subjectOf(place: Place, state: State): Subject | undefined {
  const { overlay, fleet } = state;
  const subjectOn = (devices: readonly string[], about: Subject['values'] = {}): Subject => {
    const device = devices.length === 1 ? devices[0] : undefined;
    const address = fleet.devices.find(({ name }) => name === device)?.address;
    return { values: { ...about, device, devices: devices.join(','), address }, devices };
  };
  if (place === 'runs' || place === 'devices') {
    const id = overlay.kind === place ? listView(state)?.idAt(overlay.cursor) : undefined;
    if (id === undefined) return undefined;
    return place === 'runs' ? { values: { run: id }, devices: [] } : subjectOn([id]);
  }
  if (place === 'resources') {
    if (overlay.kind !== place) return undefined;
    const resource = listView(state)?.idAt(overlay.cursor);
    const offer = overlay.resources.find((one) => one.resource === resource);
    return offer && subjectOn(offer.devices, { resource });
  }
  if (place === 'drift') {
    const cell = overlay.kind === place ? currentCell(overlay, state) : undefined;
    if (overlay.kind !== place || cell === undefined) return undefined;
    const { resource } = overlay.output;
    return { ...subjectOn([cell.device], { key: cell.key, resource }), record: cell.record };
  }
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return undefined;
  const key = rawKeyOf(row.record, keyField);
  if (overlay.kind === 'details' && overlay.details.key !== key) return undefined;
  const { resource } = state.table.view;
  const devices = row.devices.map(({ name }) => name);
  return { ...subjectOn(devices, { key, resource }), record: row.record };
}
