import { causeText, type DevicePlan, type Plan, recordName } from '../../change/plan.ts';
import { reasonText, withoutDevice } from '../../output/streams.ts';
import {
  countLine,
  fieldChanges,
  type PlanGroup,
  planGroups,
  reasonsOf,
  settledTail,
  stepHead,
  VERDICT_MARKS,
} from '../../output/change-text.ts';
import { fit, shortened, visible, widthOf } from '../../text/visible.ts';
import { splitFingerprint, wrapText } from '../../text/wrap.ts';
import { plainLine, type TextLine } from '../screen/theme.ts';
import { fittedColumns, type ListColumn } from './view.ts';
import { cellText, quotedText } from '../../output/cells.ts';
import type { LogLine } from '../state.ts';
import type { TableOutput } from '../../shell/output.ts';
import { grouped, valueAt } from '../../device/record.ts';
import type { StepResult } from '../../change/verdict.ts';
import type { Step } from '../../change/step.ts';

/** A plan as a table: equal steps of several devices in one row, or device by device. */
export interface PlanView {
  /** `11 to delete`. */
  readonly title: string;
  readonly folded: (width: number) => readonly TextLine[];
  readonly unfolded: (width: number) => readonly TextLine[];
  /** Below all else, in both views. */
  readonly warnings: readonly LogLine[];
}

/** Longer lists of names are cut. */
const MOST_NAMES = 6;

/** A long key must not push the rest of the plan off the screen. */
const LONGEST_HEAD = 200;
/** More than a plan needs for a record with many fields. */
const LONGEST_CHANGE = 2_000;

export const plainStyle = (_tone: string, text: string): string => text;

/** With less room the parts of a step stand one after the other. */
const LEAST_TABLE = 70;

/** What is done, what changes, and where. */
function planColumns(width: number): readonly ListColumn<PlanGroup>[] {
  const third = Math.floor(width / 3);
  return [
    {
      title: 'RECORD',
      text: ({ head }) => shortened(signed(head.replace(/ on$/, '')), LONGEST_HEAD),
      tone: ({ tone }) => tone,
      most: third,
      rank: 0,
    },
    // What is deleted is named in full.
    {
      title: 'DEVICES',
      text: ({ tail, devices }) =>
        tail === '' ? devices.map(visible).join(', ') : namesText(devices),
      tone: () => 'quiet',
      most: third,
      rank: 1,
    },
    { title: 'CHANGE', text: changeText, most: Infinity, rank: 2, isFilling: true, least: 16 },
  ];
}

/** `lang: de -> en`; `first_name=Carol lang=de` of a new record. */
function changeText({ tail }: PlanGroup): string {
  const text = tail.replace(/^[: ]+/, '').replace(/^\(([^()]*)\)$/, '$1');
  return shortened(text, LONGEST_CHANGE);
}

/** `- delete user bob` */
function signed(head: string): string {
  const [action = ''] = head.split(' ', 1);
  return `${Object.hasOwn(SIGNS, action) ? SIGNS[action as keyof typeof SIGNS].sign : ' '} ${head}`;
}

export function planView(plan: Plan): PlanView {
  // The question says how many devices the plan does not cover.
  const covered = plan.devices.filter(({ error }) => error === undefined);
  const changed = covered.filter(({ steps }) => steps.length > 0).length;
  const groups = planGroups(plan);
  const of = (kind: PlanGroup['kind']): PlanGroup[] => groups.filter((one) => one.kind === kind);
  const others = [...of('settled'), ...of('absent')].map(({ head, tail, devices, tone, kind }) => {
    const sign = kind === 'absent' ? '✗' : '=';
    return { tone, text: `${sign} ${shortened(head, LONGEST_HEAD)} ${namesText(devices)}${tail}` };
  });
  const below = (width: number): readonly TextLine[] =>
    others.flatMap((one) => wrapped(one, width));
  return {
    title: countLine({ ...plan, devices: covered }, plainStyle),
    folded(width) {
      const steps = of('step');
      const { lines } = fittedColumns(steps, planColumns(width), width);
      const linesOf = width < LEAST_TABLE ? (one: PlanGroup) => textLines(one, width) : lines;
      return [...steps.flatMap(linesOf), ...below(width)];
    },
    unfolded: (width) => plan.devices.flatMap(deviceLines).flatMap((line) => wrapped(line, width)),
    warnings: of('warning').map(({ head, devices, tone }) => {
      const isEverywhere = devices.length === changed && changed > 1;
      return { tone, text: `! ${head} ${isEverywhere ? `all ${changed}` : namesText(devices)}` };
    }),
  };
}

/** A step without columns: `~ set user bob on fw1, fw2: lang: de -> en`. */
function textLines({ head, tail, devices, tone }: PlanGroup, width: number): TextLine[] {
  const names = tail === '' ? devices.map(visible).join(', ') : namesText(devices);
  return wrapped({ tone, text: `${shortened(signed(head), LONGEST_HEAD)} ${names}${tail}` }, width);
}

/** A message or a fact of a plan in lines of at most `width` cells. */
export function wrapped({ tone, text }: LogLine, width: number): TextLine[] {
  const shown = splitFingerprint(shortened(text, LONGEST_CHANGE), width);
  return wrapText(shown, width, '  ').map((line) => plainLine(line, tone));
}

/** `fw1, fw2`; `fw1, fw2, fw3 and 47 more` for many names. */
export function namesText(names: readonly string[]): string {
  const shown = names.length > MOST_NAMES ? names.slice(0, 3) : names;
  const rest = names.length - shown.length;
  return shown.map(visible).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function deviceLines(plan: DevicePlan): LogLine[] {
  const { device, steps, settled, error } = plan;
  const what = error === undefined ? `${steps.length + settled.length}` : causeText(error);
  const unit = error !== undefined ? '' : steps.length + settled.length === 1 ? ' step' : ' steps';
  return [
    { tone: 'heading', text: `${visible(device.name)} · ${what}${unit}` },
    ...steps.flatMap(stepLines),
    ...settled.map((result): LogLine => {
      return { tone: 'quiet', text: `  = ${result.verdict}${settledTail(result)}` };
    }),
    ...(error === undefined
      ? []
      : [{ tone: 'bad' as const, text: `  ✗ ${reasonText(error, device)}` }]),
  ];
}

const SIGNS = {
  add: { sign: '+', tone: 'good' },
  set: { sign: '~', tone: 'warning' },
  delete: { sign: '-', tone: 'bad' },
} as const;

/** "~ set user bob", and below it each changed field: "lang  en -> de". */
function stepLines(step: Step): LogLine[] {
  const { sign, tone } = SIGNS[step.action];
  const fields = fieldsOf(step);
  const width = Math.max(0, ...fields.map(({ field }) => widthOf(field)));
  return [
    { tone, text: `  ${sign} ${shortened(stepHead(step), LONGEST_HEAD)}` },
    ...fields.map(({ field, text }): LogLine => {
      return { tone: 'plain', text: `      ${fit(field, width)}  ${text}` };
    }),
  ];
}

function fieldsOf(step: Step): { field: string; text: string }[] {
  const { action, before, after, asked, filled, keyField } = step;
  const value = (record: typeof before, field: string): string =>
    quotedText(field, valueAt(record, field));
  const wanted = after ?? asked;
  switch (action) {
    case 'add':
      return [...new Set([...Object.keys(wanted), ...Object.keys(filled)])]
        .filter((field) => field !== keyField)
        .map((field) => {
          const origin = filled[field];
          const why = origin === undefined ? '' : `  (filled in, ${visible(origin)})`;
          return { field: visible(field), text: value(wanted, field) + why };
        });
    case 'set':
      return fieldChanges(step);
    case 'delete':
      return Object.keys(before ?? {})
        .filter((field) => field !== keyField)
        .map((field) => ({ field: visible(field), text: `${value(before, field)}  (goes)` }));
  }
}

/** What a lockout came to, folded: what is still open with all its devices, then the others. */
export function foldedLockout(output: TableOutput): TableOutput {
  const groups = grouped(output.rows, (row) =>
    JSON.stringify({ ...row, device: undefined, address: undefined }),
  );
  const rows = [...groups.values()].map((some) => {
    const names = some.map(({ device }) => cellText(device));
    const sign = LOCKOUT_SIGNS[cellText(some[0].verdict)];
    const shown = sign === undefined ? names.join(', ') : namesText(names);
    return { ...some[0], device: `${sign ?? VERDICT_MARKS.failed.mark} ${shown}` };
  });
  return { ...output, rows };
}

/** Of what is not open. */
const LOCKOUT_SIGNS: Readonly<Record<string, string>> = {
  disabled: VERDICT_MARKS.done.mark,
  deleted: VERDICT_MARKS.done.mark,
  'no such account': VERDICT_MARKS.unchanged.mark,
};

interface Group {
  readonly result: StepResult;
  /** In the words for one device, and for several. */
  readonly reasons: { readonly one: string; readonly all: string };
  readonly keys: string[];
  readonly devices: string[];
}

/** "✓ add user carol: done on fw1, fw2": equal results in one line, in the order of arrival. */
export function foldResults(results: readonly StepResult[]): LogLine[] {
  // Joins records with the same result on the same devices, too.
  const merged = new Map<string, Group>();
  for (const group of groupsOf(results)) {
    const { action, verdict } = group.result;
    const id = [action, verdict, reasonOf(group), ...group.devices].join('\n');
    const same = merged.get(id);
    if (same === undefined) merged.set(id, group);
    else same.keys.push(...group.keys);
  }
  return [...merged.values()].map(lineOf);
}

/** The results of one record that are the same on several devices. */
function groupsOf(results: readonly StepResult[]): readonly Group[] {
  const found = new Map<string, Group>();
  for (const result of results) {
    const { action, verdict, key, device } = result;
    const one = reasonsOf(result).join('; ');
    const all = withoutDevice(one, device);
    const id = [action, verdict, key, all].join('\n');
    const group = found.get(id);
    if (group !== undefined) group.devices.push(device.name);
    else found.set(id, { result, reasons: { one, all }, keys: [key], devices: [device.name] });
  }
  return [...found.values()];
}

function reasonOf({ reasons, devices }: Group): string {
  return devices.length === 1 ? reasons.one : reasons.all;
}

function lineOf(group: Group): LogLine {
  const { result, keys, devices } = group;
  const { mark, tone } = VERDICT_MARKS[result.verdict];
  const { action, resource, verdict } = result;
  const what = `${action} ${visible(recordName({ resource, key: keys.join(', ') }))}`;
  const why = reasonOf(group);
  const tail = why === '' ? '' : ` - ${why}`;
  const line = (where: string): string => `${mark} ${what}: ${verdict} on ${where}${tail}`;
  return { tone, text: line(namesText(devices)), whole: line(devices.map(visible).join(', ')) };
}
