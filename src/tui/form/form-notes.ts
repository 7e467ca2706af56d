import { type FormField, isOn } from '../../shell/records/form-fields.ts';
import { cut } from '../../text/width.ts';
import { visible } from '../../text/visible.ts';
import type { Span } from '../screen/bar-lines.ts';
import { choicesOf, isChanged, problemOf, textOf, type FormState } from './form-state.ts';
import { generalRefusals, refusalsOf } from './reduce-form.ts';

/** A note takes three lines at most, and is not to be measured any longer. */
const LONGEST_WAS = 400;

const ORIGINS: Readonly<Record<FormField['origin'], string>> = {
  observed: 'fields as the device tells them',
  documented: 'fields of the API document',
  configured: 'fields of the profile',
  assumed: 'fields by convention',
  seen: 'fields seen in records',
};

/** A value as people read it: a boolean is yes or no, however the device spells it. */
export function inWords(field: FormField, text: string): string {
  const value = isOn(field, text);
  return value === undefined ? text : value ? 'yes' : 'no';
}

/** Where most of a form's fields are known from. */
export function originText({ fields }: FormState): string {
  const counts = new Map<FormField['origin'], number>();
  for (const { origin } of fields) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most === undefined ? 'no field is known' : ORIGINS[most[0]];
}

/** What stands beside a field: what a device said of it, what is wrong, or what may be typed. */
export function noteOf(form: FormState, field: FormField, isCurrent: boolean): Span {
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
    ...(isUntouched && isSecret && form.action === 'set' ? ['empty: left as it is'] : []),
    ...(type === 'integer' ? ['whole number'] : []),
    ...nestedText(field),
    ...rangeText(min, max),
    ...(maxLength !== undefined && count === 0 ? [`up to ${maxLength} characters`] : []),
    ...(isChanged(form, field) && form.action === 'set' && !isSecret ? [wasText(field)] : []),
    ...(origin === 'seen' ? ['seen in records'] : []),
  ];
}

/** What it was before; of a text that fills many screens only the beginning. */
function wasText(field: FormField): string {
  return `was ${cut(visible(inWords(field, field.value.slice(0, LONGEST_WAS))), LONGEST_WAS) || 'empty'}`;
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

/** What stands beside the command; `undefined` when nothing is to be said of it. */
export function commandNote(form: FormState, isEmpty: boolean): Span | undefined {
  const general = generalRefusals(form);
  if (general.length > 0) return { tone: 'bad', text: `✗ ${visible(general.join('; '))}` };
  const count = form.fields.filter((field) => problemOf(form, field) !== undefined).length;
  if (isEmpty) {
    const text = form.action === 'add' ? 'nothing is typed yet' : 'nothing is changed yet';
    return { tone: form.isWarned ? 'bad' : 'quiet', text };
  }
  if (count === 0 || !form.isWarned) return undefined;
  const what = count === 1 ? '1 field needs a look' : `${count} fields need a look`;
  return { tone: 'bad', text: `✗ ${what}; ctrl-s runs it all the same` };
}
