import { type Run, sentTime, type StepState } from './journal.ts';
import { isStopped } from './plan.ts';
import { type About, isAbout, isGood, type StepResult } from './verdict.ts';

/**
 * A run and the runs that continue it, as one run. Where a later one takes a step over, its result counts, or what its
 * reading shows of a request that was sent before.
 *
 * @param later the oldest first; runs that do not continue it are ignored
 */
export function withContinued(run: Run, later: readonly Run[]): Run {
  return later.filter(({ plan }) => plan.of?.run === run.run).reduce(continuedBy, run);
}

function continuedBy(run: Run, next: Run): Run {
  const states = new Map(run.states);
  const devices = new Map(run.plan.devices.map((plan) => [plan.device.name, plan]));
  for (const plan of next.plan.devices) {
    const { name } = plan.device;
    const { steps: known = [], settled: before = [] } = devices.get(name) ?? {};
    const isLeft = (one: About): boolean =>
      plan.takesOver?.some((about) => isAbout(one, about)) !== true;
    const ended: StepResult[] = [];
    const kept = known.flatMap((step, index) => {
      const state: StepState = states.get(name)?.[index] ?? { kind: 'waiting' };
      const isGone = state.kind !== 'ended' || !isGood(state.result);
      if (isLeft(step) || !isGone) return [{ step, state }];
      const result = plan.settled.find((one) => isAbout(one, step) && !isStopped(one));
      if (result === undefined || state.kind === 'waiting') return [];
      ended.push(result);
      return [
        { step, state: { kind: 'ended' as const, at: next.at, sentAt: sentTime(state), result } },
      ];
    });
    const settled = [
      ...before.filter(isLeft),
      ...plan.settled.filter((result) => !ended.includes(result)),
    ];
    states.set(name, [...kept.map(({ state }) => state), ...(next.states.get(name) ?? [])]);
    devices.set(name, {
      ...plan,
      settled,
      steps: [...kept.map(({ step }) => step), ...plan.steps],
    });
  }
  const { stopReason, endedAt, reason, drops = [] } = next;
  return {
    ...run,
    ...{ states, stopReason, endedAt, reason: reason ?? run.reason },
    drops: [...(run.drops ?? []), ...drops],
    plan: { ...run.plan, devices: [...devices.values()] },
  };
}
