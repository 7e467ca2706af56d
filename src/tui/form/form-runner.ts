import { isDeepStrictEqual } from 'node:util';
import { type DevshError, expectedError, UsageError } from '../../errors.ts';
import { isGood } from '../../change/verdict.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import {
  type FieldIssues,
  type FormField,
  formFields,
  objections,
} from '../../shell/records/form-fields.ts';
import type { LineEnd, LineRunner } from '../line-runner.ts';
import type { Store } from '../store.ts';
import {
  firstProblem,
  formId,
  type FormOpening,
  type FormState,
  hasChanges,
  hasWrongValue,
  isChanged,
  textOf,
} from './form-state.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import { lineOf, quoteAssignment, quoteWord } from '../../text/words.ts';

function fieldsOf(fleet: Fleet, { resource, records, device }: FormOpening): FormField[] {
  return formFields(fleet, resource, records, device);
}

export function showForm(fleet: Fleet, store: Store, opening: FormOpening | undefined): void {
  if (opening === undefined) return;
  store.dispatch({ kind: 'form', opening, fields: fieldsOf(fleet, opening) });
}

/** Updates an open form when more becomes known about its fields. */
export function updateFields(fleet: Fleet, store: Store): void {
  const { form } = store.state;
  if (form === undefined) return;
  const fields = fieldsOf(fleet, form);
  if (isDeepStrictEqual(fields, form.fields)) return;
  store.dispatch({ kind: 'form-fields', fields });
}

/** Runs the line of the open form; shows its problems first, once. */
export function runForm(store: Store, lines: LineRunner): void {
  store.act('take-choice');
  const { form } = store.state;
  if (form === undefined) return;
  if (!hasChanges(form) || (firstProblem(form) !== -1 && !form.isWarned)) {
    store.dispatch({ kind: 'form-warn' });
    return;
  }
  const command = formCommand(form);
  const id = formId(form);
  const onEnd: LineEnd = (results, error) => {
    const isDone = results.length > 0 && results.every(isGood);
    const refusals = { ...objections(results), ...issuesOf(error) };
    store.dispatch({ kind: 'form-end', id, command, isDone, refusals });
  };
  try {
    void lines.submit(command, { shown: formCommand(form, 'hidden'), onEnd });
  } catch (error) {
    store.logMessage('bad', `error: ${expectedError(error).message}`);
  }
}

/** The issue of an error that names a field, before anything was sent. */
function issuesOf(error: DevshError | undefined): FieldIssues {
  if (!(error instanceof UsageError) || error.field === undefined) return {};
  // The field's name is shown before the reason.
  return { [error.field]: [error.message.replace(`${error.field}: `, '')] };
}

/** The line of a form: `user set bob lang=en`. */
export function formCommand(form: FormState, secrets: 'typed' | 'hidden' = 'typed'): string {
  const assign = (field: FormField): string =>
    field.isSecret && secrets === 'hidden'
      ? `${field.name}=•••`
      : quoteAssignment(field.name, textOf(form, field));
  const { action, resource, keys, fields } = form;
  // The user has seen the warning, and runs it anyway.
  const allow = form.isWarned && hasWrongValue(form) ? '--allow invalid' : '';
  const assignments = fields.filter((field) => isChanged(form, field)).map(assign);
  const words = [...keys.map(quoteWord), ...assignments];
  return lineOf(`${resourceWords(resource)} ${action}`, words, [form.on, allow]);
}
