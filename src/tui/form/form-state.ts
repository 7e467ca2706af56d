import type { FieldChoice, FieldIssues, FormField } from '../../shell/records/form-fields.ts';
import { checkText } from '../../change/check-fields.ts';
import type { FoldedRow } from '../../fleet/fold.ts';
import { EMPTY_EDITING, lineText, type Editing } from '../editor/line.ts';

/** What a form is about. */
export interface FormOpening {
  readonly action: 'add' | 'set';
  readonly resource: string;
  /** The record's key; nothing for a new one. */
  readonly key: string;
  /** `--on fw1`, where not all selected devices are meant. */
  readonly on: string;
  /** The device whose fields it shows; undefined: the first of the selection. */
  readonly device: string | undefined;
  /** The record as it was when the form was opened. */
  readonly record?: FoldedRow['record'];
}

/** By field: what was typed. A field that is not in it is as it was. */
export type Draft = ReadonlyMap<string, Editing>;

export interface FormState extends FormOpening {
  readonly fields: readonly FormField[];
  readonly draft: Draft;
  /** Index of the field with the cursor; behind the last one it is on the command. */
  readonly cursor: number;
  /** The choices are open: which one is chosen, and what was in the field before. */
  readonly picking: Picking | undefined;
  /** What devices objected to when it was last sent. */
  readonly refusals: FieldIssues;
  /** It was said what speaks against sending it. */
  readonly isWarned: boolean;
}

export interface Picking {
  readonly chosen: number;
  /** Only the choices that fit to what was typed. */
  readonly isFiltered: boolean;
  /** In a list: the letters by which the choice was jumped to. */
  readonly sought?: string;
  readonly before: Editing;
}

export type FormContext = 'form' | 'form-switch' | 'form-choice' | 'form-pick' | 'form-run';

/** Forms of the same id are about the same record. */
export function formId({ action, resource, key, on }: FormOpening): string {
  return [action, resource, key, on].join('\n');
}

export function openForm(
  opening: FormOpening,
  fields: readonly FormField[],
  draft: Draft = new Map(),
): FormState {
  const cursor = fields.findIndex(({ isReadOnly }) => !isReadOnly);
  return {
    ...opening,
    fields,
    draft,
    cursor: cursor === -1 ? fields.length : cursor,
    picking: undefined,
    refusals: {},
    isWarned: false,
  };
}

export function currentField({ fields, cursor }: FormState): FormField | undefined {
  return fields[cursor];
}

export function formContext(form: FormState): FormContext {
  const field = currentField(form);
  if (field === undefined) return 'form-run';
  if (form.picking !== undefined) return 'form-pick';
  if (field.type === 'boolean') return 'form-switch';
  return choicesOf(field).length > 0 ? 'form-choice' : 'form';
}

/** Whether several of its choices may be marked. */
export function isCheckList(field: FormField): boolean {
  return field.nested?.kind === 'list' && choicesOf(field).length > 0;
}

/** What may be picked in a field; several of them in a list. */
export function choicesOf(field: FormField): readonly FieldChoice[] {
  const { choices, proposals, isSecret, nested } = field;
  if (isSecret || nested?.kind === 'object') return [];
  return choices ?? (nested === undefined ? proposals : undefined) ?? [];
}

export function editingOf({ draft }: Pick<FormState, 'draft'>, field: FormField): Editing {
  return draft.get(field.name) ?? untouched(field);
}

export function textOf(form: Pick<FormState, 'draft'>, field: FormField): string {
  return lineText(editingOf(form, field).line);
}

/** Whether something else was typed than the record holds. */
export function isChanged(form: Pick<FormState, 'draft'>, field: FormField): boolean {
  return !field.isReadOnly && textOf(form, field) !== field.value;
}

function untouched({ value }: FormField): Editing {
  return { ...EMPTY_EDITING, line: { before: value, after: '' } };
}

/** The choices that are shown while they are open. */
export function openChoices(form: FormState): readonly FieldChoice[] {
  const field = currentField(form);
  if (field === undefined) return [];
  const all = choicesOf(field);
  if (form.picking?.isFiltered !== true) return all;
  const typed = textOf(form, field).toLowerCase();
  const starts = (text: string): boolean => text.toLowerCase().startsWith(typed);
  const fitting = all.filter(({ value, label }) => starts(value) || starts(label));
  return fitting.length > 0
    ? fitting
    : all.filter(({ label }) => label.toLowerCase().includes(typed));
}

/** What speaks against the value of a field; undefined when nothing does. */
export function problemOf(form: FormState, field: FormField): string | undefined {
  if (field.isReadOnly) return undefined;
  const text = textOf(form, field);
  if (text !== '') return isChanged(form, field) ? checkText(field, text) : undefined;
  const isLeftOut = form.action === 'add' ? field.fallback === '' : isChanged(form, field);
  return field.isRequired && isLeftOut ? 'required' : undefined;
}

/** Whether a value is to be sent that speaks against itself; what is only missing is no value. */
export function hasWrongValue(form: FormState): boolean {
  return form.fields.some((field) => ![undefined, 'required'].includes(problemOf(form, field)));
}

/** The index of the first field that something speaks against, or -1. */
export function firstProblem(form: FormState): number {
  return form.fields.findIndex((field) => problemOf(form, field) !== undefined);
}

export function hasChanges(form: FormState): boolean {
  return form.fields.some((field) => isChanged(form, field));
}
