import { type FormField, isOn, itemsOf } from '../../shell/records/form-fields.ts';
import { GUTTER } from '../../text/fit-columns.ts';
import { cut, fit, visible, widthOf } from '../../text/visible.ts';
import { layoutOf } from '../screen/layout.ts';
import { choiceLines } from '../screen/choices.ts';
import type { Span, TextLine } from '../screen/theme.ts';
import type { State } from '../state.ts';
import { masked, shownLine, windowOf } from '../prompt/input-line.ts';
import { EMPTY_LINE } from '../editor/line.ts';
import type { CursorPosition } from '../terminal/painter.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { wrapText } from '../../text/wrap.ts';
import { formCommand } from './form-runner.ts';
import {
  choicesOf,
  currentField,
  editingOf,
  formContext,
  type FormState,
  hasChanges,
  isChanged,
  isCheckList,
  openChoices,
  problemOf,
  textOf,
} from './form-state.ts';
import { generalRefusals, refusalsOf } from './reduce-form.ts';
import { frequencies } from '../../device/record.ts';
import { memoized } from '../store.ts';

/** A box with its title in the upper edge, and the end of its command in the lower one. */
export interface FormView {
  readonly rows: readonly TextLine[];
  readonly width: number;
  /** Row and column in the box; undefined: no text is edited. */
  readonly cursor: CursorPosition | undefined;
}

/** In a wider box, the message would be too far from its field. */
const WIDEST = 110;

const OLD_DRAFT = 'old draft: → keeps it, a letter or ctrl-u starts anew';

/** The title names at most this many devices. */
const MOST_NAMED = 3;
/** A form with fewer rows shows no hint. */
const SMALL = 8;
/** The most lines of a long note below its field. */
const MOST_NOTE_LINES = 3;

interface Widths {
  readonly label: number;
  readonly value: number;
  readonly note: number;
  readonly columns: number;
}

/** A form in at most `height` rows: title, the fields around the cursor, and the command of the form. */
const formView = memoized(
  (form: FormState, screenColumns: number, height: number, devices: number): FormView => {
    const width = Math.min(screenColumns, WIDEST);
    const columns = width - 2;
    const widths = widthsOf(form, columns);
    const command = commandRows(form, columns, height);
    const room = Math.max(1, height - 1 - command.length);
    const extras = extraRows(form, widths, room - 1);
    const { fields, cursor } = form;
    const all = fields.flatMap((field, index) =>
      index === cursor
        ? [fieldRow(form, field, widths, true), ...extras]
        : [fieldRow(form, field, widths, false)],
    );
    // Keeps the current field in the middle, with its extra rows visible.
    const wanted = cursor - Math.floor((room - extras.length) / 2);
    const top = Math.max(0, Math.min(wanted, all.length - room));
    const shown = all.slice(top, top + room);
    const isCut = all.length > room;
    const where = isCut ? ` · field ${Math.min(cursor + 1, fields.length)}/${fields.length}` : '';
    const title = titleRow(form, columns - 2, where, devices);
    const rows = [title, ...shown, ...command].slice(0, height);
    return { rows, width, cursor: cursorIn(form, widths, cursor - top + 1) };
  },
);

/** The box of the form in the lower part of the body; a question hides it. */
export function formBox(state: State): FormView | undefined {
  const { form, size, overlay, questions, table, fleet } = state;
  if (form === undefined || overlay.kind !== 'none' || questions.length > 0) return undefined;
  const devices = table.scope ?? fleet.selected;
  return formView(form, size.columns, layoutOf(state).body, devices.length);
}

/** The terminal's cursor while a form has the focus. */
export function formCursor(state: State): CursorPosition | undefined {
  const { cursor, rows = [] } = formBox(state) ?? {};
  // Below the bar, the title and the table, behind the edge of the box.
  const top = 2 + layoutOf(state).body - rows.length;
  return cursor && { row: top + cursor.row, column: cursor.column + 1 };
}

function widthsOf({ fields }: FormState, columns: number): Widths {
  const longest = Math.max(4, ...fields.map((field) => widthOf(labelOf(field, Infinity))));
  const label = Math.min(longest, Math.floor(columns * 0.3));
  const rest = columns - GUTTER - label - 5;
  const value = Math.max(6, Math.min(44, Math.floor(rest * 0.5)));
  return { label, value, note: rest - value, columns };
}

function titleRow(form: FormState, columns: number, place: string, devices: number): TextLine {
  const { action, resource, keys, on, hidden = 0 } = form;
  const named = keys.length > 1 ? [`${counted(keys.length, 'key')}:`, ...keys] : keys;
  const unseen = hidden === 0 ? '' : `(${hidden} hidden by the filter)`;
  // The line in the lower edge has all names.
  const count = on.startsWith('--on ') ? on.split(',').length : devices;
  const isNamed = on !== '' && count <= MOST_NAMED;
  const where = isNamed || count < 2 ? on : `on ${counted(count, 'device')}`;
  const what = [resource, action, unseen, ...named, where].filter((word) => word !== '').join(' ');
  const note = form.isOld ? OLD_DRAFT : originText(form);
  const text = cut(` ${visible(what)}${place} · ${note}`, columns);
  return [{ tone: 'accent', text }];
}

function fieldRow(form: FormState, field: FormField, widths: Widths, isCurrent: boolean): TextLine {
  // `~` as in a plan, since a star means required.
  const gutter = fit((isCurrent ? '▸' : ' ') + (isChanged(form, field) ? '~' : ''), GUTTER);
  const tone = field.isReadOnly ? 'quiet' : isCurrent ? 'accent' : 'plain';
  const note = noteOf(form, field, isCurrent);
  const value = valueSpan(form, field, widths.value, isCurrent);
  return [
    { tone, text: gutter + fit(labelOf(field, widths.label), widths.label) + ' ' },
    { tone: 'quiet', text: field.isReadOnly ? ' ' : '[' },
    { tone: value.tone, text: fit(value.text, widths.value) },
    { tone: 'quiet', text: field.isReadOnly ? '  ' : '] ' },
    { tone: note.tone, text: isCurrent ? partsOf(note, widths)[0] : cut(note.text, widths.note) },
  ];
}

/** The part of a note beside its field, and the rest below. */
function partsOf({ text }: Span, { note }: Widths): readonly [string, string] {
  const [beside = ''] = wrapText(text, note);
  return [beside, text.slice(beside.length).trimStart()];
}

/** Adds a star if the device or the profile requires the field. */
function labelOf({ label, isRequired }: FormField, width: number): string {
  return isRequired ? `${cut(visible(label), width - 2)} *` : visible(label);
}

function valueSpan(form: FormState, field: FormField, width: number, isCurrent: boolean): Span {
  const text = textOf(form, field);
  const isTyped = isCurrent && hasCursor(form, field);
  if (isTyped) return { tone: 'plain', text: windowOf(lineIn(form, field), width - 1).text };
  const head = beginning(text, width);
  if (text === '' && field.mixed) return { tone: 'quiet', text: '(mixed)' };
  if (field.isReadOnly) return { tone: 'quiet', text: visible(head) };
  const empty = visible(inWords(field, field.fallback)) || 'empty';
  if (text === '') return { tone: 'quiet', text: `(${empty})` };
  if (field.isSecret) return { tone: 'plain', text: masked({ before: head, after: '' }).before };
  if (field.type === 'boolean') return { tone: 'plain', text: visible(inWords(field, head)) };
  const label = choicesOf(field).find(({ value }) => value === text)?.label ?? text;
  const named = label === text ? head : `${head} · ${label}`;
  return { tone: 'plain', text: shownLine(named) };
}

/** More than the visible part of a text, but not all: a paste may be a thousand times as long. */
function beginning(text: string, cells: number): string {
  const reach = cells * 2 + 64;
  return text.length > reach ? `${text.slice(0, reach)}…` : text;
}

/** Whether the field's text is being typed; a check list has no cursor. */
function hasCursor(form: FormState, field: FormField): boolean {
  return ['form', 'form-pick'].includes(formContext(form)) && !isCheckList(field);
}

function lineIn(form: FormState, field: FormField) {
  // Choices opened without typing begin empty.
  if (form.picking?.isFiltered === false) return EMPTY_LINE;
  const { line } = editingOf(form, field);
  return field.isSecret ? masked(line) : line;
}

function cursorIn(form: FormState, widths: Widths, row: number): CursorPosition | undefined {
  const field = currentField(form);
  if (field === undefined || !hasCursor(form, field)) return undefined;
  const { cursor } = windowOf(lineIn(form, field), widths.value - 1);
  return { row, column: GUTTER + widths.label + 2 + cursor };
}

/** The rows below the current field: its open choices, or the rest of a note that does not fit beside it. */
function extraRows(form: FormState, widths: Widths, most: number): TextLine[] {
  const field = currentField(form);
  if (field === undefined || most < 1) return [];
  const indent = ' '.repeat(GUTTER + 2);
  if (form.picking !== undefined) return choiceRows(form, widths, most);
  const note = noteOf(form, field, true);
  const [, rest] = partsOf(note, widths);
  if (rest === '') return [];
  const lines = wrapText(rest, widths.columns - indent.length - 1);
  return lines
    .slice(0, Math.min(most, MOST_NOTE_LINES))
    .map((line) => [{ tone: note.tone, text: indent + line }]);
}

function choiceRows(form: FormState, { label, columns }: Widths, most: number): TextLine[] {
  const options = openChoices(form);
  const chosen = form.picking?.chosen ?? 0;
  const field = currentField(form);
  const marked =
    field && isCheckList(field)
      ? new Set(itemsOf(field, textOf(form, field) || field.fallback))
      : undefined;
  const indent = ' '.repeat(GUTTER + label + 1);
  const room = columns - indent.length - 1;
  if (options.length === 0)
    return [[{ tone: 'warning', text: indent + cut(' no choice fits', room) }]];
  const choices = options.map(({ value, label: name }) => {
    const box = marked === undefined ? '' : marked.has(value) ? '[x] ' : '[ ] ';
    return { text: box + visible(value), summary: name === value ? '' : visible(name) };
  });
  return choiceLines(choices, chosen, { height: most, width: room }).map(({ at, line }) => [
    { tone: 'plain', text: indent },
    { tone: at === chosen ? 'chosen' : 'plain', text: line },
  ]);
}

/** The line that Enter runs. It gets more room if the cursor is on it. */
function commandRows(form: FormState, columns: number, height: number): TextLine[] {
  const isCurrent = currentField(form) === undefined;
  const most = Math.max(1, isCurrent ? height - 4 : Math.floor(height / 4));
  const note = commandNote(form, !hasChanges(form));
  const command = beginning(formCommand(form, 'hidden'), columns * (most + 1));
  const lines = wrapText(shownLine(command), columns - 5);
  if (lines.length > most)
    lines.splice(most - 1, Infinity, cut(lines.slice(most - 1).join(' '), columns - 5));
  const isShown = note !== undefined && (note.tone === 'bad' || height >= SMALL);
  const above = isShown ? wrapText(note.text, columns - 5).slice(0, 2) : [];
  const tone = isCurrent ? 'accent' : 'plain';
  const head = isCurrent ? '▸ › ' : '  › ';
  return [
    ...above.map((line): TextLine => [{ tone: note?.tone ?? 'plain', text: `    ${line}` }]),
    ...lines.map((line, index): TextLine => [{ tone, text: (index === 0 ? head : '    ') + line }]),
  ];
}

/** The number of characters that are measured: a note has at most three lines. */
const LONGEST_WAS = 400;
/** The most different values that are named. */
const MOST_VALUES = 4;

const ORIGINS: Readonly<Record<FormField['origin'], string>> = {
  observed: 'fields as the device reports them',
  documented: 'fields of the API document',
  configured: 'fields of the profile',
  assumed: 'fields by convention',
  seen: 'fields seen in records',
};

/** A readable value: a boolean is yes or no, whatever the device's spelling. */
function inWords(field: FormField, text: string): string {
  const value = isOn(field, text);
  return value === undefined ? text : value ? 'yes' : 'no';
}

/** The origin of most of the form's fields. */
function originText({ fields }: FormState): string {
  const [most] = frequencies(fields.map(({ origin }) => origin));
  return most === undefined ? 'no known fields' : ORIGINS[most[0]];
}

/** The note beside a field: a device's objection, a problem, or a hint. */
function noteOf(form: FormState, field: FormField, isCurrent: boolean): Span {
  const refusals = refusalsOf(form, field.name);
  if (refusals.length > 0) return { tone: 'bad', text: `✗ ${visible(refusals.join('; '))}` };
  const problem = problemOf(form, field);
  if (problem !== undefined && (form.isWarned || problem !== 'required')) {
    return { tone: 'bad', text: `✗ ${visible(problem)}` };
  }
  const isMissing = problem === 'required';
  const texts = isCurrent
    ? hintsOf(form, field)
    : field.isReadOnly
      ? ['read-only']
      : isMissing
        ? ['required']
        : isChanged(form, field) && form.action === 'set' && !field.isSecret
          ? [wasText(field)]
          : [];
  return { tone: isMissing ? 'warning' : 'quiet', text: visible(texts.join(' · ')) };
}

function hintsOf(form: FormState, field: FormField): string[] {
  const { isRequired, type, min, max, maxLength, isSecret, origin } = field;
  const isUntouched = textOf(form, field) === '';
  const count = choicesOf(field).length;
  return [
    ...(isRequired ? ['required'] : []),
    ...(isUntouched && field.fallback !== ''
      ? [`empty: ${inWords(field, field.fallback)}, most common`]
      : []),
    ...(isUntouched && field.mixed ? [`mixed: ${mixedText(field.mixed)}; empty: each stays`] : []),
    ...(isUntouched && isSecret && form.action === 'set' ? ['empty: unchanged'] : []),
    ...(type === 'integer' ? ['whole number'] : []),
    ...nestedText(field),
    ...rangeText(min, max),
    ...(maxLength !== undefined && count === 0 ? [`up to ${maxLength} characters`] : []),
    ...(isChanged(form, field) && form.action === 'set' && !isSecret ? [wasText(field)] : []),
    ...(origin === 'seen' ? ['seen in records'] : []),
  ];
}

/** The value before, cut if it is long. */
function wasText(field: FormField): string {
  if (field.mixed) return `was ${mixedText(field.mixed)}`;
  return `was ${cut(visible(inWords(field, field.value.slice(0, LONGEST_WAS))), LONGEST_WAS) || 'empty'}`;
}

/** `de, en, fr +3`: the values of several records. */
function mixedText(values: readonly string[]): string {
  const shown = values.map((text) => cut(visible(text.slice(0, LONGEST_WAS)), 12) || 'empty');
  return someOf(shown, MOST_VALUES);
}

function nestedText({ nested, choices = [] }: FormField): string[] {
  if (nested === undefined) return [];
  if (nested.kind === 'object') return ['JSON, as {"name": "value"}'];
  return choices.length === 0 ? ['a, b, c or JSON'] : [`space marks, any of ${choices.length}`];
}

function rangeText(min: number | undefined, max: number | undefined): string[] {
  if (min !== undefined && max !== undefined) return [`${min} to ${max}`];
  if (min !== undefined) return [`${min} or more`];
  return max === undefined ? [] : [`${max} or less`];
}

function commandNote(form: FormState, isEmpty: boolean): Span | undefined {
  const general = generalRefusals(form);
  if (general.length > 0) return { tone: 'bad', text: `✗ ${visible(general.join('; '))}` };
  const count = form.fields.filter((field) => problemOf(form, field) !== undefined).length;
  if (isEmpty) {
    const text = form.action === 'add' ? 'nothing typed yet' : 'nothing changed yet';
    return { tone: form.isWarned ? 'bad' : 'quiet', text };
  }
  if (count === 0 || !form.isWarned) return undefined;
  const what = count === 1 ? '1 field has a problem' : `${count} fields have problems`;
  return { tone: 'bad', text: `✗ ${what}; ctrl-s runs it anyway` };
}
