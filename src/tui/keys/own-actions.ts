import { type DeviceRecord, valueAt } from '../../device/record.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import { matches, parseFilter } from '../../fleet/filter.ts';
import { cellText, fieldText } from '../../output/cells.ts';
import { hideSecrets } from '../../shell/grammar/hide-secrets.ts';
import { hasUnsafe, shortened, visible } from '../../text/visible.ts';
import { parseCompleteLine, quoteLine } from '../../text/words.ts';
import type { KeyBinding, State } from '../state.ts';
import { rawKeyOf, tableRows } from '../table/rows.ts';
import { currentCell } from '../views/drift.ts';
import { listed } from '../views/views.ts';
import { firstOf, readOnly, type Reason } from './binding.ts';
import type { OwnAction } from './key-binding.ts';

/* The user's own actions: what they apply to, and how values come into their words. */

/** What a key applies to: the record, device, run or resource under the cursor. */
export interface Subject {
  /** By placeholder. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly record?: DeviceRecord | undefined;
  /** The names of the devices that are concerned; empty: any. */
  readonly devices: readonly string[];
}

const PLACES = {
  table: 'In the table',
  details: 'In the details of a record',
  devices: 'In the list of devices',
  runs: 'In the list of runs',
  drift: 'While devices are compared',
  resources: 'In the list of resources',
} as const satisfies Record<OwnAction['place'], string>;

/** The placeholders that a place has a value for, besides `record.FIELD` and `prompt.NAME`. */
const NAMES: Readonly<Record<OwnAction['place'], readonly string[]>> = {
  table: ['key', 'resource', 'device', 'devices', 'address'],
  details: ['key', 'resource', 'device', 'devices', 'address'],
  devices: ['device', 'devices', 'address'],
  runs: ['run'],
  drift: ['key', 'resource', 'device', 'devices', 'address'],
  resources: ['resource', 'device', 'devices', 'address'],
};

const HAS_PLACEHOLDER = /\{[A-Za-z][\w.-]*\}/;
const PLACEHOLDER = /\{([A-Za-z][\w.-]*)\}/g;
/** Chosen by a device. */
const FOREIGN = /\{(?:key|resource|record\.[\w.-]+)\}/;
/** No program takes more in an argument on every system. */
const LONGEST = 4_096;

/** The bindings of own actions. `problems` gets what is wrong with them. */
export function ownBindings(actions: readonly OwnAction[], problems: string[]): KeyBinding[] {
  return actions.map((own): KeyBinding => {
    const { place, key, label, line, program = [], reads = false } = own;
    const where = `actions: "${visible(label)}"`;
    for (const problem of problemsOf(own)) problems.push(`${where}: ${problem}`);
    const isWriting = line === undefined && !reads;
    return {
      context: place,
      place: PLACES[place],
      keys: [key],
      action: `own: ${label}`,
      label: visible(label),
      command: visible(line ?? quoteLine(program)),
      own,
      disabled: firstOf(
        (state) => (isWriting ? readOnly(state) : undefined),
        noSubject(own),
        unmatched(own),
      ),
    };
  });
}

function problemsOf({ place, line, program, when, prompts = [], reads }: OwnAction): string[] {
  if ((line === undefined) === (program === undefined)) return ['needs either line or program'];
  if (line !== undefined && reads !== undefined) return ['only a program has "reads"'];
  const asked = prompts.map(({ name }) => `prompt.${name}`);
  const isKnown = (name: string): boolean =>
    NAMES[place].includes(name) ||
    asked.includes(name) ||
    (NAMES[place].includes('key') && name.startsWith('record.'));
  const problems = prompts
    .filter(({ kind, choices = [] }) => (kind === 'choice') !== choices.length > 0)
    .map(({ name }) => `prompt ${name}: the kind "choice" needs "choices", and vice versa`);
  try {
    if (when !== undefined) parseFilter(when, { isFuzzy: false });
    const words = line === undefined ? (program ?? []) : wordsOf(line);
    const names = words.flatMap((word) =>
      [...word.matchAll(PLACEHOLDER)].map(([, name]) => name ?? ''),
    );
    if (when !== undefined && !NAMES[place].includes('key'))
      problems.push('no record here for "when"');
    problems.push(
      ...names.filter((name) => !isKnown(name)).map((name) => `there is no {${name}} here`),
      ...names
        .filter((name) => isSecret(name))
        .map((name) => `{${name}} is a secret, and actions get no secrets`),
    );
    if (HAS_PLACEHOLDER.test(words[0] ?? '')) problems.push('its first word must not be a value');
    if (line !== undefined) problems.push(...misplaced(words));
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    problems.push(error.message);
  }
  return problems;
}

/** Whether its line gets a value that a device has chosen. */
export function hasForeignValue({ line = '' }: OwnAction): boolean {
  return FOREIGN.test(line);
}

function isSecret(name: string): boolean {
  const assigned = `${name.replace('record.', '')}=x`;
  return hideSecrets(assigned) !== assigned;
}

function wordsOf(line: string): string[] {
  return parseCompleteLine(line).map(({ text }) => text);
}

/** Places in a line where a value of a device would mean more than itself: verbs and options. */
function misplaced(words: readonly string[]): string[] {
  const firstArgument = words[0] === 'resource' ? 3 : 2;
  return words.flatMap((word, index) => {
    if (word.startsWith('-') && HAS_PLACEHOLDER.test(word.replace(/=.*/s, '')))
      return [`"${word}": a value cannot be part of an option's name`];
    if (!FOREIGN.test(word)) return [];
    const isOption = word.startsWith('-') || words[index - 1]?.startsWith('-') === true;
    if (isOption)
      return [`"${word}": a value of a record cannot follow an option: move it forward`];
    const isVerb = index < firstArgument && word.startsWith('{');
    return isVerb ? [`"${word}" is at the place of a verb: name the verb`] : [];
  });
}

function noSubject(own: OwnAction): Reason {
  return (state) => {
    const isMarked = own.place === 'table' && state.table.marks.size > 0;
    if (isMarked)
      return 'own actions take the record under the cursor: clear the marks first (esc)';
    return subjectOf(own, state) === undefined ? 'nothing at the cursor' : undefined;
  };
}

function unmatched(own: OwnAction): Reason {
  return (state) => {
    const {
      record,
      devices: [device = ''],
    } = subjectOf(own, state) ?? { devices: [] };
    if (own.when === undefined || record === undefined) return undefined;
    const filter = parseFilter(own.when, { isFuzzy: false });
    return matches(filter, record, device) ? undefined : `only for ${visible(own.when)}`;
  };
}

/** What the key applies to now; undefined if there is nothing at the cursor. */
export function subjectOf({ place }: OwnAction, state: State): Subject | undefined {
  const { overlay, fleet } = state;
  const subjectOn = (devices: readonly string[], about: Subject['values'] = {}): Subject => {
    const device = devices.length === 1 ? devices[0] : undefined;
    const address = fleet.devices.find(({ name }) => name === device)?.address;
    return { values: { ...about, device, devices: devices.join(','), address }, devices };
  };
  if (place === 'runs' || place === 'devices') {
    const id = overlay.kind === place ? listed(state)?.idAt(overlay.cursor) : undefined;
    if (id === undefined) return undefined;
    return place === 'runs' ? { values: { run: id }, devices: [] } : subjectOn([id]);
  }
  if (place === 'resources') {
    if (overlay.kind !== place) return undefined;
    const resource = listed(state)?.idAt(overlay.cursor);
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

/** A value never becomes another word, an option or a control character: throws a `RefusedError`. */
export function filledWords(
  { line, program = [] }: OwnAction,
  subject: Subject,
  answers: ReadonlyMap<string, string>,
): string[] {
  const words = line === undefined ? program : wordsOf(line);
  return words.map((word) =>
    word.replace(PLACEHOLDER, (placeholder, name: string) => {
      const value = valueOf(name, subject, answers);
      const problem =
        valueProblem(value) ?? (line === undefined ? undefined : lineProblem(word, value));
      if (problem === undefined) return value;
      const shown = value === '' ? '' : ` "${visible(shortened(value, 60))}"`;
      throw new RefusedError(`${placeholder}${shown} ${problem}: nothing was run`);
    }),
  );
}

function valueOf(
  name: string,
  { values, record, devices }: Subject,
  answers: ReadonlyMap<string, string>,
): string {
  if (name.startsWith('prompt.')) return answers.get(name.slice('prompt.'.length)) ?? '';
  if (name.startsWith('record.')) {
    const field = name.slice('record.'.length);
    const value = valueAt(record, field);
    if (typeof value === 'object' || value === undefined) return '';
    if (fieldText(field, value) !== cellText(value))
      throw new RefusedError(`{${name}} is a secret: nothing was run`);
    return String(value);
  }
  const value = values[name];
  if (value === undefined && devices.length > 1)
    throw new RefusedError(
      `{${name}} needs one device, but the row is on ${devices.length}: unfold it first`,
    );
  return value ?? '';
}

function valueProblem(value: string): string | undefined {
  if (value === '') return 'has no value here';
  if (value.startsWith('-')) return 'begins with "-" and could be read as an option';
  if (value.length > LONGEST) return `has ${value.length} characters, more than ${LONGEST}`;
  return hasUnsafe(value) || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)
    ? 'contains control characters'
    : undefined;
}

/** In a line a word may be an assignment or a path, which a value must not make or leave. */
function lineProblem(word: string, value: string): string | undefined {
  if (FOREIGN.test(word) && word.startsWith('{') && /[=~]/.test(value))
    return 'has "=" or "~" and could be read as an assignment or a condition';
  if (word.startsWith('/') && (/[/?#%\\]/.test(value) || /^\.+$/.test(value)))
    return 'would change the path';
  return undefined;
}
