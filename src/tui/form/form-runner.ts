import { isDeepStrictEqual } from 'node:util';
import { UsageError, type DevshError } from '../../errors.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { visibleLines } from '../../text/visible.ts';
import {
  formFields,
  objections,
  type FieldIssues,
  type FormField,
} from '../../shell/records/form-fields.ts';
import type { LineEnd, LineRunner } from '../line-runner.ts';
import type { Store } from '../store.ts';
import { formCommand, shownCommand } from './form-command.ts';
import { firstProblem, formId, hasChanges, type FormOpening } from './form-state.ts';

/** Fills forms with fields, and runs the lines that they stand for. */
export class FormRunner {
  readonly #fleet: Fleet;
  readonly #store: Store;
  readonly #lines: LineRunner;

  constructor(fleet: Fleet, store: Store, lines: LineRunner) {
    this.#fleet = fleet;
    this.#store = store;
    this.#lines = lines;
  }

  open(opening: FormOpening): void {
    this.#store.dispatch({ kind: 'form', opening, fields: this.#fieldsOf(opening) });
  }

  /** Devices are learned of in the background: an open form follows. */
  takeFields(): void {
    const { form } = this.#store.state;
    if (form === undefined) return;
    const fields = this.#fieldsOf(form);
    if (isDeepStrictEqual(fields, form.fields)) return;
    this.#store.dispatch({ kind: 'form-fields', fields });
  }

  /** Runs the line of the open form; what speaks against it is said first, once. */
  run(): void {
    this.#store.dispatch({ kind: 'view', action: 'take-choice' });
    const { form } = this.#store.state;
    if (form === undefined) return;
    if (!hasChanges(form) || (firstProblem(form) !== -1 && !form.isWarned)) {
      this.#store.dispatch({ kind: 'form-warn' });
      return;
    }
    const command = formCommand(form);
    const id = formId(form);
    const onEnd: LineEnd = (results, error) => {
      const isDone =
        results.length > 0 &&
        results.every(({ verdict }) => verdict === 'done' || verdict === 'unchanged');
      const refusals = { ...objections(results), ...issuesOf(error) };
      this.#store.dispatch({ kind: 'form-end', id, command, isDone, refusals });
    };
    try {
      this.#lines.submit(command, { shown: shownCommand(form), onEnd });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const text = visibleLines(`error: ${error.message}`);
      this.#store.dispatch({ kind: 'log', lines: [{ tone: 'bad', text }] });
    }
  }

  #fieldsOf({ resource, record, device }: FormOpening): FormField[] {
    return formFields(this.#fleet, resource, record, device);
  }
}

/** What was typed into a field cannot be sent: nothing was, and no device said so. */
function issuesOf(error: DevshError | undefined): FieldIssues {
  if (!(error instanceof UsageError) || error.field === undefined) return {};
  // The field stands before the reason anyway.
  return { [error.field]: [error.message.replace(`${error.field}: `, '')] };
}
