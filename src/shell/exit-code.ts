import type { StepResult, Verdict } from '../change/verdict.ts';
import type { DevshError } from '../errors.ts';
import type { Output } from './output.ts';

const FAILED = 1;
const PARTIAL = 3;
const DRIFT = 7;
const DIFFERENCES = 8;

/** Absent: does not count, unless nothing else was said. */
const CODES: Readonly<Record<Verdict, number | undefined>> = {
  done: 0,
  unchanged: 0,
  'no effect': FAILED,
  differs: FAILED,
  failed: FAILED,
  drift: DRIFT,
  unknown: PARTIAL,
  skipped: undefined,
};

/**
 * The exit status of one command, from all that it said. Everything well: 0. Some well and some not,
 * or something unknown: 3. Drift, and nothing done or failed beside it: 7. Nothing well: the code that all failures share, otherwise 1. A comparison of all devices that found differences: 8. An error that
 * ended the command decides alone.
 */
export class ExitCode {
  readonly #codes = new Set<number>();
  #hasSkipped = false;
  #hasDone = false;
  #hasResults = false;
  #hasSteps = false;
  #hasDifferences = false;
  #ended: DevshError | undefined;

  add(output: Output): void {
    switch (output.kind) {
      case 'read':
        this.#codes.add(output.outcome.ok ? 0 : output.outcome.error.exitCode);
        break;
      case 'drift':
        this.#codes.add(0);
        if (output.drift.rows.some(({ isSame }) => !isSame)) this.#hasDifferences = true;
        break;
      case 'result':
        if (output.isPast === true) break;
        this.#hasResults = true;
        this.#addResult(output.result);
        break;
      case 'plan':
        for (const { steps, settled, error } of output.plan.devices) {
          if (steps.length > 0) this.#hasSteps = true;
          for (const result of settled) this.#addResult(result);
          if (error) this.#codes.add(error.exitCode);
        }
        break;
      case 'error':
        this.#codes.add(output.error.exitCode);
        break;
      case 'answer':
        this.#codes.add(statusCode(output.status));
        break;
      case 'table':
        if (output.hasSuccess === true) this.#codes.add(0);
        break;
      case 'progress':
      case 'change':
      case 'summary':
      case 'text':
      case 'message':
      case 'checkpoint':
      case 'quit':
        break;
    }
  }

  /** The command ended early. */
  addError(error: DevshError): void {
    this.#ended = error;
  }

  get value(): number {
    if (this.#ended) return this.#ended.exitCode;
    const codes = new Set(this.#codes);
    // A plan that nothing followed is well as far as it could be made.
    if (this.#hasSteps && !this.#hasResults) codes.add(0);
    const [only] = codes;
    if (only === undefined) return this.#hasSkipped ? FAILED : 0;
    // What was not reached makes a success a part of one.
    if (codes.size === 1) {
      if (only === 0 && this.#hasDifferences) return DIFFERENCES;
      return only === 0 && this.#hasSkipped ? PARTIAL : only;
    }
    const isDriftAlone = codes.size === 2 && codes.has(0) && codes.has(DRIFT) && !this.#hasDone;
    if (isDriftAlone) return DRIFT;
    return codes.has(0) || codes.has(PARTIAL) ? PARTIAL : FAILED;
  }

  #addResult({ verdict, error }: StepResult): void {
    const code = CODES[verdict];
    if (verdict === 'done') this.#hasDone = true;
    if (code === undefined) this.#hasSkipped = true;
    else this.#codes.add(code === FAILED ? (error?.exitCode ?? FAILED) : code);
  }
}

/** As the errors of a device: 4 for what the account may not do. */
function statusCode(status: number): number {
  if (status < 400) return 0;
  return status === 401 || status === 403 ? 4 : FAILED;
}
