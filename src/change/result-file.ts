import { isGood, resultFor } from './verdict.ts';
import { type DeviceRef, grouped } from '../device/record.ts';
import { RefusedError } from '../errors.ts';
import type { Note } from '../output/sentences.ts';
import { namesOf, pendingIn, traceOf } from './pending.ts';
import { type JournalEntry, portableLine, type Run, type StepState } from './journal.ts';
import { type DevicePlan, type PlanPart, shardText, type StoredDevice } from './plan.ts';
import { type PlanFile, sealed, unsealed, wishedChanges } from './plan-file.ts';
import { readEntries } from './read-journal.ts';
import { runOf } from './journaled-run.ts';
import { withContinued } from './continued-run.ts';

/** The result of one shard, to be merged with the others on another machine. */
export interface ResultFile {
  readonly file: string;
  /** Without an end, devsh still runs or was killed: it may have sent steps that have no verdict. */
  readonly run: Run;
  readonly part: PlanPart;
  /** The entries of the first run and of each run that continues it; `runs` are made of them. */
  readonly parts: readonly (readonly JournalEntry[])[];
  readonly runs: readonly Run[];
}

/** The result of a run, from its journal; `endedAt` is absent if the run is about to start. */
export function resultText(journal: string, endedAt?: string): string {
  const whole = journal.slice(0, journal.lastIndexOf('\n') + 1);
  const entries = readEntries(whole, 'journal');
  const end: JournalEntry[] = endedAt === undefined ? [] : [{ kind: 'end', at: endedAt }];
  return sealed([...entries, ...end].map(portableLine).join(''));
}

/** Reads a result file. Throws a `RefusedError` if it was cut, damaged or is none. */
export function readResult(text: string, file: string): ResultFile {
  const parts = partsOf(unsealed(text, file));
  const [[head] = []] = parts;
  if (head?.kind !== 'run' || head.part === undefined) {
    throw new RefusedError({ code: 'bad-run-file', is: 'no-result', file });
  }
  const runs = parts.map((entries) => {
    const run = runOf(entries, file);
    const sent: StepState = { kind: 'sent', at: run.at };
    const states = [...run.states].map(([device, steps]): [string, readonly StepState[]] => [
      device,
      run.endedAt === undefined ? steps.map((one) => (one.kind === 'waiting' ? sent : one)) : steps,
    ]);
    return { ...run, states: new Map(states) };
  });
  const [first, ...later] = runs;
  if (first === undefined) throw new Error('no run');
  return { file, run: withContinued(first, later), part: head.part, parts, runs };
}

/** The journals in a file: a run, and those that continue it. */
function partsOf(entries: readonly JournalEntry[]): readonly (readonly JournalEntry[])[] {
  const starts = entries.flatMap(({ kind }, index) => (kind === 'run' ? index : []));
  return starts.map((start, index) => entries.slice(start, starts[index + 1]));
}

/** The journals for `resume` on another machine, by run. The file is an input: its purposes and answers are dropped. */
export function adoptedJournals({ parts, runs }: ResultFile, part: PlanPart): Map<string, string> {
  const plain = <Plan extends DevicePlan>({ changes, ...plan }: Plan) => ({
    ...plan,
    steps: plan.steps.map((step) => ({ ...step, purpose: undefined })),
    changes: changes && wishedChanges(changes),
  });
  const journals = runs.map((run, index): [string, string] => {
    const kept = (parts[index] ?? []).flatMap((entry): JournalEntry | [] => {
      if (entry.kind === 'run') return { ...entry, part };
      if (entry.kind === 'device' || entry.kind === 'replan') {
        return { ...entry, plan: plain(entry.plan) };
      }
      if (entry.kind === 'send' && entry.step) {
        return { ...entry, step: { ...entry.step, purpose: undefined } };
      }
      return entry.kind === 'seal' ? [] : entry;
    });
    const inDoubt = [...run.states].flatMap(([device, states]) =>
      states.flatMap((state, at): JournalEntry | [] =>
        state.kind === 'sent' ? { kind: 'send', ref: { device, index: at }, at: state.at } : [],
      ),
    );
    return [run.run, [...kept, ...inDoubt].map(portableLine).join('')];
  });
  return new Map(journals);
}

export interface Merged {
  readonly run: Run;
  readonly missing: readonly DeviceRef[];
  /** Notes for the user: which attempt counts, which shard stopped or did not end. */
  readonly remarks: readonly Note[];
}

interface Reported {
  readonly from: ResultFile;
  /** The plan that its run made when it applied the plan file. */
  readonly plan: DevicePlan;
  readonly states: readonly StepState[];
}

type Reviewed = Pick<PlanFile, 'run' | 'command' | 'reason' | 'devices' | 'digest'>;

/**
 * Merges the results of shards, with each device of the plans exactly once. Of two attempts the later
 * counts, unless the earlier one completed the device. Throws a `RefusedError` for a file of another plan,
 * and for a device that two runs applied or two plans have.
 */
export function mergeResults(plans: readonly Reviewed[], files: readonly ResultFile[]): Merged {
  const devices = plans.flatMap((plan) => plan.devices);
  const digests = new Set(plans.map(({ digest }) => digest));
  const planned = new Set(devices.map(({ device }) => idOf(device)));
  if (planned.size < devices.length) {
    throw new RefusedError({ code: 'bad-run-file', is: 'shared-device' });
  }
  const reported = new Map<string, Reported>();
  const superseded: { readonly file: string; readonly other: string }[] = [];
  for (const from of files.toSorted(byTime)) {
    const { file } = from;
    if (!digests.has(from.part.digest)) {
      throw new RefusedError({ code: 'bad-run-file', is: 'other-plan', file });
    }
    for (const plan of from.run.plan.devices) {
      const { device } = plan;
      if (!planned.has(idOf(device))) {
        const { name } = device;
        throw new RefusedError({ code: 'bad-run-file', is: 'other-devices', file, name });
      }
      const later = { from, plan, states: from.run.states.get(device.name) ?? [] };
      const earlier = reported.get(idOf(device));
      const kept = earlier === undefined ? later : choose(earlier, later, device);
      reported.set(idOf(device), kept);
      const lost = kept === later ? earlier : later;
      if (lost !== undefined && lost.from.run.run !== kept.from.run.run) {
        superseded.push({ file: kept.from.file, other: lost.from.file });
      }
    }
  }
  const used = new Set([...reported.values()].map(({ from }) => from));
  return {
    run: mergedRun(plans, reported, files),
    missing: devices.map(({ device }) => device).filter((device) => !reported.has(idOf(device))),
    remarks: [
      ...[...grouped(superseded, ({ file, other }) => `${file}\n${other}`).values()].map(
        (some): Note => ({ code: 'unfinished', is: 'superseded', ...some[0], count: some.length }),
      ),
      ...[...used].flatMap(remarksOn),
    ],
  };
}

/** Identifies a device by name and address: after a move it is another one. */
function idOf({ name, address }: DeviceRef): string {
  return `${name}\n${address}`;
}

/** Sorts the earlier attempt first, and of a resumed run the latest file last. */
function byTime(a: ResultFile, b: ResultFile): number {
  const timeOf = ({ run }: ResultFile): string => [run.at, run.run, run.endedAt ?? ''].join(' ');
  return timeOf(a) < timeOf(b) ? -1 : 1;
}

/** Chooses the attempt at a device that counts. A resumed run is one attempt. */
function choose(earlier: Reported, later: Reported, device: DeviceRef): Reported {
  if (earlier.from.run.run === later.from.run.run) return later;
  const isDone = earlier.states.every((state) => state.kind === 'ended' && isGood(state.result));
  if (!isDone) return later;
  if (later.states.every(({ kind }) => kind === 'waiting')) return earlier;
  const [file, other] = [earlier.from.file, later.from.file];
  throw new RefusedError({ code: 'bad-run-file', is: 'both', file, other, device: device.name });
}

function remarksOn({ file, run, part }: ResultFile): Note[] {
  const shard = shardText(part.shard);
  const about = { code: 'unfinished', shard, file, run: run.run, by: run.by } as const;
  if (run.endedAt === undefined) return [{ ...about, is: 'open-shard' }];
  const { stopReason: reason } = run;
  const devices = namesOf(pendingIn(traceOf(run)));
  return [
    ...(reason === undefined ? [] : [{ ...about, is: 'stopped-shard', reason } as const]),
    ...(devices.length === 0 ? [] : [{ ...about, is: 'left-by-shard', devices } as const]),
  ];
}

function mergedRun(
  plans: readonly Reviewed[],
  reported: ReadonlyMap<string, Reported>,
  files: readonly ResultFile[],
): Run {
  const runs = files.map((file) => file.run);
  const devices = plans.flatMap((plan) => plan.devices);
  const unique = (texts: readonly string[]): string => [...new Set(texts)].toSorted().join(', ');
  const at = runs.map((one) => one.at).toSorted()[0] ?? '';
  const ends = runs.flatMap(({ endedAt }) => endedAt ?? []).toSorted();
  const stops = runs.flatMap(({ stopReason }) => stopReason ?? []);
  const parts = devices.map((device) => partOf(device, reported.get(idOf(device.device))));
  const run = unique(plans.map((plan) => plan.run));
  return {
    run,
    at,
    command: unique(plans.map(({ command }) => command)),
    reason: unique([...runs, ...plans].flatMap((one) => one.reason ?? [])) || undefined,
    by: unique(runs.map(({ by }) => by)),
    version: unique(runs.map(({ version }) => version)),
    plan: { run, devices: parts.map(({ plan }) => plan) },
    isPlanned: true,
    states: new Map(parts.map(({ plan, states }) => [plan.device.name, states])),
    stopReason: stops.length === 0 ? undefined : unique(stops),
    endedAt: ends.length === runs.length ? ends.at(-1) : undefined,
  };
}

/** A device without a report has an unknown outcome. */
function partOf(
  stored: StoredDevice,
  reported: Reported | undefined,
): Pick<Reported, 'plan' | 'states'> {
  if (reported?.from.run.endedAt !== undefined) return reported;
  const { device, steps } = reported?.plan ?? stored;
  const is = reported === undefined ? 'unreported' : 'in-open-shard';
  const end = { verdict: 'unknown', notes: [{ code: 'unfinished', is }] } as const;
  const results = steps.map((step) => resultFor(device, step, end));
  if (reported === undefined) {
    return { plan: { ...stored, steps: [], settled: [...stored.settled, ...results] }, states: [] };
  }
  const endedAt = reported.from.run.at;
  const states = results.map((result): StepState => ({ kind: 'ended', at: endedAt, result }));
  return { plan: reported.plan, states };
}
