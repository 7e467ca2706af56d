import { DeviceError, type FieldIssues } from '../device/errors.ts';
import type { DeviceRef } from '../device/record.ts';
import { SettingsError } from '../errors.ts';

/** Why a step makes no sense on a device as it is. */
export type Impossibility = 'not-found' | 'ambiguous' | 'taken' | 'invalid';

/** The step makes no sense on this device as it is: no such record, more than one, a value it refuses. */
export class NotPossibleError extends DeviceError {
  override readonly code: Impossibility;
  /** What speaks against single fields. */
  readonly issues: FieldIssues;

  constructor(device: DeviceRef, code: Impossibility, message: string, issues: FieldIssues = {}) {
    super(device, message);
    this.code = code;
    this.issues = issues;
  }
}

/** The journal ends before its first line does: the run had sent nothing yet. */
export class EmptyJournalError extends SettingsError {}
