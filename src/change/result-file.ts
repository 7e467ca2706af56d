import { jsonText, type JsonValue } from '../device/value-text.ts';
import { JsonFailure, parseJson } from '../device/json.ts';
import type { DeviceRef } from '../device/record.ts';
import { RefusedError } from '../errors.ts';
import { journalLine, openingLines, type Run, type RunHead, type StepState } from './journal.ts';
import { resultData } from './plan-data.ts';
import { type DevicePlan, type Plan, type PlanPart, type Shard, shardText } from './plan.ts';
import { countsOf, pendingResult } from './run-results.ts';
import { isResultFile, reviveResult } from './read-journal.ts';
import type { StepResult } from './verdict.ts';
import type { FrozenPlan } from './plan-file.ts';
import { isGood } from './roll-out.ts';
import { counted } from '../text/one-line.ts';

/** The format of a result file, in its first field. */
const RESULT_SCHEMA = 'devsh-result/1';

/** How far one device has come. */
interface DeviceResult {
  readonly device: DeviceRef;
  /** One for each step that was planned there, in the order of the plan. */
  readonly states: readonly StepState[];
}

/** What became of one part of a plan: carried from machine to machine, and merged with the others. */
export interface ResultFile extends RunHead {
  /** The SHA-256 of the plan file. */
  readonly digest: string;
  readonly shard: Shard;
  /** When devsh let go of the part; absent while it is at work, or when it was killed. */
  readonly endedAt?: string;
  readonly stopReason?: string;
  readonly devices: readonly DeviceResult[];
}

const WAITING: StepState = { kind: 'waiting' };

/**
 * The result of a run: JSON with a verdict for each step, secrets masked.
 *
 * @param endedAt absent for a run that is about to begin
 */
export function resultText(run: Run, part: PlanPart, endedAt?: string): string {
  const text = jsonText({
    schema: RESULT_SCHEMA,
    plan: { sha256: part.digest },
    shard: { ...part.shard },
    run: run.run,
    began: run.at,
    ended: endedAt,
    by: run.by,
    version: run.version,
    command: run.command,
    stopped: run.stopReason,
    summary: countsOf(run),
    devices: run.plan.devices.map(({ device, steps }) => ({
      device: device.name,
      address: device.address,
      steps: steps.map((_step, index) => stepData(run, device, index)),
    })),
  });
  return `${text}\n`;
}

function stepData(run: Run, { name }: DeviceRef, index: number): JsonValue {
  const state = run.states.get(name)?.[index] ?? WAITING;
  const result = state.kind === 'ended' ? state.result : pendingResult(run, name, index);
  return {
    state: state.kind,
    at: state.kind === 'waiting' ? undefined : state.at,
    ...resultData(result),
    device: undefined,
  };
}

interface FileData {
  readonly plan: { readonly sha256: string };
  readonly shard: Shard;
  readonly run: string;
  readonly began: string;
  readonly ended?: string;
  readonly by: string;
  readonly version: string;
  readonly command: string;
  readonly stopped?: string;
  readonly devices: readonly {
    readonly device: string;
    readonly address: string;
    readonly steps: readonly (Omit<StepResult, 'device'> & {
      readonly state: StepState['kind'];
      readonly at?: string;
    })[];
  }[];
}

/** Reads a result file. Throws a `RefusedError` for one that was cut, altered or is none. */
export function parseResult(text: string, file: string): ResultFile {
  const refused = new RefusedError(
    `${file} is no result file of devsh, or was cut or altered: write the result anew, or remove it`,
  );
  let data: unknown;
  try {
    data = parseJson(text);
  } catch (error) {
    if (error instanceof JsonFailure) throw refused;
    throw error;
  }
  if (!isResultFile(data)) throw refused;
  const {
    plan,
    shard,
    run,
    began: at,
    ended,
    by,
    version,
    command,
    stopped,
    devices,
  } = data as FileData;
  return {
    ...{ digest: plan.sha256, shard, run, at, by, version, command },
    ...(ended !== undefined && { endedAt: ended }),
    ...(stopped !== undefined && { stopReason: stopped }),
    devices: devices.map(({ device: name, address, steps }) => {
      const device = { name, address };
      return {
        device,
        states: steps.map(({ state, at: stepAt = at, ...result }): StepState => {
          if (state === 'ended') {
            return { kind: 'ended', at: stepAt, result: reviveResult({ ...result, device }) };
          }
          // In a file that was written at the beginning: since then each step may have been sent.
          if (ended === undefined || state === 'sent') return { kind: 'sent', at: stepAt };
          return WAITING;
        }),
      };
    }),
  };
}

/** The journal of a run as its result file tells it: with it, another machine can go on. */
export function journalOfResult(result: ResultFile, plan: Plan): string {
  const { run, at, command, by, version, endedAt, devices } = result;
  return [
    openingLines(
      { run, at, command, by, version, ...(plan.part && { part: plan.part }) },
      plan.devices,
    ),
    ...devices.flatMap(({ device, states }) =>
      states.flatMap((state, index) => {
        const ref = { device: device.name, index };
        if (state.kind === 'waiting') return [];
        return state.kind === 'sent'
          ? journalLine({ kind: 'send', ref, at: state.at })
          : journalLine({ kind: 'verdict', ref, at: state.at, result: state.result });
      }),
    ),
    ...(endedAt === undefined ? [] : [journalLine({ kind: 'end', at: endedAt })]),
  ].join('');
}

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
      ...[...superseded].map(([text, count]) => `${counted(count, 'device')}: ${text}`),
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
