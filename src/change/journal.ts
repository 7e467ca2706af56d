import { isMaskedRequest, maskedRequest, type WriteRequest } from '../device/encode.ts';
import { type DeviceRecord, isList, jsonText, type JsonValue } from '../device/record.ts';
import { maskedRecord } from '../device/sensitive-fields.ts';
import { DevshError } from '../errors.ts';
import type { Change } from './change.ts';
import { maskedDifference } from './compare.ts';
import type { DevicePlan, Plan, PlanPart, Step } from './plan.ts';
import type { Difference, StepResult } from './verdict.ts';

/**
 * One format for all that is kept of a run, JSON Lines. A plan file is the opening of a journal, to be
 * applied later, and a seal; a journal is the opening and what happened since; the result of a part of
 * a plan is the journal of its run and a seal.
 */
export const RUN_SCHEMA = 'devsh-run/2';

/** Who began a run, when, with which line. No secret is in it. */
export interface RunHead {
  readonly run: string;
  /** ISO 8601. */
  readonly at: string;
  readonly command: string;
  /** `user@machine` */
  readonly by: string;
  /** In which terminal; absent in older journals and in those of programs. */
  readonly session?: string | undefined;
  readonly version: string;
}

/** The first line of a journal. */
export interface JournalHead extends RunHead {
  readonly part?: PlanPart | undefined;
}

/** The first line of a plan file. */
export interface PlanHead extends RunHead {
  readonly expiresAt: string;
  /** What was wanted, for `--replan`. */
  readonly changes: readonly Change[];
}

/** Which step of a plan: the device's name and the place among its steps, from 0. */
export interface StepRef {
  readonly device: string;
  readonly index: number;
}

/** One line. `send` is on disk before the request leaves. */
export type JournalEntry =
  | ({ readonly kind: 'run' } & JournalHead)
  | ({ readonly kind: 'plan' } & PlanHead)
  | { readonly kind: 'device'; readonly plan: DevicePlan }
  | { readonly kind: 'planned' }
  | {
      readonly kind: 'send';
      readonly ref: StepRef;
      readonly at: string;
      /** As it was sent, where its record was named otherwise than in the plan. */
      readonly step?: Step | undefined;
    }
  | {
      readonly kind: 'verdict';
      readonly ref: StepRef;
      readonly at: string;
      readonly result: StepResult;
    }
  | { readonly kind: 'stop'; readonly at: string; readonly reason: string }
  | { readonly kind: 'resume'; readonly at: string; readonly by: string }
  | { readonly kind: 'end'; readonly at: string }
  /** The last line of what is carried to other machines: of all lines above. */
  | { readonly kind: 'seal'; readonly sha256: string };

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

/** The line for an entry, with its line break. Secrets are masked, numbers exact. */
export function journalLine(entry: JournalEntry): string {
  const isHead = entry.kind === 'run' || entry.kind === 'plan';
  return `${jsonText(written(isHead ? { schema: RUN_SCHEMA, ...entry } : entry))}\n`;
}

/** Whether a step as journaled lacks a secret that its request needs. */
export function lacksSecret(step: Step): boolean {
  return isMaskedRequest(step.request);
}

/** What an entry has under these names, at any depth, are records or lists of them. */
const RECORDS = ['after', 'asked', 'before', 'expected', 'fields', 'gone', 'lost', 'record'];

/** Any part of an entry as plain data, secrets masked. */
function written(part: unknown, name = ''): JsonValue {
  if (typeof part !== 'object' || part === null) return part as JsonValue;
  if (isList(part)) return part.map((one) => written(one, name));
  if (part instanceof DevshError) {
    const { code, exitCode, message } = part;
    return { code, exitCode, message };
  }
  if (RECORDS.includes(name)) return maskedRecord(part as DeviceRecord);
  if (name === 'differences') return maskedDifference(part as Difference);
  if (name === 'request') return { ...maskedRequest(part as WriteRequest) };
  return Object.fromEntries(
    Object.entries(part).map(([field, value]) => [field, written(value, field)]),
  );
}

/** What has to be on disk before a request leaves, and when its verdict is known. */
export interface ApplyJournal {
  /** @param step as it is sent, where its record is named otherwise than in the plan */
  sending(ref: StepRef, step?: Step): Promise<void>;
  ended(ref: StepRef, result: StepResult): Promise<void>;
  stopped(reason: string): Promise<void>;
}

/** A step that has no verdict yet. */
export interface PendingStep {
  readonly step: Step;
  readonly ref: StepRef;
  /** It was sent before an interruption: only reading tells what became of it. */
  readonly isInDoubt: boolean;
}

/** An open journal: lines that are appended are on the disk when the promise resolves. */
interface JournalFile {
  append(lines: string): Promise<void>;
}

/** The first lines: who began the run or made the plan, and the whole plan. */
export function openingLines(
  head: JournalEntry & { readonly kind: 'run' | 'plan' },
  devices: readonly DevicePlan[],
): string {
  return [
    journalLine(head),
    ...devices.map((plan) => journalLine({ kind: 'device', plan })),
    journalLine({ kind: 'planned' }),
  ].join('');
}

/** Writes down what happens to each step, with the time. */
export function journalIn(file: JournalFile, clock: () => Date): ApplyJournal {
  const at = (): string => clock().toISOString();
  return {
    sending: (ref, step) => file.append(journalLine({ kind: 'send', ref, at: at(), step })),
    ended: (ref, result) => file.append(journalLine({ kind: 'verdict', ref, at: at(), result })),
    stopped: (reason) => file.append(journalLine({ kind: 'stop', at: at(), reason })),
  };
}
