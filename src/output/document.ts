import { maskedRequest } from '../device/encode.ts';
import { grantsOf } from '../change/doubts.ts';
import {
  type DevicePlan,
  type NotCovered,
  notCoveredBy,
  notCoveredData,
  stepCount,
} from '../change/plan.ts';
import { codesOf, noteText, type StepResult, type Verdict, VERDICTS } from '../change/verdict.ts';
import { RejectedError, UntrustedError } from '../device/errors.ts';
import { type DeviceRef, grouped, isList, jsonText, type JsonValue } from '../device/record.ts';
import { maskedDifference } from '../change/compare.ts';
import { maskedRecord, maskedValue } from '../device/sensitive-fields.ts';
import { type DevshError, UsageError } from '../errors.ts';
import type {
  AnswerOutput,
  ChangeOutput,
  DriftOutput,
  ErrorOutput,
  Output,
  PlanOutput,
  ReadOutput,
} from '../shell/output.ts';
import type {
  AnswerObject,
  ChangeObject,
  DevicePlanObject,
  DocumentParts,
  DriftObject,
  DriftRowObject,
  ErrorObject,
  FailureObject,
  ReadObject,
  ResultObject,
  StepObject,
} from '../shell/help/document-schema.ts';
import { inSelectionOrder, viewedRecords } from './read-table.ts';
import { inPlanOrder } from './change-text.ts';
import { failureOf } from './streams.ts';
import { replaceUnsafeInJson } from '../text/visible.ts';
import type { Step } from '../change/step.ts';

type DocumentObject = DocumentParts & JsonObject;
type ChangeParts = Pick<DocumentParts, 'run' | 'plan' | 'results' | 'summary'>;

/** All output of a command as one document for `--json` and `--format yaml`, also if an error ended it. */
export function documentOf(outputs: readonly Output[], error?: DevshError): DocumentObject {
  // A question that cannot be right has no empty answer.
  const isWrong = error instanceof UsageError;
  const reads = outputs
    .filter((output) => output.kind === 'read')
    .filter(({ outcome }) => !(isWrong && outcome.ok && outcome.records.length === 0));
  const drift = outputs.findLast((output) => output.kind === 'drift');
  const plans = outputs.filter((output) => output.kind === 'plan');
  const answers = outputs.filter((output) => output.kind === 'answer');
  const named = outputs.flatMap((output): [string, JsonValue][] => {
    if (output.kind === 'table') return [[output.name, output.rows]];
    return output.kind === 'text' ? [[output.name, output.data ?? output.text]] : [];
  });
  const exported = reads.find(({ view }) => view.file !== undefined)?.view;
  return {
    schema: SCHEMA,
    resource: exported?.resource,
    filter: exported?.file?.filter,
    ...Object.fromEntries(named),
    drift: drift && driftObject(drift),
    devices: unlessEmpty(inSelectionOrder(reads).map(readObject)),
    ...changeParts(outputs, plans),
    notCovered: notCoveredData(notCoveredIn(outputs, plans)),
    pendingOn: unlessEmpty(
      outputs.flatMap((one) => (one.kind === 'summary' ? (one.pending ?? []) : [])),
    ),
    answers: unlessEmpty(answers.map(answerObject)),
    changed: unlessEmpty(
      outputs.flatMap((one) => (one.kind === 'change' ? [changeObject(one)] : [])),
    ),
    errors: unlessEmpty(errorsOf(outputs, plans)),
    error: error && errorObject(error),
  };
}

function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** An error in `--json`: its stable code, and what helps to correct it. */
function errorObject(error: DevshError): ErrorObject {
  const isUsage = error instanceof UsageError;
  const issues = error instanceof RejectedError ? error.issues : {};
  return {
    code: error.code,
    note: error.note?.code,
    message: error.message,
    column: isUsage ? error.column : undefined,
    suggestions: isUsage ? unlessEmpty(error.suggestions) : undefined,
    issues: Object.keys(issues).length > 0 ? issues : undefined,
    fingerprint: error instanceof UntrustedError ? error.presented.fingerprint : undefined,
  };
}

/** @param run if there are several */
export function resultObject(result: StepResult, run?: string): ResultObject {
  return {
    ...deviceObject(result.device),
    resource: result.resource,
    key: result.key,
    action: result.action,
    verdict: result.verdict,
    differences: result.differences?.map(maskedDifference),
    record: result.record && maskedRecord(result.record),
    note: noteText(result),
    codes: unlessEmpty(codesOf(result)),
    error: result.error && errorObject(result.error),
    run,
  };
}

function stepObject(step: Step): StepObject {
  const { action, resource, key, request, before, after, effects } = step;
  const { erases, mayErase, lost, takes } = effects;
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
    takes: takes?.map(({ keys, ...one }) => ({ ...one, keys: [...keys] })),
    grants: unlessEmpty(grantsOf(step).map((grant) => ({ ...grant }))),
  };
}

export function devicePlanObject(plan: DevicePlan): DevicePlanObject {
  return {
    ...deviceObject(plan.device),
    steps: plan.steps.map(stepObject),
    settled: plan.settled.map((one) => resultObject(one)),
    isUnchecked: plan.isUnchecked,
    assumed: plan.assumed?.map((assumption) => ({ ...assumption })),
    lookAlikes: plan.lookAlikes?.map((one) => ({ ...one })),
    error: plan.error && errorObject(plan.error),
  };
}

export function answerObject({ device, status, value, body }: AnswerOutput): AnswerObject {
  return { ...deviceObject(device), status, body: value === undefined ? body : undefined, value };
}

/** Present in a watch, and for a request whose effect is not known. */
export function changeObject({ at, device, view, change }: ChangeOutput): ChangeObject {
  const [record = {}] = viewedRecords(view, [change.record]);
  const { kind, key } = change;
  const fields = kind === 'changed' ? [...change.fields] : undefined;
  return { time: at.toISOString(), device: device.name, change: kind, key, fields, record };
}

function deviceObject({ name, address }: DeviceRef) {
  return { device: name, address };
}

/** An error beside the data: of one device, or of one line of a script. */
export function errorEntry({ device, error }: Omit<ErrorOutput, 'kind'>): FailureObject {
  return { device: device?.name, address: device?.address, error: errorObject(error) };
}

function readObject({ device, outcome, view, past }: ReadOutput): ReadObject {
  const iso = (time: number): string => new Date(time).toISOString();
  return outcome.ok
    ? {
        ...{ ...deviceObject(device), ok: true, records: viewedRecords(view, outcome.records) },
        past: past && {
          ...{ from: iso(past.from), to: iso(past.to) },
          next: past.next === undefined ? undefined : iso(past.next),
        },
      }
    : { ...deviceObject(device), ok: false, error: errorObject(outcome.error) };
}

/** The results of a run, or its plan as long as there are none. */
function changeParts(outputs: readonly Output[], plans: readonly PlanOutput[]): ChangeParts {
  const results = outputs.filter((output) => output.kind === 'result');
  const summary = outputs.findLast((output) => output.kind === 'summary');
  const run = results[0]?.run ?? summary?.run ?? plans[0]?.plan.run;
  const nothing = { run, plan: undefined, results: undefined, summary: undefined };
  if (run === undefined) return nothing;
  if (isPlanAll(outputs, plans)) {
    const planned = plans.flatMap(({ plan }) => plan.devices.map(devicePlanObject));
    return { ...nothing, plan: planned };
  }
  const said = results.map(({ result }) => result);
  const ended = inPlanOrder(
    withSettled(said, plans),
    plans.map(({ plan }) => plan),
  );
  const runs = new Map([
    ...plans.flatMap(({ plan }) =>
      plan.devices.flatMap(({ settled }) => settled.map((one) => [one, plan.run] as const)),
    ),
    ...results.map((output) => [output.result, output.run] as const),
  ]);
  const isOne = new Set(runs.values()).size < 2;
  const countOf = (verdict: Verdict): number | undefined =>
    ended.filter((result) => result.verdict === verdict).length || undefined;
  return {
    ...nothing,
    results: ended.map((one) => resultObject(one, isOne ? undefined : runs.get(one))),
    summary: Object.fromEntries(VERDICTS.map((verdict) => [verdict, countOf(verdict)])),
  };
}

/** Whether there is only a plan: a dry run, or steps that were never sent. */
function isPlanAll(outputs: readonly Output[], plans: readonly PlanOutput[]): boolean {
  if (outputs.some(({ kind }) => kind === 'result' || kind === 'summary')) return false;
  return plans.some(({ plan, dryRun }) => dryRun === true || stepCount(plan) > 0);
}

/** Every selected device that the command could not read, once. */
function notCoveredIn(outputs: readonly Output[], plans: readonly PlanOutput[]): NotCovered[] {
  const errors = outputs.filter((output) => output.kind === 'error');
  const failed = errors.flatMap((output) => failureOf(output) ?? []);
  const reads = inSelectionOrder(outputs.filter((output) => output.kind === 'read'));
  // Failures come as they happen; these are in the order of the selection.
  const unread = outputs.flatMap((one) => (one.kind === 'drift' ? one.drift.unread : []));
  const all = [
    ...reads.flatMap((output) => failureOf(output) ?? []),
    ...unread.flatMap(({ name }) => failed.filter(({ device }) => device.name === name)),
    ...plans.flatMap(({ plan }) => notCoveredBy(plan)),
    ...outputs.flatMap((output) => (output.kind === 'summary' ? output.notCovered : [])),
    ...failed,
  ];
  const same = grouped(all, ({ device: { name, address } }) => `${name}\n${address}`);
  return [...same.values()].map(([first]) => first);
}

/** Adds the settled results of the plan that are not among the results yet. */
function withSettled(results: readonly StepResult[], plans: readonly PlanOutput[]): StepResult[] {
  const idOf = ({ device, resource, key, action }: StepResult) =>
    JSON.stringify([device.name, device.address, resource, key, action]);
  const said = new Set(results.map(idOf));
  const settled = plans.flatMap(({ plan }) => plan.devices.flatMap((device) => device.settled));
  return [...results, ...settled.filter((result) => !said.has(idOf(result)))];
}

/** Errors that no other key has: devices without a plan, and error outputs. */
function errorsOf(outputs: readonly Output[], plans: readonly PlanOutput[]): FailureObject[] {
  const unplanned = plans.flatMap(({ plan }) => notCoveredBy(plan));
  const isPlanShown = isPlanAll(outputs, plans);
  const elsewhere = outputs.flatMap((output) => {
    if (output.kind === 'read') return failureOf(output) ?? [];
    if (output.kind !== 'result' || output.result.error === undefined) return [];
    return { device: output.result.device, error: output.result.error };
  });
  const idOf = ({ device, error }: Omit<ErrorOutput, 'kind'>): string | undefined =>
    device && `${device.name}\n${device.address}\n${error.message}`;
  const listed = new Set([...elsewhere, ...(isPlanShown ? unplanned : [])].map(idOf));
  listed.delete(undefined);
  const errors = outputs.filter((output) => output.kind === 'error');
  return [...(isPlanShown ? [] : unplanned), ...errors].flatMap((one) => {
    const id = idOf(one);
    if (listed.has(id)) return [];
    if (id !== undefined) listed.add(id);
    return errorEntry(one);
  });
}

/** The key `drift` of `--json`: what was compared, and every record that is not the same on all devices. */
function driftObject(output: DriftOutput): DriftObject {
  const { drift, resource } = output;
  return {
    resource,
    key: drift.keyField,
    devices: drift.devices.map(({ name }) => name),
    same: drift.rows.filter(({ isSame }) => isSame).length,
    different: driftObjects(output),
  };
}

/** One object for each record that is not the same on all devices. */
export function driftObjects({ drift, resource }: DriftOutput): DriftRowObject[] {
  const names = drift.devices.map(({ name }) => name);
  return drift.rows
    .filter(({ isSame }) => !isSame)
    .map((row) => ({
      resource,
      key: row.key,
      devices: [
        ...row.cells.map((cell, index) => ({
          device: names[index] ?? '',
          state: cell.kind,
          fields: cell.kind === 'differs' ? cell.fields : undefined,
        })),
        ...drift.unread.map(({ name }) => ({ device: name, state: 'not read' })),
      ],
      fields: row.fields.map(({ field, values }) => ({
        field,
        values: values.map(({ value, devices }) => ({
          value: value === undefined ? undefined : maskedValue(field, value),
          devices,
        })),
      })),
    }));
}

/** The document as `toJson` writes it, with a line break, in parts: an entry of each list at a time. */
export function* documentText(document: DocumentObject): Generator<string> {
  yield* objectText(document, listText);
  yield '\n';
}

function* objectText(
  object: JsonObject,
  textOf: (list: readonly JsonValue[]) => Generator<string>,
): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${before}${toJson(name)}:`;
    before = ',';
    if (isList(value)) yield* textOf(value);
    else yield toJson(value);
  }
  yield '}';
}

function* listText(list: readonly JsonValue[]): Generator<string> {
  let before = '[';
  for (const item of list) {
    yield before;
    before = ',';
    if (hasLongList(item)) yield* objectText(item, longListText);
    else yield toJson(item);
  }
  yield before === '[' ? '[]' : ']';
}

/** A device with more records is not written as one text: that would take more memory than the records. */
const PART_LENGTH = 500;

function hasLongList(value: JsonValue): value is JsonObject {
  if (typeof value !== 'object' || value === null || isList(value)) return false;
  return Object.values(value).some((item) => isList(item) && item.length > PART_LENGTH);
}

function* longListText(list: readonly JsonValue[]): Generator<string> {
  yield '[';
  for (let from = 0; from < list.length; from += PART_LENGTH) {
    if (from > 0) yield ',';
    yield toJson(list.slice(from, from + PART_LENGTH)).slice(1, -1);
  }
  yield ']';
}

/** The version of every JSON document; changes only when a reader could break. */
const SCHEMA = 'devsh/1';

/** A JSON object under construction; `undefined` is not written. */
type JsonObject = Readonly<Record<string, JsonValue>>;

/** Exact, and harmless in a terminal: control, bidi and invisible characters are written as `\uXXXX`. */
export function toJson(value: JsonValue, options: { readonly indent?: number } = {}): string {
  return replaceUnsafeInJson(jsonText(value, options));
}
