import { isEqual } from '../device/equality.ts';
import { maskedRecord, maskedValue } from '../device/sensitive-fields.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  jsonText,
  type JsonValue,
  type Value,
  valueAt,
} from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import type { Run } from './journal.ts';
import { namesOf, pendingIn, traceOf } from './pending.ts';
import { type NotCovered, notCoveredBy, notCoveredData } from './plan.ts';
import { countsOf, outcomesOf, resultsOf, stateText, type StepOutcome } from './run-results.ts';
import { expectedIn, noteText, type StepResult, type Verdict, VERDICTS } from './verdict.ts';
import { replaceUnsafeInJson } from '../text/visible.ts';
import { maskedRequest } from '../device/encode.ts';
import { maskedDifference } from './compare.ts';
import type { Step } from './step.ts';

/** One field before and after a step, secrets masked; `undefined`: the record is absent or unknown. */
export interface FieldChange {
  readonly field: string;
  readonly before: Value | undefined;
  readonly planned: Value | undefined;
  readonly held: Value | undefined;
}

export interface StepReport extends StepOutcome {
  /** When it was sent or ended, ISO 8601. */
  readonly at: string | undefined;
  /** Whether its request was sent, or may have been. */
  readonly isSent: boolean;
  readonly changes: readonly FieldChange[];
}

export interface DeviceReport {
  readonly device: DeviceRef;
  /** Set if the device could not be read, so that nothing was planned there. */
  readonly error?: DevshError | undefined;
  /** In the order of the plan. */
  readonly steps: readonly StepReport[];
}

export interface Report extends Run {
  readonly state: string;
  readonly counts: Readonly<Partial<Record<Verdict, number>>>;
  readonly notCovered: readonly NotCovered[];
  /** The names of the devices on which the run still has something to do. */
  readonly pending: readonly string[];
  /** In the order of the plan. */
  readonly devices: readonly DeviceReport[];
}

/** The verdicts, most urgent first. */
const URGENCY: readonly Verdict[] = [
  'failed',
  'unknown',
  'differs',
  'no effect',
  'drift',
  'skipped',
  'done',
  'unchanged',
];

export function reportOf(run: Run): Report {
  const outcomes = grouped(outcomesOf(run), ({ result }) => result.device.name);
  return {
    ...run,
    state: stateText(run),
    counts: countsOf(resultsOf(run)),
    notCovered: notCoveredBy(run.plan),
    pending: namesOf(pendingIn(traceOf(run))),
    devices: run.plan.devices.map(({ device, error }) => ({
      device,
      error,
      steps: (outcomes.get(device.name) ?? []).map(stepReport),
    })),
  };
}

/** All devices, most urgent first, otherwise in the order of the plan. */
export function mostUrgentFirst(devices: readonly DeviceReport[]): readonly DeviceReport[] {
  const byVerdict = grouped(devices, verdictOf);
  return URGENCY.flatMap((verdict) => byVerdict.get(verdict) ?? []);
}

/** The verdict of a device: the most urgent one of its steps. */
export function verdictOf({ error, steps }: DeviceReport): Verdict {
  if (error) return 'failed';
  const verdicts = new Set(steps.map(({ result }) => result.verdict));
  return URGENCY.find((verdict) => verdicts.has(verdict)) ?? 'unchanged';
}

/** `7 done · 2 failed`, in the order of a summary. */
export function countsText(counts: Report['counts']): string {
  const parts = VERDICTS.flatMap((verdict) =>
    counts[verdict] === undefined ? [] : [`${counts[verdict]} ${verdict}`],
  );
  return parts.length === 0 ? 'no steps' : parts.join(' · ');
}

export function remarksOf(result: StepResult): string[] {
  return [noteText(result) ?? [], result.error?.message ?? []].flat();
}

function stepReport(outcome: StepOutcome): StepReport {
  const { result, step, state } = outcome;
  return {
    ...outcome,
    at: state === undefined || state.kind === 'waiting' ? undefined : state.at,
    isSent: state !== undefined && hasLeft(state),
    changes: changesOf(result, step),
  };
}

function hasLeft(state: NonNullable<StepOutcome['state']>): boolean {
  if (state.kind !== 'ended') return state.kind === 'sent';
  return !['unchanged', 'drift', 'skipped'].includes(state.result.verdict);
}

/** The fields of the step, and those that differ from the plan. */
function changesOf(result: StepResult, step: Step | undefined): FieldChange[] {
  const { differences = [] } = result;
  if (step === undefined) {
    return differences.map((one) => ({
      field: one.field,
      before: maskedValue(one.field, one.held),
      planned: maskedValue(one.field, expectedIn(one).value),
      held: maskedValue(one.field, one.held),
    }));
  }
  const before = maskedRecord(step.before ?? {});
  const planned = maskedRecord(step.after ?? {});
  const held = maskedRecord(result.record ?? {});
  return [...new Set(fieldsOf(step, before, held, differences))].map((field) => ({
    field,
    before: valueAt(before, field),
    planned: valueAt(planned, field),
    held: valueAt(held, field),
  }));
}

function fieldsOf(
  { action, asked, effects: { filled = {} } }: Step,
  before: DeviceRecord,
  held: DeviceRecord,
  differences: NonNullable<StepResult['differences']>,
): string[] {
  return [
    ...Object.keys(action === 'delete' ? before : asked),
    ...Object.keys(filled),
    ...differences.map(({ field }) => field),
    ...Object.keys(held).filter((field) => !isEqual(valueAt(before, field), valueAt(held, field))),
  ];
}

/** The same as the schema of `--json`. */
const SCHEMA = 'devsh/1';

/** `report` in `--json`; secrets masked. */
export function reportData(report: Report): JsonValue {
  const { run, command, reason, by, version, state, counts } = report;
  return {
    run,
    command,
    reason,
    by,
    version,
    began: report.at,
    ended: report.endedAt,
    state,
    counts,
    notCovered: notCoveredData(report.notCovered),
    pendingOn: report.pending.length === 0 ? undefined : report.pending,
    devices: mostUrgentFirst(report.devices).map((one) => ({
      device: one.device.name,
      address: one.device.address,
      verdict: verdictOf(one),
      error: one.error && errorData(one.error),
      steps: one.steps.map(stepData),
    })),
  };
}

/** @param report the data, secrets masked */
export function jsonDocument(report: JsonValue): string {
  const text = jsonText({ schema: SCHEMA, report }, { indent: 2 });
  return replaceUnsafeInJson(text) + '\n';
}

function stepData({ result, step, at, isSent, changes }: StepReport): JsonValue {
  const { action, resource, key, verdict, error, record, differences } = result;
  return {
    action,
    resource,
    key,
    verdict,
    at,
    sent: isSent,
    note: noteText(result),
    error: error && errorData(error),
    request: step && { ...maskedRequest(step.request) },
    changes: changes.map((change) => ({ ...change })),
    before: step?.before && maskedRecord(step.before),
    planned: step?.after && maskedRecord(step.after),
    held: record && maskedRecord(record),
    differences: differences?.map(maskedDifference),
  };
}

function errorData({ code, message }: DevshError): JsonValue {
  return { code, message };
}
