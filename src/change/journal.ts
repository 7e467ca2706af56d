import { jsonText, type JsonValue } from '../device/json-text.ts';
import { JsonFailure, parseJson } from '../device/json.ts';
import { isMaskedRequest } from '../device/encode.ts';
import { DevshError, SettingsError } from '../errors.ts';
import type { DevicePlan, Plan, PlanPart, Step } from './plan.ts';
import { devicePlanData, resultData, stepData } from './plan-data.ts';
import { isJournalEntry } from './shape.ts';
import type { StepResult } from './verdict.ts';

/** The format of a journal, in its first line. */
export const JOURNAL_SCHEMA = 'devsh-journal/1';

/** Who began a run, when, with which line. No secret is in it. */
export interface RunHead {
  readonly run: string;
  /** ISO 8601. */
  readonly at: string;
  readonly command: string;
  /** `user@machine` */
  readonly by: string;
  readonly version: string;
}

/** The first line of a journal. */
export interface JournalHead extends RunHead {
  readonly part?: PlanPart;
}

/** Which step of a plan: the device's name and the place among its steps, from 0. */
export interface StepRef {
  readonly device: string;
  readonly index: number;
}

/** One line of a journal. `send` is on disk before the request leaves. */
export type JournalEntry =
  | ({ readonly kind: 'run' } & JournalHead)
  | { readonly kind: 'device'; readonly plan: DevicePlan }
  | { readonly kind: 'planned' }
  | {
      readonly kind: 'send';
      readonly ref: StepRef;
      readonly at: string;
      /** As it was sent, where its record was named otherwise than in the plan. */
      readonly step?: Step;
    }
  | {
      readonly kind: 'verdict';
      readonly ref: StepRef;
      readonly at: string;
      readonly result: StepResult;
    }
  | { readonly kind: 'stop'; readonly at: string; readonly reason: string }
  | { readonly kind: 'resume'; readonly at: string; readonly by: string }
  | { readonly kind: 'end'; readonly at: string };

/** How far a step has come. `sent` without a verdict is in doubt: only reading tells. */
export type StepState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sent'; readonly at: string }
  | { readonly kind: 'ended'; readonly at: string; readonly result: StepResult };

/** A run as its journal tells it. */
export interface Run extends RunHead {
  readonly plan: Plan;
  /** The whole plan is in the journal; without it nothing was sent. */
  readonly isPlanned: boolean;
  readonly states: ReadonlyMap<string, readonly StepState[]>;
  /** Why it stopped early, the last time. */
  readonly stopReason: string | undefined;
  readonly endedAt: string | undefined;
}

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

/** The line for an entry, with its line break. Secrets are masked, numbers exact. */
export function journalLine(entry: JournalEntry): string {
  return `${jsonText(entryData(entry))}\n`;
}

/** Whether a step as journaled lacks a secret that its request needs. */
export function lacksSecret(step: Step): boolean {
  return isMaskedRequest(step.request);
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
    throw new SettingsError(`${file}: this journal is empty: nothing was sent in its run`);
  }
  return runOf(
    lines.map((line, index) => entryOf(line, `${file}:${index + 1}`)),
    file,
  );
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
  const { run, at, command, by, version, part } = head;
  const plan: Plan = { run, devices, ...(part && { part }) };
  return { run, at, command, by, version, plan, isPlanned, states, stopReason, endedAt };
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

function entryData(entry: JournalEntry): JsonValue {
  switch (entry.kind) {
    case 'run':
      return {
        schema: JOURNAL_SCHEMA,
        ...entry,
        part: entry.part && { ...entry.part, shard: { ...entry.part.shard } },
      };
    case 'device':
      return { kind: 'device', plan: devicePlanData(entry.plan) };
    case 'verdict':
      return { ...entry, ref: { ...entry.ref }, result: resultData(entry.result) };
    case 'send':
      return { ...entry, ref: { ...entry.ref }, step: entry.step && stepData(entry.step) };
    case 'planned':
    case 'stop':
    case 'resume':
    case 'end':
      return { ...entry };
  }
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
