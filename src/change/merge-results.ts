import type { DeviceRef } from '../device/record.ts';
import { RefusedError } from '../errors.ts';
import type { Run, StepState } from './journal.ts';
import type { FrozenPlan } from './plan-file.ts';
import type { DevicePlan } from './plan.ts';
import type { ResultFile } from './result-file.ts';
import { isGood } from './roll-out.ts';
import { shardText } from './shard.ts';

/** A result file and its name. */
export interface NamedResult {
  readonly file: string;
  readonly result: ResultFile;
}

/** The parts of a plan as if one devsh had carried it out. */
export interface Merged {
  readonly run: Run;
  /** Devices of the plan that are in none of the files. */
  readonly missing: readonly DeviceRef[];
  /** What the user should know: which attempt counts, which part stopped, which did not end. */
  readonly remarks: readonly string[];
}

/** What one file says of one device. */
interface Told {
  readonly from: NamedResult;
  readonly states: readonly StepState[];
}

/**
 * Puts the results of the parts of a plan together: each device of the plan exactly once. Of two
 * attempts the later counts, unless the earlier had done the device. Throws a `RefusedError` for a
 * file of another plan, and for a device that two runs have carried out.
 */
export function mergeResults(
  { plan, command }: Pick<FrozenPlan, 'plan' | 'command'>,
  digest: string,
  files: readonly NamedResult[],
): Merged {
  const planned = new Map(plan.devices.map((device) => [idOf(device.device), device]));
  const told = new Map<string, Told>();
  const superseded = new Map<string, number>();
  for (const from of [...files].sort(byTime)) {
    if (from.result.digest !== digest) {
      throw new RefusedError(`${from.file} is the result of another plan`);
    }
    for (const { device, states } of from.result.devices) {
      if (planned.get(idOf(device))?.steps.length !== states.length) throw foreign(from, device);
      const later = { from, states };
      const earlier = told.get(idOf(device));
      const kept = earlier === undefined ? later : choose(earlier, later, device);
      told.set(idOf(device), kept);
      const lost = kept === later ? earlier : later;
      if (lost !== undefined && lost.from.result.run !== kept.from.result.run) {
        const text = `${kept.from.file} counts, as ${lost.from.file} had not finished there`;
        superseded.set(text, (superseded.get(text) ?? 0) + 1);
      }
    }
  }
  const missing = plan.devices.map(({ device }) => device).filter((one) => !told.has(idOf(one)));
  const used = new Set([...told.values()].map(({ from }) => from));
  return {
    run: runOf({ plan, command }, told, files),
    missing,
    remarks: [
      ...[...superseded].map(([text, count]) => `${countText(count)}: ${text}`),
      ...[...used].flatMap(remarksOn),
    ],
  };
}

/** By name and address: a device that moved is another one. */
function idOf({ name, address }: DeviceRef): string {
  return `${name}\n${address}`;
}

/** The earlier attempt first; of one run that was gone on with, what was written last comes last. */
function byTime({ result: a }: NamedResult, { result: b }: NamedResult): number {
  return compare(a.at, b.at) || compare(a.run, b.run) || compare(a.endedAt ?? '', b.endedAt ?? '');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Which of two attempts at a device counts. A run that was gone on with is one attempt. */
function choose(earlier: Told, later: Told, device: DeviceRef): Told {
  if (earlier.from.result.run === later.from.result.run) return later;
  const isDone = earlier.states.every((state) => state.kind === 'ended' && isGood(state.result));
  if (!isDone) return later;
  if (later.states.every(({ kind }) => kind === 'waiting')) return earlier;
  throw new RefusedError(
    `${device.name} was carried out twice, by ${earlier.from.file} and by ${later.from.file}: ` +
      'leave out the one that is not to count',
  );
}

function foreign({ file }: NamedResult, { name }: DeviceRef): RefusedError {
  return new RefusedError(`${file} does not fit the plan: it has no such steps on ${name}`);
}

function remarksOn({ file, result }: NamedResult): string[] {
  const shard = `shard ${shardText(result.shard)} (${file})`;
  if (result.endedAt === undefined) {
    return [
      `${shard} did not end: apply it again with the same words, or "resume ${result.run}" as ${result.by}`,
    ];
  }
  return result.stopReason === undefined ? [] : [`${shard} stopped: ${result.stopReason}`];
}

function runOf(
  { plan, command }: Pick<FrozenPlan, 'plan' | 'command'>,
  told: ReadonlyMap<string, Told>,
  files: readonly NamedResult[],
): Run {
  const results = files.map(({ result }) => result);
  const unique = (texts: readonly string[]): string => [...new Set(texts)].sort().join(', ');
  const at = results.map((result) => result.at).sort()[0] ?? '';
  const ends = results.flatMap(({ endedAt }) => endedAt ?? []).sort();
  const endedAt = ends.length === results.length ? ends.at(-1) : undefined;
  const stops = results.flatMap(({ stopReason }) => stopReason ?? []);
  return {
    run: plan.run,
    at,
    command,
    by: unique(results.map(({ by }) => by)),
    version: unique(results.map(({ version }) => version)),
    plan,
    isPlanned: true,
    states: new Map(
      plan.devices.map((device) => [
        device.device.name,
        statesOf(device, told.get(idOf(device.device)), at),
      ]),
    ),
    stopReason: stops.length === 0 ? undefined : unique(stops),
    endedAt,
  };
}

/** What nobody tells of is neither done nor known not to be. */
function statesOf(
  { device, steps }: DevicePlan,
  told: Told | undefined,
  at: string,
): readonly StepState[] {
  if (told !== undefined && told.from.result.endedAt !== undefined) return told.states;
  const note = told === undefined ? 'no result file tells of it' : 'its shard did not end';
  return steps.map(({ resource, key, action }) => ({
    kind: 'ended',
    at: told?.from.result.at ?? at,
    result: { device, resource, key, action, verdict: 'unknown', note },
  }));
}

function countText(count: number): string {
  return count === 1 ? '1 device' : `${count} devices`;
}
