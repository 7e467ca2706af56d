import type { FieldChoice, FieldIssues, FormField } from '../../shell/records/form-fields.ts';
import { checkText } from '../../change/typed-fields.ts';
import type { FoldedRow } from '../../fleet/fold.ts';
import { EMPTY_EDITING, lineText, type Editing } from '../editor/line.ts';

export interface FormOpening {
  readonly action: 'add' | 'set';
  readonly resource: string;
  /** The keys of the records; empty for a new one, and for a record without a key. */
  readonly keys: readonly string[];
  /** `--on fw1` if the line is not for all selected devices, and `--only fw1=bob` for each key that is on fewer. */
  readonly on: string;
  /** The device whose fields are shown; undefined for the first of the selection. */
  readonly device: string | undefined;
  /** The records when the form was opened, one of each device. */
  readonly records?: readonly FoldedRow['record'][];
  /** Number of marked rows that the filter hides. */
  readonly hidden?: number;
}

/** The input of each field. Unchanged fields are absent. */
export type Draft = ReadonlyMap<string, Editing>;

export interface FormState extends FormOpening {
  readonly fields: readonly FormField[];
  readonly draft: Draft;
  /** Whether the draft is from a form that was closed. The first letter then replaces it. */
  readonly isOld: boolean;
  /** Index of the field with the cursor; after the last field it is on the command. */
  readonly cursor: number;
  /** Set while the choices are open. */
  readonly picking: Picking | undefined;
  /** Objections of devices to the last submission. */
  readonly refusals: FieldIssues;
  /** Whether the problems of the input were shown. */
  readonly isWarned: boolean;
}

interface Picking {
  readonly chosen: number;
  /** Whether only the choices are shown that match the input. */
  readonly isFiltered: boolean;
  /** In a list, the letters typed to jump to a choice. */
  readonly query?: string;
  readonly before: Editing;
}

type FormContext = 'form' | 'form-choice' | 'form-pick' | 'form-run';

/** Forms with the same id concern the same record. */
export function formId({ action, resource, keys, on }: FormOpening): string {
  return [action, resource, ...keys, on].join('\n');
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
    isOld: draft.size > 0,
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
  return choicesOf(field).length > 0 ? 'form-choice' : 'form';
}

/** Whether several of its choices may be marked. */
export function isCheckList(field: FormField): boolean {
  return field.nested?.kind === 'list' && choicesOf(field).length > 0;
}

/** The choices of a field; a list may have several of them. */
export function choicesOf(field: FormField): readonly FieldChoice[] {
  const { choices, proposals, isSecret, nested, type, spelling } = field;
  if (isSecret || nested?.kind === 'object') return [];
  if (type === 'boolean') {
    return [
      { value: spelling?.yes ?? 'true', label: 'yes' },
      { value: spelling?.no ?? 'false', label: 'no' },
    ];
  }
  return choices ?? (nested === undefined ? proposals : undefined) ?? [];
}

export function editingOf({ draft }: Pick<FormState, 'draft'>, field: FormField): Editing {
  return draft.get(field.name) ?? { ...EMPTY_EDITING, line: { before: field.value, after: '' } };
}

export function textOf(form: Pick<FormState, 'draft'>, field: FormField): string {
  return lineText(editingOf(form, field).line);
}

/** Whether the input differs from the record. */
export function isChanged(form: Pick<FormState, 'draft'>, field: FormField): boolean {
  return !field.isReadOnly && textOf(form, field) !== field.value;
}

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

export function problemOf(form: FormState, field: FormField): string | undefined {
  if (field.isReadOnly) return undefined;
  const text = textOf(form, field);
  if (text !== '') return isChanged(form, field) ? checkText(field, text) : undefined;
  const isLeftOut = form.action === 'add' ? field.fallback === '' : isChanged(form, field);
  return field.isRequired && isLeftOut ? 'required' : undefined;
}

/** Whether an invalid value would be sent; a missing value is not sent. */
export function hasWrongValue(form: FormState): boolean {
  return form.fields.some((field) => ![undefined, 'required'].includes(problemOf(form, field)));
}

/** The index of the first field with a problem, or -1. */
export function firstProblem(form: FormState): number {
  return form.fields.findIndex((field) => problemOf(form, field) !== undefined);
}

export function hasChanges(form: FormState): boolean {
  return form.fields.some((field) => isChanged(form, field));
}
