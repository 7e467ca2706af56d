import type { DevshError } from '../../errors.ts';

/** One thing that `doctor` looked at. Nothing in it is secret: it is fit for a bug report. */
export interface Finding {
  /** `machine`, `files`, `credentials`, or the name of a device. */
  readonly area: string;
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not used';
  readonly detail: string;
  /** Why it failed: decides the exit status. */
  readonly error?: DevshError;
}
