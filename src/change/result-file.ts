import { jsonText, type JsonValue } from '../device/value-text.ts';
import { JsonFailure, parseJson } from '../device/json.ts';
import type { DeviceRef } from '../device/record.ts';
import { RefusedError } from '../errors.ts';
import { journalLine, type Run, type RunHead, type StepState } from './journal.ts';
import { openingLines } from './journal-writer.ts';
import { resultData } from './plan-data.ts';
import type { Plan, PlanPart } from './plan.ts';
import { countsOf, pendingResult } from './run-results.ts';
import type { Shard } from './shard.ts';
import { reviveResult } from './read-journal.ts';
import { isResultFile } from './shape.ts';
import type { StepResult } from './verdict.ts';

/** The format of a result file, in its first field. */
export const RESULT_SCHEMA = 'devsh-result/1';

/** How far one device has come. */
export interface DeviceResult {
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
