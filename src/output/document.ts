import { maskedRequest } from '../device/encode.ts';
import { grantsOf } from '../change/grants.ts';
import { notCoveredBy, notCoveredData, type NotCovered } from '../change/not-covered.ts';
import { stepCount, type DevicePlan, type Step } from '../change/plan.ts';
import { VERDICTS, type StepResult } from '../change/verdict.ts';
import { RejectedError, UntrustedError } from '../device/errors.ts';
import type { JsonValue } from '../device/value-text.ts';
import type { DeviceRef } from '../device/record.ts';
import { maskedDifference } from '../change/compare.ts';
import { maskedRecord } from '../device/secret-fields.ts';
import { UsageError, type DevshError } from '../errors.ts';
import type { AnswerOutput, ErrorOutput, Output, PlanOutput, ReadOutput } from '../shell/output.ts';
import { driftObject } from './drift-json.ts';
import { SCHEMA, type JsonObject } from './json.ts';
import { inSelectionOrder, viewedRecords } from './read-table.ts';

/**
 * All that a command said, as the one document of `--json` and `--format yaml`. What was gathered
 * before an error ended the command stays in it.
 */
export function documentOf(outputs: readonly Output[], error?: DevshError): JsonObject {
  const reads = outputs.filter((output) => output.kind === 'read');
  const drift = outputs.findLast((output) => output.kind === 'drift');
  const plans = outputs.filter((output) => output.kind === 'plan');
  const answers = outputs.filter((output) => output.kind === 'answer');
  const named = outputs.flatMap((output): [string, JsonValue][] => {
    if (output.kind === 'table') return [[output.name, output.rows]];
    return output.kind === 'text' ? [[output.name, output.data ?? output.text]] : [];
  });
  const errors = errorsOf(outputs, plans);
  const exported = reads.find(({ view }) => view.file !== undefined)?.view;
  return {
    schema: SCHEMA,
    ...(exported && { resource: exported.resource, filter: exported.file?.filter }),
    ...Object.fromEntries(named),
    drift: drift && driftObject(drift),
    devices: reads.length > 0 ? inSelectionOrder(reads).map(readObject) : undefined,
    ...changeParts(outputs, plans),
    notCovered: notCoveredData(notCoveredIn(outputs, plans)),
    answers: answers.length > 0 ? answers.map(answerObject) : undefined,
    errors: errors.length > 0 ? errors : undefined,
    error: error && errorObject(error),
  };
}

/** What `--json` tells about an error: its stable code, and what helps to put it right. */
export function errorObject(error: DevshError): JsonObject {
  const isUsage = error instanceof UsageError;
  const issues = error instanceof RejectedError ? error.issues : {};
  return {
    code: error.code,
    message: error.message,
    column: isUsage ? error.column : undefined,
    suggestions: isUsage && error.suggestions.length > 0 ? error.suggestions : undefined,
    issues: Object.keys(issues).length > 0 ? issues : undefined,
    fingerprint: error instanceof UntrustedError ? error.presented.fingerprint : undefined,
  };
}

export function resultObject(result: StepResult): JsonObject {
  return {
    ...deviceObject(result.device),
    resource: result.resource,
    key: result.key,
    action: result.action,
    verdict: result.verdict,
    differences: result.differences?.map(maskedDifference),
    record: result.record && maskedRecord(result.record),
    note: result.note,
    error: result.error && errorObject(result.error),
  };
}

function stepObject(step: Step): JsonObject {
  const { action, resource, key, request, before, after, erases, mayErase, lost } = step;
  const grants = grantsOf(step);
  return {
    action,
    resource,
    key,
    request: { ...maskedRequest(request) },
    before: before && maskedRecord(before),
    after: after && maskedRecord(after),
    erases: erases && [...erases],
    mayErase: mayErase && [...mayErase],
    lost: lost && Object.keys(lost),
    grants: grants.length > 0 ? grants.map((grant) => ({ ...grant })) : undefined,
  };
}

export function devicePlanObject({
  device,
  steps,
  settled,
  assumed,
  lookAlikes,
  isUnchecked,
  error,
}: DevicePlan): JsonObject {
  return {
    ...deviceObject(device),
    steps: steps.map(stepObject),
    settled: settled.map(resultObject),
    isUnchecked,
    assumed: assumed?.map((assumption) => ({ ...assumption })),
    lookAlikes: lookAlikes?.map((one) => ({ ...one })),
    error: error && errorObject(error),
  };
}

export function answerObject({ device, status, value, body }: AnswerOutput): JsonObject {
  return { ...deviceObject(device), status, ...(value === undefined ? { body } : { value }) };
}

export function deviceObject({ name, address }: DeviceRef): JsonObject {
  return { device: name, address };
}

/** An error beside the data: of one device, or of one line of a script. */
export function errorEntry({ device, error }: Pick<ErrorOutput, 'device' | 'error'>): JsonObject {
  return { ...(device && deviceObject(device)), error: errorObject(error) };
}

function readObject({ device, outcome, view }: ReadOutput): JsonObject {
  return outcome.ok
    ? { ...deviceObject(device), ok: true, records: viewedRecords(view, outcome.records) }
    : { ...deviceObject(device), ok: false, error: errorObject(outcome.error) };
}

/** The results of a run, or its plan as long as there are none. */
function changeParts(outputs: readonly Output[], plans: readonly PlanOutput[]): JsonObject {
  const results = outputs.filter((output) => output.kind === 'result');
  const summary = outputs.findLast((output) => output.kind === 'summary');
  const run = results[0]?.run ?? summary?.run ?? plans[0]?.plan.run;
  if (run === undefined) return {};
  if (isPlanAll(outputs, plans)) {
    return { run, plan: plans.flatMap(({ plan }) => plan.devices.map(devicePlanObject)) };
  }
  const ended = inPlanOrder(
    withSettled(
      results.map(({ result }) => result),
      plans,
    ),
    plans,
  );
  return {
    run,
    results: ended.map(resultObject),
    summary: Object.fromEntries(
      VERDICTS.map((verdict) => [
        verdict,
        ended.filter((result) => result.verdict === verdict).length || undefined,
      ]),
    ),
  };
}

/** Whether the plan is all there is: a dry run, or steps that were never sent. */
function isPlanAll(outputs: readonly Output[], plans: readonly PlanOutput[]): boolean {
  if (outputs.some(({ kind }) => kind === 'result' || kind === 'summary')) return false;
  return plans.some(({ plan, dryRun }) => dryRun === true || stepCount(plan) > 0);
}

/** Every selected device that the command could not read, by whatever it said of it, once. */
function notCoveredIn(outputs: readonly Output[], plans: readonly PlanOutput[]): NotCovered[] {
  const failed = outputs.flatMap((output): NotCovered[] =>
    output.kind === 'error' && output.device
      ? [{ device: output.device, error: output.error }]
      : [],
  );
  const reads = inSelectionOrder(outputs.filter((output) => output.kind === 'read'));
  // Failures come as they happen; these are in the order of the selection.
  const unread = outputs.flatMap((one) => (one.kind === 'drift' ? one.drift.unread : []));
  const all = [
    ...reads.flatMap(({ device, outcome }) =>
      outcome.ok ? [] : [{ device, error: outcome.error }],
    ),
    ...unread.flatMap(({ name }) => failed.filter(({ device }) => device.name === name)),
    ...plans.flatMap(({ plan }) => notCoveredBy(plan)),
    ...outputs.flatMap((output) => (output.kind === 'summary' ? output.notCovered : [])),
    ...failed,
  ];
  const first = new Map<string, NotCovered>();
  for (const one of all) {
    const id = `${one.device.name}\n${one.device.address}`;
    if (!first.has(id)) first.set(id, one);
  }
  return [...first.values()];
}

/** What the plan had settled is a result, too, whether or not it was said again. */
function withSettled(results: readonly StepResult[], plans: readonly PlanOutput[]): StepResult[] {
  const idOf = ({ device, resource, key, action }: StepResult) =>
    JSON.stringify([device.name, device.address, resource, key, action]);
  const said = new Set(results.map(idOf));
  const settled = plans.flatMap(({ plan }) => plan.devices.flatMap((device) => device.settled));
  return [...results, ...settled.filter((result) => !said.has(idOf(result)))];
}

/** Device by device as planned, whichever ended first. */
function inPlanOrder(results: readonly StepResult[], plans: readonly PlanOutput[]): StepResult[] {
  const devices = plans.flatMap(({ plan }) => plan.devices.map(({ device }) => device.name));
  const place = new Map([...new Set(devices)].map((name, index) => [name, index]));
  const placeOf = ({ device }: StepResult): number => place.get(device.name) ?? place.size;
  return [...results].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Errors that stand nowhere else: devices that no plan could be made for, and what was remarked. */
function errorsOf(outputs: readonly Output[], plans: readonly PlanOutput[]): JsonObject[] {
  const isPlanShown = isPlanAll(outputs, plans);
  const listed = new Set<string>();
  const errors: JsonObject[] = [];
  const list = (device: DeviceRef | undefined, error: DevshError): void => {
    const id = device && `${device.name}\n${device.address}\n${error.message}`;
    if (id !== undefined && listed.has(id)) return;
    if (id !== undefined) listed.add(id);
    errors.push(errorEntry(device ? { device, error } : { error }));
  };
  const note = (device: DeviceRef, error: DevshError | undefined): void => {
    if (error) listed.add(`${device.name}\n${device.address}\n${error.message}`);
  };

  for (const output of outputs) {
    if (output.kind === 'read' && !output.outcome.ok) note(output.device, output.outcome.error);
    if (output.kind === 'result') note(output.result.device, output.result.error);
  }
  for (const { device, error } of plans.flatMap(({ plan }) => plan.devices)) {
    if (!error) continue;
    if (isPlanShown) note(device, error);
    else list(device, error);
  }
  for (const output of outputs) {
    if (output.kind === 'error') list(output.device, output.error);
  }
  return errors;
}
