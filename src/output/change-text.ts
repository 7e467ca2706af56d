import { isMask, isSecretField } from '../device/sensitive-fields.ts';
import { isEqual } from '../device/equality.ts';
import { counted, someOf } from '../text/one-line.ts';
import { changedParts } from '../change/compare.ts';
import {
  type DevicePlan,
  notCoveredBy,
  notCoveredText,
  type Plan,
  quotedKey,
  recordName,
} from '../change/plan.ts';
import {
  type Action,
  type Difference,
  expectedIn,
  type StepResult,
  type Verdict,
  VERDICTS,
} from '../change/verdict.ts';
import { type DeviceRecord, grouped, valueAt } from '../device/record.ts';
import type { SummaryOutput } from '../shell/output.ts';
import {
  causesOf,
  firstNames,
  reasonText,
  type Style,
  type Tone,
  withoutDevice,
} from './streams.ts';
import { unmistakable, visible } from '../text/visible.ts';
import { fieldText, quotedText, quotedTexts } from './cells.ts';
import { textOf } from './sentences.ts';
import { grantCounts, grantsOf } from '../change/doubts.ts';
import { lossNotes } from '../change/data-loss.ts';
import type { Step } from '../change/step.ts';
import { causeText } from '../fleet/failure-cause.ts';

/** A sign and a tone for each verdict, always shown with its word. */
export const VERDICT_MARKS: Readonly<Record<Verdict, { mark: string; tone: Tone }>> = {
  done: { mark: '✓', tone: 'good' },
  unchanged: { mark: '=', tone: 'quiet' },
  'no effect': { mark: '✗', tone: 'bad' },
  differs: { mark: '≠', tone: 'warning' },
  failed: { mark: '✗', tone: 'bad' },
  drift: { mark: '≠', tone: 'warning' },
  unknown: { mark: '?', tone: 'warning' },
  skipped: { mark: '-', tone: 'quiet' },
};

interface ResultGroup {
  readonly record: string;
  /** `lang de → en`, `added`, `set failed - no answer within 5 s`. */
  readonly deed: string;
  readonly results: readonly [StepResult, ...StepResult[]];
}

/** Devices answer in any order. */
export function inPlanOrder(
  results: readonly StepResult[],
  plans: readonly Pick<Plan, 'devices'>[],
): StepResult[] {
  const devices = plans.flatMap((plan) => plan.devices.map(({ device }) => device.name));
  const place = new Map([...new Set(devices)].map((name, index) => [name, index]));
  const placeOf = ({ device }: StepResult): number => place.get(device.name) ?? place.size;
  return [...results].sort((a, b) => placeOf(a) - placeOf(b));
}

/** A line for all devices on which the same happened to a record, failures last. A past run has no plan. */
export function resultLines(
  results: readonly StepResult[],
  plan: Plan | undefined,
  style: Style,
): string[] {
  const planned = new Map(plan?.devices.map((one) => [one.device.address, one]));
  const partsOf = (
    result: StepResult,
    isAlone: boolean,
  ): readonly [record: string, deed: string] => {
    const { resource, key, device } = result;
    const { error, steps = [] } = planned.get(device.address) ?? {};
    // Devices that fail for the same cause share a line; of one, commands can be copied.
    const shown = (reason: string): string => (isAlone ? reason : withoutDevice(reason, device));
    if (error !== undefined && result.error === error) {
      return ['', `${causeText(error)}: ${shown(reasonText(error, device))}`];
    }
    const step = steps.find((one) => one.resource === resource && one.key === key);
    return [recordText(result), deedText(result, step, shown)];
  };
  const same = grouped(inPlanOrder(results, plan ? [plan] : []), (one) =>
    JSON.stringify([one.action, ...partsOf(one, false)]),
  );
  const groups = [...same.values()].map((all): ResultGroup => {
    const [record, deed] = partsOf(all[0], all.length === 1);
    return { record, deed, results: all };
  });
  const ended =
    (verdict: Verdict, { record, results: [first] }: ResultGroup) =>
    (one: ResultGroup) =>
      one.results[0].verdict === verdict &&
      one.record === record &&
      one.results[0].action === first.action;
  const lines = groups.flatMap((group) => {
    const last = groups.findLast(ended('done', group));
    const isSaid = group.deed === ALREADY && last !== undefined;
    const unchanged = group === last ? groups.filter(ended('unchanged', group)) : [];
    const count = unchanged.reduce((sum, one) => sum + one.results.length, 0);
    const { mark, tone } = VERDICT_MARKS[group.results[0].verdict];
    const deed = tone === 'good' || tone === 'quiet' ? group.deed : style(tone, group.deed);
    const tail = count === 0 ? '' : ` · ${count} ${ALREADY}`;
    const what = group.record === '' ? deed : `${group.record}  ${deed}`;
    const line = `${style(tone, mark)} ${what}  ${devicesText(group, tone)}${tail}`;
    return isSaid ? [] : [{ line, rank: ['warning', 'bad'].indexOf(tone) }];
  });
  return lines.toSorted((a, b) => a.rank - b.rank).map(({ line }) => line);
}

/** `bob`, `group admins`. */
function recordText(result: StepResult): string {
  const { resource, key } = result;
  return visible(resource === 'user' && key !== '' ? quotedKey(key) : recordName(result));
}

function deedText(
  result: StepResult,
  step: Step | undefined,
  shown: (reason: string) => string,
): string {
  const { action, verdict } = result;
  const reasons = reasonsOf(result)
    .filter((reason) => reason !== ALREADY)
    .map(shown);
  const changes = step?.action === 'set' ? fieldChanges(step, '→') : [];
  const done =
    changes.map(({ field, text }) => `${field} ${text}`).join(', ') ||
    PAST[action] + (step ? filledText(step) : '');
  const deed = { done, unchanged: ALREADY }[verdict as string] ?? `${action} ${verdict}`;
  return [deed, reasons.join('; ')].filter((text) => text !== '').join(' - ');
}

const ALREADY = 'already so';
const PAST: Readonly<Record<Action, string>> = { add: 'added', set: 'changed', delete: 'deleted' };

const MOST_DEVICES = 6;
/** The most devices that a line names if something is wrong on them. */
const MOST_WRONG = 20;

function devicesText({ results }: ResultGroup, tone: Tone): string {
  const names = [...new Set(results.map(({ device }) => visible(device.name)))];
  const isWrong = tone === 'bad' || tone === 'warning';
  if (!isWrong && names.length > MOST_DEVICES) return counted(names.length, 'device');
  const more = names.length - MOST_WRONG;
  return [...names.slice(0, MOST_WRONG), ...(more > 0 ? [`+${more}`] : [])].join(' ');
}

/** The differences, the note and the error of a result. */
export function reasonsOf(result: StepResult): string[] {
  return [
    ...(result.differences ?? []).flatMap((one) => differenceTexts(one, result.record)),
    ...(result.notes ?? []).map((note) => visible(textOf(note))),
    ...(result.error ? [reasonText(result.error, result.device)] : []),
  ];
}

/** "lang: sent de, device holds en"; of a nested field only the parts that differ. */
function differenceTexts(difference: Difference, held: DeviceRecord | undefined): string[] {
  const { word, value } = expectedIn(difference);
  const { field } = difference;
  const isAbsent = held !== undefined && valueAt(held, field) === undefined;
  if (isMask(value) && (isAbsent || !isSecretField(field))) {
    return [
      `${visible(field)}: ${isAbsent ? 'the device does not show it' : 'devsh did not know it before'}`,
    ];
  }
  if (isAbsent && value !== undefined) {
    return [`${visible(field)}: ${word} ${quotedText(field, value)}, the device does not show it`];
  }
  return changedParts(difference.field, difference.held, value).map(
    ({ field: part, before, after }) => {
      const [wanted, held] = quotedTexts(part, after, before);
      return `${visible(part)}: ${word} ${wanted}, device has ${held}`;
    },
  );
}

type SummaryLine = Omit<SummaryOutput, 'kind'>;

/** At most this many devices of one cause are named below a run. */
const MOST_NAMED = 10;

/** "2 done · 1 failed · not reached: fw3 · pending there"; what is not covered is not counted as failed. */
export function summaryLine(summary: SummaryLine, style: Style): string {
  const parts = [...endedTexts(summary, style), ...owedTexts(summary, style)];
  return parts.length > 0 ? parts.join(' · ') : 'nothing to do';
}

/** `2 done`, `1 failed`: without what is not covered. */
export function endedTexts({ counts, notCovered }: SummaryLine, style: Style): string[] {
  const uncovered = notCovered.reduce((sum, { steps = 0 }) => sum + steps, 0);
  return countTexts({ ...counts, failed: (counts.failed ?? 0) - uncovered }, style);
}

/** `not reached: fw3`, `pending there`: what a run leaves to do. */
export function owedTexts({ run, notCovered, pending = [] }: SummaryLine, style: Style): string[] {
  const parts: string[] = [];
  const absent = notCoveredText(notCovered, MOST_NAMED);
  const isCut = notCoveredText(notCovered) !== absent;
  // Usually it is pending on all of them, and nowhere else: one list of names is enough.
  const isThere =
    pending.length === notCovered.length &&
    notCovered.every(({ device }) => pending.includes(device.name));
  if (absent !== '') {
    parts.push(style('bad', absent + (isCut ? ` ("report ${run}" lists all)` : '')));
  }
  if (pending.length > 0) {
    const names = someOf(pending.map(visible), MOST_NAMED);
    const where = isThere ? 'pending there' : `pending on ${names}`;
    parts.push(style('warning', where));
  }
  return parts;
}

/** `2 done`, `1 failed`: each verdict that occurs. */
export function countTexts(counts: SummaryOutput['counts'], style: Style): string[] {
  return VERDICTS.filter((verdict) => (counts[verdict] ?? 0) > 0).map((verdict) =>
    style(VERDICT_MARKS[verdict].tone, `${counts[verdict] ?? 0} ${verdict}`),
  );
}

const WILL: Readonly<Record<Action, { verb: string; tone: Tone }>> = {
  add: { verb: 'to add', tone: 'good' },
  set: { verb: 'to change', tone: 'warning' },
  delete: { verb: 'to delete', tone: 'bad' },
};

/** One line for equal steps of several devices, then the counts. `some`: only the first devices not covered. */
export function planLines(plan: Plan, style: Style, named: 'all' | 'some' = 'all'): string[] {
  return [...planGroups(plan).map((group) => groupLine(group, named)), countLine(plan, style)];
}

/** What is to be known of a plan that is not asked about, besides its results. */
export function cautionLines(plan: Plan, named: 'all' | 'some' = 'all'): string[] {
  return planGroups(plan)
    .filter(({ kind }) => kind === 'warning')
    .map((group) => groupLine(group, named));
}

function groupLine({ kind, head, tail, devices }: PlanGroup, named: 'all' | 'some'): string {
  const names = devices.map(visible);
  const isCounted = named === 'some' && kind === 'warning' && names.length > MOST_DEVICES;
  if (isCounted) return `${head} ${counted(names.length, 'device')}${tail}`;
  const isCut = named === 'some' && kind === 'absent';
  return `${head} ${isCut ? firstNames(names) : names.join(', ')}${tail}`;
}

/** What is the same on several devices; `head` ("add user bob on") and `tail` are safe to show. */
export interface PlanGroup {
  readonly kind: 'step' | 'settled' | 'absent' | 'warning';
  readonly head: string;
  readonly tail: string;
  readonly devices: readonly string[];
  readonly tone: Tone;
}

/** What a plan does, grouped by what is the same on several devices, in order of appearance. */
export function planGroups({ devices }: Plan): PlanGroup[] {
  const groups = new Map<string, PlanGroup & { readonly devices: string[] }>();
  const add = (group: Omit<PlanGroup, 'devices'>, device: string): void => {
    const id = `${group.head}\n${group.tail}`;
    const known = groups.get(id);
    if (!known) groups.set(id, { ...group, devices: [device] });
    else if (!known.devices.includes(device)) known.devices.push(device);
  };
  for (const { device, steps, settled } of devices) {
    for (const step of steps) {
      const { tone } = WILL[step.action];
      const head = `${step.action} ${visible(recordName(step))} on`;
      add({ kind: 'step', head, tail: stepTail(step), tone }, device.name);
    }
    for (const result of settled) {
      const { tone } = VERDICT_MARKS[result.verdict];
      const head = `${result.verdict} on`;
      add({ kind: 'settled', head, tail: settledTail(result), tone }, device.name);
    }
  }
  for (const { text, failures } of causesOf(notCoveredBy({ devices }))) {
    const head = `${causeText(failures[0].error)}:`;
    const group = { kind: 'absent', head, tail: ` - ${text}`, tone: 'bad' } as const;
    for (const { device } of failures) add(group, device.name);
  }
  for (const devicePlan of devices) {
    const texts = [
      ...uncheckedTexts(devicePlan),
      ...assumptionTexts(devicePlan),
      ...lookAlikeTexts(devicePlan),
      ...grantTexts(devicePlan),
      ...lossNotes(devicePlan).map((note) => visible(textOf(note))),
    ];
    for (const text of texts) {
      const group = { kind: 'warning', head: `${text} on`, tail: '', tone: 'warning' } as const;
      add(group, devicePlan.device.name);
    }
  }
  return [...groups.values()];
}

/** "devsh assumes, without documentation: delete user by DELETE /api/user/<uuid>/", for the steps that are left. */
export function assumptionTexts({ assumed = [], steps }: DevicePlan): string[] {
  return assumed
    .filter(({ action, resource }) =>
      steps.some((step) => step.action === action && step.resource === resource),
    )
    .map(
      ({ action, resource, way }) =>
        `devsh assumes, without documentation: ${action} ${visible(resource)} by ${visible(way)}`,
    );
}

function uncheckedTexts({ isUnchecked, steps }: DevicePlan): string[] {
  const isSent = isUnchecked === true && steps.length > 0;
  return isSent ? ['the certificate is NOT CHECKED (--insecure)'] : [];
}

/** "caution: user carol gets is_admin=true". */
function grantTexts({ steps }: DevicePlan): string[] {
  return steps.flatMap((step) => {
    const grants = grantsOf(step).map(
      ({ field, value }) => `${visible(field)}=${quotedText(field, value)}`,
    );
    return grants.length > 0
      ? [`caution: ${visible(recordName(step))} gets ${grants.join(', ')}`]
      : [];
  });
}

/** 'caution: add "Bob" looks like "bob"'. */
function lookAlikeTexts({ lookAlikes = [] }: DevicePlan): string[] {
  return lookAlikes.map(({ action, key, others }) => {
    const quoted = (name: string): string => `"${visible(unmistakable(name))}"`;
    return `caution: ${action} ${quoted(key)} looks like ${others.map(quoted).join(', ')}`;
  });
}

function stepTail(step: Step): string {
  if (step.action === 'delete') return '';
  return step.action === 'add' ? addedText(step) : changesText(step);
}

/** " (first_name=Carol) (filled in: lang=de, most common here)": what was asked for, and what was not. */
function addedText(step: Step): string {
  const given = Object.keys(step.asked).filter((field) => field !== step.keyField);
  const asked = given.length === 0 ? '' : ` (${saidText(step, given)})`;
  return asked + filledText(step);
}

/** " (filled in: lang=de, most common here)": what nobody asked for. */
function filledText(step: Step): string {
  const { filled = {} } = step.effects;
  const groups = [...new Set(Object.values(filled))].map((origin) => {
    const fields = Object.keys(filled).filter((field) => filled[field] === origin);
    return ` (filled in: ${saidText(step, fields)}, ${visible(origin)})`;
  });
  return groups.join('');
}

/** "first_name=Carol lang=de"; what only the form needs is sent empty. */
function saidText({ asked, after }: Step, fields: readonly string[]): string {
  const sent = { ...asked, ...after };
  return fields
    .map((field) => `${visible(field)}=${quotedText(field, valueAt(sent, field) ?? '')}`)
    .join(' ');
}

/** ": lang: de -> en, first_name: Bob -> Rob" */
function changesText(step: Step): string {
  const changes = fieldChanges(step).map(({ field, text }) => `${field}: ${text}`);
  return changes.length > 0 ? `: ${changes.join(', ')}` : '';
}

function fieldChanges(step: Step, arrow = '->'): { field: string; text: string }[] {
  const { before, after, asked, removes = [] } = step;
  const wanted = after ?? asked;
  return [...Object.keys(wanted), ...removes]
    .filter((field) => !isEqual(valueAt(before, field), valueAt(wanted, field)))
    .flatMap((field) => changedParts(field, valueAt(before, field), valueAt(wanted, field)))
    .map(({ field, before: held, after: sent }) => {
      const [old, next] = quotedTexts(field, held, sent);
      // Two different secrets look the same when they are masked.
      const isSecret = fieldText(field, sent).startsWith('•••');
      return {
        field: visible(field),
        text: isSecret ? fieldText(field, sent) : `${old} ${arrow} ${next}`,
      };
    });
}

/** ": user carol - lang: sent de, device holds en" */
function settledTail(result: StepResult): string {
  const reasons = reasonsOf(result).join('; ');
  return `: ${visible(recordName(result))}${reasons === '' ? '' : ` - ${reasons}`}`;
}

/** " (lang: de -> en)": the stored and the wanted value if they are the same on all devices. */
function differingText(results: readonly StepResult[]): string {
  const texts = new Set(
    results.map(({ differences = [] }) =>
      differences
        .flatMap((one) => changedParts(one.field, one.held, expectedIn(one).value))
        .map(({ field, before, after }) => {
          const [old, next] = quotedTexts(field, before, after);
          return `${visible(field)}: ${old} -> ${next}`;
        })
        .join(', '),
    ),
  );
  const [only = ''] = texts;
  return texts.size === 1 && only !== '' ? ` (${only})` : '';
}

/** "7 to add · 2 unchanged · 1 differs (lang: de -> en) · 1 not reached" */
export function countLine({ devices }: Plan, style: Style): string {
  const steps = devices.flatMap((device) => device.steps);
  const settled = devices.flatMap((device) => device.settled);
  const parts: string[] = [];
  for (const action of ['add', 'set', 'delete'] as const) {
    const count = steps.filter((step) => step.action === action).length;
    if (count > 0) parts.push(style(WILL[action].tone, `${count} ${WILL[action].verb}`));
  }
  for (const note of grantCounts(steps)) parts.push(style('warning', textOf(note)));
  for (const verdict of VERDICTS) {
    const results = settled.filter((result) => result.verdict === verdict);
    if (results.length > 0) parts.push(`${results.length} ${verdict}${differingText(results)}`);
  }
  const causes = notCoveredBy({ devices }).map(({ error }) => causeText(error));
  for (const cause of new Set(causes)) {
    const count = causes.filter((other) => other === cause).length;
    parts.push(style('bad', `${count} ${cause}`));
  }
  return parts.length > 0 ? parts.join(' · ') : 'nothing to do';
}
