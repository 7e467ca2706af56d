import { resourceWords } from '../../shell/commands/index.ts';
import { quoteAssignment, quoteWord } from '../../shell/grammar/parse.ts';
import type { FormField } from '../../shell/records/form-fields.ts';
import { hasWrongValue, isChanged, textOf, type FormState } from './form-state.ts';

/** The line that a form stands for: `user set bob lang=en`. */
export function formCommand(form: FormState): string {
  return commandWith(form, (field) => assignment(field.name, textOf(form, field)));
}

/** The same with its secrets hidden, to be shown. */
export function shownCommand(form: FormState): string {
  return commandWith(form, (field) =>
    field.isSecret ? `${field.name}=•••` : assignment(field.name, textOf(form, field)),
  );
}

function commandWith(form: FormState, assign: (field: FormField) => string): string {
  const { action, resource, key, fields } = form;
  // Who was asked, and runs it all the same, means it.
  const allow = form.isWarned && hasWrongValue(form) ? '--allow invalid' : '';
  const on = [form.on, allow].filter((word) => word !== '').join(' ');
  const assignments = fields.filter((field) => isChanged(form, field)).map(assign);
  const words = action === 'add' || key === '' ? assignments : [quoteWord(key), ...assignments];
  // Behind `--` what starts with a dash is no option, and options come before it.
  const hasDash = words.some((word) => word.startsWith('-'));
  const said = hasDash ? [on, '--', ...words] : [...words, on];
  return [resourceWords(resource), action, ...said.filter((word) => word !== '')].join(' ');
}

function assignment(field: string, value: string): string {
  return quoteWord(field) === field
    ? quoteAssignment(field, value)
    : quoteWord(`${field}=${value}`);
}
