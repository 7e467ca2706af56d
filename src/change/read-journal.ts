import { JsonFailure, parseJson } from '../device/json.ts';
import { DevshError, SettingsError } from '../errors.ts';
import {
  JOURNAL_SCHEMA,
  type JournalEntry,
  type Run,
  type RunHead,
  type StepRef,
  type StepState,
} from './journal.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';
import { EmptyJournalError } from './errors.ts';
import { isJournalEntry } from './shape.ts';
import type { StepResult } from './verdict.ts';

/** An error as the journal keeps it: its class is gone, its code and exit status are not. */
export class JournaledError extends DevshError {
  readonly code: string;
  override readonly exitCode: number;

  constructor(code: string, exitCode: number, message: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/**
 * Reads a journal. Half a last line (power was lost while it was written) is as if it were not there;
 * any other line that cannot be read is a SettingsError with its number.
 */
export function parseJournal(text: string, file: string): Run {
  // What has no line break is half a line: it is taken off when the run goes on.
  const lines = text.split('\n').slice(0, -1);
  if (lines.length === 0) {
    if (!isHalfHead(text)) {
      throw new SettingsError(`${file}: this journal cannot be read: it is not one of devsh`);
    }
    throw new EmptyJournalError(`${file}: this journal is empty: nothing was sent in its run`);
  }
  return runOf(
    lines.map((line, index) => entryOf(line, `${file}:${index + 1}`)),
    file,
  );
}

/** Who began a run, from the first line of its journal; undefined where it ended before that line did. */
export function parseHead(text: string, file: string): RunHead | undefined {
  const end = text.indexOf('\n');
  if (end < 0 && isHalfHead(text)) return undefined;
  const head = entryOf(text.slice(0, Math.max(end, 0)), `${file}:1`);
  if (head.kind !== 'run') throw new SettingsError(`${file}:1: this is not a journal of devsh`);
  return head;
}

/** Whether the run may have ended while its first line was being written, before anything was sent. */
function isHalfHead(text: string): boolean {
  const start = `{"schema":"${JOURNAL_SCHEMA}"`;
  return text.startsWith(start) || start.startsWith(text);
}

function entryOf(line: string, place: string): JournalEntry {
  const unreadable = `${place}: this line of the journal cannot be read`;
  let data: unknown;
  try {
    data = parseJson(line);
  } catch (error) {
    if (error instanceof JsonFailure) throw new SettingsError(unreadable, { cause: error });
    throw error;
  }
  const schema = typeof data === 'object' && data !== null && 'schema' in data && data.schema;
  if (typeof schema === 'string' && schema !== JOURNAL_SCHEMA) {
    throw new SettingsError(`${place}: written by another version of devsh (${schema})`);
  }
  if (!isJournalEntry(data)) throw new SettingsError(unreadable);
  return data as JournalEntry;
}

function runOf(entries: readonly JournalEntry[], file: string): Run {
  const [head] = entries;
  if (head?.kind !== 'run') throw new SettingsError(`${file}:1: this is not a journal of devsh`);
  const devices: DevicePlan[] = [];
  const states = new Map<string, StepState[]>();
  let isPlanned = false;
  let stopReason: string | undefined;
  let endedAt: string | undefined;
  for (const entry of entries.slice(1)) {
    switch (entry.kind) {
      case 'device': {
        const plan = revivePlan(entry.plan);
        // A device that could not be read at first was planned later.
        const place = devices.findIndex(({ device }) => device.name === plan.device.name);
        if (place < 0) devices.push(plan);
        else devices[place] = plan;
        states.set(
          plan.device.name,
          plan.steps.map(() => ({ kind: 'waiting' })),
        );
        break;
      }
      case 'planned':
        isPlanned = true;
        break;
      case 'send':
        setState(states, entry.ref, { kind: 'sent', at: entry.at });
        if (entry.step !== undefined) setStep(devices, entry.ref, entry.step);
        break;
      case 'verdict':
        setState(states, entry.ref, {
          kind: 'ended',
          at: entry.at,
          result: reviveResult(entry.result),
        });
        break;
      case 'stop':
        stopReason = entry.reason;
        break;
      case 'resume':
        [stopReason, endedAt] = [undefined, undefined];
        break;
      case 'end':
        endedAt = entry.at;
        break;
      case 'run':
        throw new SettingsError(`${file}: two runs are mixed in this journal`);
    }
  }
  const { run, at, command, by, session, version, part } = head;
  const plan: Plan = { run, devices, ...(part && { part }) };
  const began = { run, at, command, by, version, ...(session !== undefined && { session }) };
  return { ...began, plan, isPlanned, states, stopReason, endedAt };
}

function setState(states: Map<string, StepState[]>, ref: StepRef, state: StepState): void {
  const steps = states.get(ref.device);
  if (steps?.[ref.index] !== undefined) steps[ref.index] = state;
}

function setStep(devices: DevicePlan[], ref: StepRef, step: Step): void {
  const place = devices.findIndex(({ device }) => device.name === ref.device);
  const plan = devices[place];
  if (plan?.steps[ref.index] === undefined) return;
  devices[place] = { ...plan, steps: plan.steps.with(ref.index, step) };
}

/** What was read back is data of our own format; only errors have to become errors again. */
export function revivePlan(plan: DevicePlan): DevicePlan {
  const { error, ...rest } = plan;
  return {
    ...rest,
    settled: plan.settled.map(reviveResult),
    ...(error && { error: reviveError(error) }),
  };
}

/** As `revivePlan`, for one result. */
export function reviveResult(result: StepResult): StepResult {
  const { error, ...rest } = result;
  return { ...rest, ...(error && { error: reviveError(error) }) };
}

function reviveError(error: { code: string; exitCode: number; message: string }): DevshError {
  return new JournaledError(error.code, error.exitCode, error.message);
}
