import { type Run, sentTime, type StepState } from './journal.ts';
import type { DeviceRef } from '../device/record.ts';
import type { StepResult, Verdict } from './verdict.ts';
import type { Step } from './step.ts';

/** `step` is set if a request was planned. */
export interface StepOutcome {
  readonly result: StepResult;
  readonly step?: Step;
  readonly state?: StepState;
}

const WAITING: StepState = { kind: 'waiting' };

export function outcomesOf(run: Run): readonly StepOutcome[] {
  return run.plan.devices.flatMap(({ device, steps, settled, error, raw, wanted = [] }) => [
    ...settled.map((result) => ({ result })),
    ...(raw === undefined ? [] : [{ result: resultOfRaw(device, raw) }]),
    ...(error === undefined
      ? []
      : wanted.map((one) => ({
          result: { device, ...one, verdict: 'failed' as const, error },
        }))),
    ...steps.map((step, index) => {
      const state = run.states.get(device.name)?.[index] ?? WAITING;
      const result = state.kind === 'ended' ? state.result : pendingResult(run, device.name, index);
      return { result, step, state };
    }),
  ]);
}

/** The device may have answered, but no answer says what the request did. */
function resultOfRaw(device: DeviceRef, raw: string): StepResult {
  const about = { resource: raw, key: '', action: 'set' } as const;
  return { device, ...about, verdict: 'unknown', note: 'devsh does not know what it did' };
}

/** One result for each step: its verdict, or that it was not reached or is unconfirmed. */
export function resultsOf(run: Run): readonly StepResult[] {
  return outcomesOf(run).map(({ result }) => result);
}

export function pendingResult(run: Run, name: string, index: number): StepResult {
  const plan = run.plan.devices.find(({ device }) => device.name === name);
  const step = plan?.steps[index];
  const isSent = run.states.get(name)?.[index]?.kind === 'sent';
  return {
    device: plan?.device ?? { name, address: '' },
    resource: step?.resource ?? '',
    key: step?.key ?? '',
    action: step?.action ?? 'set',
    verdict: isSent ? 'unknown' : 'skipped',
    note: isSent ? 'sent, but interrupted before it was read back' : 'not reached',
  };
}

export function countsOf(run: Run): Partial<Record<Verdict, number>> {
  const counts: Partial<Record<Verdict, number>> = {};
  for (const { verdict } of resultsOf(run)) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** Number of steps that were not reached or are unconfirmed: those that `resume` continues. */
export function stepsLeft(run: Run): number {
  if (!run.isPlanned) return 0;
  return outcomesOf(run).filter(
    ({ state, result }) =>
      state !== undefined && (result.verdict === 'unknown' || state.kind !== 'ended'),
  ).length;
}

/** The run as its journal said at a time (ISO 8601, UTC); undefined if it had not begun. */
export function runAsOf(run: Run, time: string): Run | undefined {
  if (run.at > time) return undefined;
  const states = [...run.states].map(([name, all]) => {
    return [name, all.map((state) => stateAsOf(state, time))] as const;
  });
  const drops = run.drops?.filter(({ at }) => at <= time) ?? [];
  return { ...run, states: new Map(states), drops };
}

function stateAsOf(state: StepState, time: string): StepState {
  if (state.kind === 'waiting' || state.at <= time) return state;
  const sentAt = sentTime(state);
  return sentAt !== undefined && sentAt <= time ? { kind: 'sent', at: sentAt } : WAITING;
}

export function stateText(run: Run): string {
  if (!run.isPlanned) return 'never sent';
  if (run.stopReason !== undefined) return `stopped: ${run.stopReason}`;
  return run.endedAt === undefined || stepsLeft(run) > 0 ? 'unfinished' : 'ended';
}
