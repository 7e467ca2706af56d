import { type Note, textOf } from './output/sentences.ts';
import { withoutPasswords } from './text/one-line.ts';

/** An expected failure: its message tells the user what to do. Any other exception is a bug. */
export abstract class DevshError extends Error {
  /** Stable identifier, printed by `--json`; never reworded. */
  abstract readonly code: string;
  /** Exit status when this error ends a one-shot command. */
  readonly exitCode: number = 1;

  /** What exactly; undefined where a sentence is still made in place. */
  readonly note: Note | undefined;

  /** @param options.where a device, or a place in a file, before the sentence; `fix` behind it */
  constructor(
    what: Note | string,
    { where, fix, ...options }: ErrorOptions & { where?: string; fix?: Note | undefined } = {},
  ) {
    const text = [where ?? [], textOf(what)].flat().join(': ');
    super(withoutPasswords(fix === undefined ? text : `${text}. ${textOf(fix)}`), options);
    this.note = typeof what === 'string' ? undefined : what;
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** The line, an option or a file that the user wrote is invalid. */
export class UsageError extends DevshError {
  readonly code = 'usage';
  override readonly exitCode = 2;
  /** The column in the line, in UTF-16 units from 0; undefined if no single word is wrong. */
  readonly column: number | undefined;
  /** What the user may have meant, best first. */
  readonly suggestions: readonly string[];
  /** The field with the invalid value; undefined if there is none. */
  readonly field: string | undefined;

  constructor(
    what: Note | string,
    options: {
      column?: number | undefined;
      suggestions?: readonly string[];
      field?: string | undefined;
      where?: string;
    } & ErrorOptions = {},
  ) {
    super(what, options);
    this.column = options.column;
    this.field = options.field;
    this.suggestions = options.suggestions ?? [];
  }
}

/** There is no usable credential, or a store of credentials is locked or absent. */
export class CredentialError extends DevshError {
  readonly code = 'credentials';
  override readonly exitCode = 4;
}

/** A run sent a new secret and has not ended: only `resume` may find out which one works. */
export class LoginInDoubtError extends CredentialError {
  readonly run: string;

  constructor(device: string, run: string) {
    super(
      `${device}: "resume ${run}" finds out which login works: that run has sent a new secret and has not ended, ` +
        'and the old one might lock the account',
    );
    this.run = run;
  }
}

/** The devices responded, and none has the requested thing. */
export class NotFoundError extends DevshError {
  readonly code = 'not-found';
}

/** devsh itself refused: no confirmation, read-only, or the own-access guard. */
export class RefusedError extends DevshError {
  readonly code = 'refused';
  override readonly exitCode = 6;
}

/** The inventory calls the device read-only. */
export class ReadOnlyError extends RefusedError {}

/** The user declined: nothing went wrong. */
export class DeclinedError extends RefusedError {}

/** A part of what was asked for could not be read. */
export class PartialError extends DevshError {
  readonly code = 'partial';
  override readonly exitCode = 3;
}

/** The device changed since the plan was made. */
export class DriftError extends DevshError {
  readonly code = 'drift';
  override readonly exitCode = 7;
}

/** One of devsh's own files cannot be read or written. The message names it; it is never overwritten. */
export class SettingsError extends DevshError {
  readonly code = 'settings';
}

/** Ends a script at a failed line, or a report of failures that were reported already. */
export class StoppedError extends DevshError {
  readonly code = 'stopped';
  override readonly exitCode: number;

  constructor(exitCode: number, message = 'this line failed; the lines after it were not run') {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Ended by the user or by a signal. */
export class CancelledError extends DevshError {
  readonly code = 'cancelled';
  override readonly exitCode: number;

  constructor(what: Note | string = 'cancelled', exitCode = 130) {
    super(what);
    this.exitCode = exitCode;
  }
}

/** What `work` returns; undefined if it throws an error of this kind. */
export function attempt<T>(
  kind: abstract new (...args: never[]) => Error,
  work: () => T,
): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof kind) return undefined;
    throw error;
  }
}

/** For `catch`: turns an expected failure into a value, and throws anything else. */
export function expectedError(error: unknown): DevshError {
  if (error instanceof DevshError) return error;
  throw error;
}

/** What `work` resolves to; undefined after an expected failure, but a cancellation is thrown. */
export async function unlessFailed<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    return undefined;
  }
}

/** Resolves to the value, or throws CancelledError when `signal` aborts: a pipe or terminal may never deliver. */
export async function unlessCancelled<T>(waiting: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return waiting;
  const over = new AbortController();
  const cancelled = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => reject(new CancelledError());
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([waiting, cancelled]);
  } finally {
    over.abort();
  }
}
