import { SettingsError } from '../errors.ts';
import {
  type Drop,
  type JournalEntry,
  OLDER_RUN_SCHEMAS,
  type Run,
  sentTime,
  type StepRef,
  type StepState,
} from './journal.ts';
import { type DevicePlan, isStopped, type Plan } from './plan.ts';

type HeadEntry = JournalEntry & { readonly kind: 'run' };

/** Makes a run from the entries of its journal. Throws a `SettingsError` if they belong to no run, or to two. */
export function runOf([first, ...entries]: readonly JournalEntry[], file: string): Run {
  const head = headOf(first, file);
  const devices = new Map<string, DevicePlan>();
  const states = new Map<string, StepState[]>();
  const setState = ({ device, index }: StepRef, state: StepState): void => {
    const steps = states.get(device);
    if (steps?.[index] !== undefined) steps[index] = state;
  };
  let isPlanned = false;
  let stopReason: string | undefined;
  let endedAt: string | undefined;
  const drops: Drop[] = [];
  let { reason } = head;
  for (const entry of entries) {
    switch (entry.kind) {
      case 'device': {
        const { plan } = entry;
        // A device that was planned later keeps its place.
        devices.set(plan.device.name, plan);
        states.set(
          plan.device.name,
          plan.steps.map((): StepState => ({ kind: 'waiting' })),
        );
        break;
      }
      case 'planned':
        isPlanned = true;
        break;
      case 'replan': {
        const { name } = entry.plan.device;
        devices.set(name, mergedPlan(devices.get(name), entry));
        states.set(name, waitingAgain(states.get(name) ?? [], entry.at));
        break;
      }
      case 'send': {
        const { ref, at, step } = entry;
        setState(ref, { kind: 'sent', at });
        const plan = devices.get(ref.device);
        if (step !== undefined && plan?.steps[ref.index] !== undefined) {
          devices.set(ref.device, { ...plan, steps: plan.steps.with(ref.index, step) });
        }
        break;
      }
      case 'verdict': {
        const { ref, at, result } = entry;
        // A second verdict, made by reading, may settle what the first one left open.
        const sentAt = sentTime(states.get(ref.device)?.[ref.index]);
        setState(ref, { kind: 'ended', at, sentAt, result });
        break;
      }
      case 'stop':
        stopReason = entry.reason;
        break;
      case 'resume':
        [stopReason, endedAt] = [undefined, undefined];
        reason = entry.reason ?? reason;
        break;
      case 'end':
        endedAt = entry.at;
        break;
      case 'drop':
        drops.push(entry);
        break;
      case 'seal':
        break;
      case 'run':
      case 'plan':
        throw new SettingsError({ code: 'bad-run-file', is: 'two-runs' }, { where: file });
    }
  }
  const { run, at, by, session, version, input, part, of, undoes } = head;
  const { command } = of ?? head;
  const plan: Plan = { run, devices: [...devices.values()], input, part, reason, of, undoes };
  const isOlder = 'schema' in head && head.schema === OLDER_RUN_SCHEMAS[0] ? true : undefined;
  return {
    ...{ run, at, command, reason, by, session, version },
    ...{ plan, isOlder, isPlanned, states, stopReason, endedAt, drops },
  };
}

/** The first line of a journal. Throws a `SettingsError` for any other entry. */
export function headOf(entry: JournalEntry | undefined, where: string): HeadEntry {
  if (entry?.kind === 'run') return entry;
  throw new SettingsError({ code: 'bad-run-file', is: 'no-journal' }, { where });
}

/** Replaces the error of a device, and the results that stopped it, by those of a later plan. */
function mergedPlan(
  known: DevicePlan | undefined,
  { plan, at }: JournalEntry & { readonly kind: 'replan' },
): DevicePlan {
  const steps = [...(known?.steps ?? [])];
  for (const [place, index] of at.entries()) {
    const step = plan.steps[place];
    if (step !== undefined && index <= steps.length) steps[index] = step;
  }
  const settled = known?.settled.filter((result) => !isStopped(result)) ?? [];
  // A result with an index belongs to a planned step.
  const own = plan.settled.filter((result) => !('index' in result));
  return { ...plan, steps, settled: [...settled, ...own] };
}

/** A step that may have been sent stays in doubt until it is read. */
function waitingAgain(states: readonly StepState[], at: readonly number[]): StepState[] {
  const all = [...states];
  for (const index of at) {
    const state = states[index];
    const isInDoubt =
      state?.kind === 'sent' || (state?.kind === 'ended' && state.result.verdict === 'unknown');
    all[index] = isInDoubt ? { kind: 'sent', at: state.at } : { kind: 'waiting' };
  }
  return all;
}
