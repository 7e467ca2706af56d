import { type Run, sentTime, type StepState } from './journal.ts';
import { type DeviceRef, frequencies } from '../device/record.ts';
import { notCoveredBy, unplannedResults } from './plan.ts';
import { resultFor, type StepResult, type Verdict } from './verdict.ts';
import type { Step } from './step.ts';
import { causeText } from '../fleet/failure-cause.ts';

/** `step` is set if a request was planned. */
export interface StepOutcome {
  readonly result: StepResult;
  readonly step?: Step;
  readonly state?: StepState;
}

const WAITING: StepState = { kind: 'waiting' };

export function outcomesOf(run: Run): readonly StepOutcome[] {
  return run.plan.devices.flatMap((plan) => {
    const { device, steps, settled, raw } = plan;
    const unsent = [
      ...settled,
      ...(raw === undefined ? [] : [resultOfRaw(device, raw)]),
      ...unplannedResults(plan),
    ];
    const states = run.states.get(device.name);
    return [
      ...unsent.map((result) => ({ result })),
      ...steps.map((step, index) => {
        const state = states?.[index] ?? WAITING;
        return { result: resultOfStep(device, step, state), step, state };
      }),
    ];
  });
}

/** The device may have answered, but no answer says what the request did. */
function resultOfRaw(device: DeviceRef, raw: string): StepResult {
  const about = { resource: raw, key: '', action: 'set' } as const;
  return { device, ...about, verdict: 'unknown', notes: [{ code: 'unfinished', is: 'raw' }] };
}

/** One result for each step: its verdict, or that it was not reached or is unconfirmed. */
export function resultsOf(run: Run): readonly StepResult[] {
  return outcomesOf(run).map(({ result }) => result);
}

function resultOfStep(device: DeviceRef, step: Step, state: StepState): StepResult {
  if (state.kind === 'ended') return state.result;
  const [verdict, is] =
    state.kind === 'sent' ? (['unknown', 'sent'] as const) : (['skipped', 'waiting'] as const);
  return resultFor(device, step, { verdict, notes: [{ code: 'unfinished', is }] });
}

export function countsOf(results: readonly StepResult[]): Partial<Record<Verdict, number>> {
  return Object.fromEntries(frequencies(results.map(({ verdict }) => verdict)));
}

/** `12 done`, `1 not reached`. */
export function outcomeTexts(run: Run): readonly string[] {
  const absent = new Map(
    notCoveredBy(run.plan).map(({ device, error }) => [device.address, causeText(error)]),
  );
  const words = resultsOf(run).map(({ verdict, device: { address } }) =>
    verdict === 'failed' ? (absent.get(address) ?? verdict) : verdict,
  );
  return [...frequencies(words)].map(([word, count]) => `${count} ${word}`);
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
  // `resume` continues steps that were not reached or are unconfirmed.
  const isLeft = ({ state, result: { verdict } }: StepOutcome): boolean =>
    state !== undefined && (verdict === 'unknown' || state.kind !== 'ended');
  return run.endedAt === undefined || outcomesOf(run).some(isLeft) ? 'unfinished' : 'ended';
}
