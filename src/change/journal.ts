import { jsonText, type JsonValue } from '../device/value-text.ts';
import { isMaskedRequest } from '../device/encode.ts';
import type { DevicePlan, Plan, PlanPart, Step } from './plan.ts';
import { devicePlanData, resultData, stepData } from './plan-data.ts';
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
  /** In which terminal; absent in older journals and in those of programs. */
  readonly session?: string;
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

/** The line for an entry, with its line break. Secrets are masked, numbers exact. */
export function journalLine(entry: JournalEntry): string {
  return `${jsonText(entryData(entry))}\n`;
}

/** Whether a step as journaled lacks a secret that its request needs. */
export function lacksSecret(step: Step): boolean {
  return isMaskedRequest(step.request);
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

/** The first lines of a journal: who began the run, and the whole plan. */
export function openingLines(head: JournalHead, devices: readonly DevicePlan[]): string {
  return [
    journalLine({ kind: 'run', ...head }),
    ...devices.map((plan) => journalLine({ kind: 'device', plan })),
    journalLine({ kind: 'planned' }),
  ].join('');
}

/** Writes down what happens to each step, with the time. */
export function journalIn(file: JournalFile, clock: () => Date): ApplyJournal {
  const at = (): string => clock().toISOString();
  return {
    sending: (ref, step) =>
      file.append(journalLine({ kind: 'send', ref, at: at(), ...(step && { step }) })),
    ended: (ref, result) => file.append(journalLine({ kind: 'verdict', ref, at: at(), result })),
    stopped: (reason) => file.append(journalLine({ kind: 'stop', at: at(), reason })),
  };
}
