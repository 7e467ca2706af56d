import {
  type FieldIssues,
  type FormField,
  soughtIndex,
  toggledText,
} from '../../shell/records/form-fields.ts';
import type { Steps } from '../store.ts';
import type { FormAction } from '../keys/key-binding.ts';
import { edit, EMPTY_EDITING, filled, type Editing, type EditKey } from '../editor/line.ts';
import type { State } from '../state.ts';
import { formCommand } from './form-runner.ts';
import {
  choicesOf,
  currentField,
  editingOf,
  firstProblem,
  formContext,
  formId,
  isCheckList,
  isChanged,
  openChoices,
  openForm,
  textOf,
  type Draft,
  type FormState,
} from './form-state.ts';

/** The state after an action on a form that is no key. */
export const FORM_STEPS: Pick<Steps, 'form' | 'form-fields' | 'form-warn' | 'form-end'> = {
  form(state, { opening, fields }) {
    const draft = state.drafts.get(formId(opening));
    const log = { ...state.log, current: [] };
    return { ...state, log, form: openForm(opening, fields, draft) };
  },
  'form-fields': (state, { fields }) =>
    state.form === undefined ? state : { ...state, form: withFields(state.form, fields) },
  'form-warn'(state) {
    const { form } = state;
    if (form === undefined) return state;
    const first = firstProblem(form);
    const cursor = first === -1 ? form.fields.length : first;
    return { ...state, form: { ...form, isWarned: true, cursor } };
  },
  /** Closes a form after its line has succeeded. Otherwise shows the objections in it. */
  'form-end'(state, { id, command, isDone, refusals }) {
    const { form } = state;
    const isOpen = form !== undefined && formId(form) === id;
    if (!isDone) return isOpen ? { ...state, form: refused(form, refusals) } : state;
    // Keeps a form that the user has edited since.
    if (isOpen && formCommand(form) !== command) return state;
    const drafts = new Map(state.drafts);
    drafts.delete(id);
    return { ...state, drafts, form: isOpen ? undefined : form };
  },
};

function refused(form: FormState, refusals: FieldIssues): FormState {
  const first = form.fields.findIndex(({ name }) => refusalsOf({ refusals }, name).length > 0);
  return { ...form, refusals, isWarned: false, cursor: first === -1 ? form.cursor : first };
}

/** The objections to a field, also to a part of it (`ipv4.gateway`). */
export function refusalsOf({ refusals }: Pick<FormState, 'refusals'>, name: string): string[] {
  return Object.entries(refusals).flatMap(([path, texts]) => (isPartOf(path, name) ? texts : []));
}

/** The objections that concern none of the form's fields. */
export function generalRefusals({
  refusals,
  fields,
}: Pick<FormState, 'refusals' | 'fields'>): string[] {
  return Object.entries(refusals)
    .filter(([path]) => !fields.some(({ name }) => isPartOf(path, name)))
    .flatMap(([path, texts]) => texts.map((text) => (path === '' ? text : `${path}: ${text}`)));
}

function isPartOf(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

function withFields(form: FormState, fields: readonly FormField[]): FormState {
  const name = currentField(form)?.name;
  const cursor = fields.findIndex((field) => field.name === name);
  return { ...form, fields, picking: undefined, cursor: cursor === -1 ? fields.length : cursor };
}

/** Closes the form and keeps its input as a draft. */
export function closeForm(state: State): State {
  const { form } = state;
  if (form === undefined) return state;
  const typed: Draft = new Map(
    form.fields.flatMap((field) =>
      isChanged(form, field) ? [[field.name, editingOf(form, field)] as const] : [],
    ),
  );
  return { ...state, form: undefined, drafts: new Map(state.drafts).set(formId(form), typed) };
}

type Change = (form: FormState, field: FormField) => FormState;

/** Keys in a field other than editing. */
const FIELD_ACTIONS: Readonly<
  Record<Exclude<FormAction, 'close-form' | 'next-field' | 'previous-field'>, Change>
> = {
  'choice-next': (form, field) => moveChoice(form, field, 1),
  'choice-back': (form, field) => moveChoice(form, field, -1),
  'open-choices': (form, field) =>
    choicesOf(field).length === 2 && !isCheckList(field)
      ? moveChoice(form, field, 1)
      : openPicking(form, field, false),
  'take-choice': acceptChoice,
  'close-choices': (form, field) =>
    form.picking === undefined
      ? form
      : { ...setEditing(form, field, form.picking.before), picking: undefined },
};

/** The form after a key that does not edit. */
export function formAfter(form: FormState, action: Exclude<FormAction, 'close-form'>): FormState {
  if (action === 'next-field') return moved(form, 1);
  if (action === 'previous-field') return moved(form, -1);
  const field = currentField(form);
  return field === undefined ? form : FIELD_ACTIONS[action](form, field);
}

export function editForm(opened: FormState, key: EditKey): FormState {
  const field = currentField(opened);
  if (field === undefined) return opened;
  const startsAnew = opened.isOld && (key.kind === 'insert' || key.kind === 'kill-left');
  const form = startsAnew ? { ...opened, draft: new Map(), isOld: false } : opened;
  const editing = editingOf(form, field);
  const isPicking = form.picking !== undefined;
  if (isCheckList(field))
    return isPicking ? checkKey(form, field, key) : openCheckList(form, field, key);
  switch (formContext(form)) {
    case 'form-run':
      return form;
    case 'form':
      return setEditing(form, field, edit(editing, key));
    case 'form-choice': {
      // Typing begins a new choice; Escape restores the old one.
      const start = key.kind === 'insert' ? EMPTY_EDITING : editing;
      const open = openPicking(form, field, true);
      return { ...setEditing(open, field, edit(start, key)), picking: open.picking };
    }
    case 'form-pick': {
      const before = form.picking?.before ?? editing;
      const start = form.picking?.isFiltered === true ? editing : EMPTY_EDITING;
      return {
        ...setEditing(form, field, edit(start, key)),
        picking: { chosen: 0, isFiltered: true, before },
      };
    }
  }
}

function openCheckList(form: FormState, field: FormField, key: EditKey): FormState {
  // To clear the list, no choices need to be open.
  if (key.kind === 'kill-left') return setEditing(form, field, filled(editingOf(form, field), ''));
  return key.kind === 'insert' ? jumpToChoice(openPicking(form, field, false), key.text) : form;
}

function checkKey(form: FormState, field: FormField, key: EditKey): FormState {
  if (key.kind !== 'insert') return form;
  return key.text === ' ' ? toggled(form, field) : jumpToChoice(form, key.text);
}

/** Jumps to the first choice that begins with the typed letters. If there is none, starts with the last letter. */
function jumpToChoice(form: FormState, text: string): FormState {
  const { picking: open } = form;
  if (open === undefined) return form;
  const options = openChoices(form);
  for (const letters of [(open.query ?? '') + text, text]) {
    const chosen = soughtIndex(options, letters);
    if (chosen !== -1) return { ...form, picking: { ...open, chosen, query: letters } };
  }
  return { ...form, picking: { ...open, query: '' } };
}

/** Adds the chosen option to the list, or removes it. */
function toggled(form: FormState, field: FormField): FormState {
  const option = form.picking && openChoices(form)[form.picking.chosen];
  if (form.picking === undefined || option === undefined) return form;
  const text = toggledText(field, textOf(form, field) || field.fallback, option.value);
  const next = setEditing(form, field, filled(editingOf(form, field), text));
  return { ...next, picking: { ...form.picking, query: '' } };
}

/** Moves by a number of editable fields. The command follows the last one. */
function moved(form: FormState, by: number): FormState {
  const open = form.fields.flatMap(({ isReadOnly }, index) => (isReadOnly ? [] : [index]));
  const stops = [...open, form.fields.length];
  const at = stops.indexOf(form.cursor);
  const cursor = stops[Math.max(0, Math.min(stops.length - 1, at + by))] ?? form.cursor;
  return { ...form, cursor, picking: undefined };
}

/** Moves to another choice: highlights it while the choices are open, else applies it at once. */
function moveChoice(form: FormState, field: FormField, by: 1 | -1): FormState {
  const options = openChoices(form);
  if (options.length === 0) return form;
  if (form.picking !== undefined) {
    const next = (form.picking.chosen + by + options.length) % options.length;
    return { ...form, picking: { ...form.picking, chosen: next, query: '' } };
  }
  if (isCheckList(field)) return form;
  const at = options.findIndex(({ value }) => value === (textOf(form, field) || field.fallback));
  const start = at === -1 && by === -1 ? 0 : at;
  return applyChoice(form, field, options[(start + by + options.length) % options.length]?.value);
}

function openPicking(form: FormState, field: FormField, isFiltered: boolean): FormState {
  const now = textOf(form, field) || field.fallback;
  const at = isFiltered ? 0 : choicesOf(field).findIndex(({ value }) => value === now);
  const before = editingOf(form, field);
  return { ...form, picking: { chosen: Math.max(0, at), isFiltered, before } };
}

/** Applies the chosen option and moves on. Input that matches no option stays as typed. */
function acceptChoice(form: FormState, field: FormField): FormState {
  if (form.picking === undefined) return form;
  // The field already has the marked options.
  if (isCheckList(field)) return moved(form, 1);
  const option = openChoices(form)[form.picking.chosen];
  // The user has cleared the field, which does not mean the first choice.
  const isEmpty = form.picking.isFiltered && textOf(form, field) === '';
  return moved(isEmpty ? form : applyChoice(form, field, option?.value), 1);
}

function applyChoice(form: FormState, field: FormField, value: string | undefined): FormState {
  if (value === undefined) return form;
  return setEditing(form, field, filled(editingOf(form, field), value));
}

/** Changes a field, and drops the objections to it and to the whole form. */
function setEditing(form: FormState, field: FormField, editing: Editing): FormState {
  const draft = new Map(form.draft).set(field.name, editing);
  const next = { ...form, draft, isOld: false };
  if (textOf(next, field) === textOf(form, field)) return next;
  const others = form.fields.filter(({ name }) => name !== field.name);
  const refusals = Object.fromEntries(
    Object.entries(form.refusals).filter(([path]) =>
      others.some(({ name }) => isPartOf(path, name)),
    ),
  );
  return { ...next, refusals, isWarned: false };
}
