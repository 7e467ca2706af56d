import { type Plan, recordName } from '../../change/plan.ts';
import { withoutDevice } from '../../output/streams.ts';
import {
  countLine,
  type PlanGroup,
  planGroups,
  reasonsOf,
  VERDICT_MARKS,
} from '../../output/change-text.ts';
import { shortened, visible } from '../../text/visible.ts';
import { splitFingerprint, wrapText } from '../../text/wrap.ts';
import { plainLine, type TextLine } from '../screen/theme.ts';
import { fittedColumns, type ListColumn } from './view.ts';
import { quotedText } from '../../output/cells.ts';
import type { LogLine } from '../state.ts';
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

/** The width below which the parts of a step stand one after the other. */
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
  return `${Object.hasOwn(SIGNS, action) ? SIGNS[action as keyof typeof SIGNS] : ' '} ${head}`;
}

export function planView(plan: Plan): PlanView {
  // The question says how many devices the plan does not cover.
  const covered = plan.devices.filter(({ error }) => error === undefined);
  const changed = covered.filter(({ steps }) => steps.length > 0).length;
  const groups = planGroups(plan);
  const warnings = groups.filter(({ kind }) => kind === 'warning');
  return {
    title: countLine({ ...plan, devices: covered }, plainStyle),
    folded: (width) => tableLines(groups, width),
    unfolded: (width) => [
      ...tableLines(
        plan.devices.flatMap((one) => planGroups({ ...plan, devices: [one] })),
        width,
      ),
      ...plan.devices.flatMap(({ device, steps }) =>
        steps
          .filter(({ action }) => action === 'delete')
          .flatMap((step) => goneLines(step, device.name, width)),
      ),
    ],
    warnings: warnings.map(({ head, devices, tone }) => {
      const isEverywhere = devices.length === changed && changed > 1;
      return { tone, text: `! ${head} ${isEverywhere ? `all ${changed}` : namesText(devices)}` };
    }),
  };
}

/** The steps in columns, then what is settled and what is not covered. */
function tableLines(groups: readonly PlanGroup[], width: number): TextLine[] {
  const of = (kind: PlanGroup['kind']): PlanGroup[] => groups.filter((one) => one.kind === kind);
  const steps = of('step');
  const { lines } = fittedColumns(steps, planColumns(width), width);
  const linesOf = width < LEAST_TABLE ? (one: PlanGroup) => textLines(one, width) : lines;
  const others = [...of('settled'), ...of('absent')].map(({ head, tail, devices, tone, kind }) => {
    const sign = kind === 'absent' ? '✗' : '=';
    return { tone, text: `${sign} ${shortened(head, LONGEST_HEAD)} ${namesText(devices)}${tail}` };
  });
  return [...steps.flatMap(linesOf), ...others.flatMap((one) => wrapped(one, width))];
}

/** What a deleted record holds now. */
function goneLines(
  { key, keyField, before = {} }: Step,
  device: string,
  width: number,
): TextLine[] {
  const fields = Object.keys(before)
    .filter((field) => field !== keyField)
    .map((field) => `${visible(field)}=${quotedText(field, valueAt(before, field))}`);
  const text = `${visible(device)} loses ${visible(key)}: ${fields.join(' ')}`;
  return wrapped({ tone: 'quiet', text }, width);
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

const SIGNS = { add: '+', set: '~', delete: '-' } as const;

/** "✓ add user carol: done on fw1, fw2": equal results in one line, in the order of arrival. */
export function foldResults(results: readonly StepResult[]): LogLine[] {
  const ofRecords = grouped(results, (one) =>
    JSON.stringify([one.action, one.verdict, one.key, whyOf([one, one])]),
  );
  // Joins records with the same result on the same devices, too.
  const lines = grouped([...ofRecords.values()], (some) => {
    const [{ action, verdict }] = some;
    return JSON.stringify([action, verdict, whyOf(some), ...some.map(({ device }) => device.name)]);
  });
  return [...lines.values()].map((groups): LogLine => {
    const [some] = groups;
    const [{ action, resource, verdict }] = some;
    const { mark, tone } = VERDICT_MARKS[verdict];
    const key = groups.map(([one]) => one.key).join(', ');
    const what = `${mark} ${action} ${visible(recordName({ resource, key }))}: ${verdict} on `;
    const why = whyOf(some);
    const tail = why === '' ? '' : ` - ${why}`;
    const names = some.map(({ device }) => device.name);
    const whole = what + names.map(visible).join(', ') + tail;
    return { tone, text: what + namesText(names) + tail, whole };
  });
}

/** The reasons in the words for one device, or for several. */
function whyOf([first, ...others]: readonly [StepResult, ...StepResult[]]): string {
  const why = reasonsOf(first).join('; ');
  return others.length === 0 ? why : withoutDevice(why, first.device);
}
