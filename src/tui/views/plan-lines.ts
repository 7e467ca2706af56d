import type { Plan } from '../../change/plan.ts';
import { countLine, type PlanGroup, planGroups } from '../../output/change-text.ts';
import { shortened, visible } from '../../text/visible.ts';
import { rememberedFor } from '../../text/remember.ts';
import { splitFingerprint, wrapText } from '../../text/wrap.ts';
import { plainLine, type TextLine } from '../screen/theme.ts';
import { columnLine, type FittedColumn, fittedColumns, type ListColumn } from './view.ts';
import { quotedText } from '../../output/cells.ts';
import type { LogLine, PlanTexts } from '../state.ts';
import { valueAt } from '../../device/record.ts';
import type { Step } from '../../change/step.ts';

/** A plan as a table: folded, with equal steps of several devices in one row, or device by device. */
export interface PlanView {
  /** `11 to delete`. */
  readonly title: string;
  readonly folded: PlanTexts;
  readonly unfolded: PlanTexts;
}

/** Longer lists of names are cut. */
const MOST_NAMES = 6;

/** A longer key would push the rest of the plan off the screen. */
const LONGEST_HEAD = 200;
/** The longest text of a change. It is enough for a record with many fields. */
const LONGEST_CHANGE = 2_000;

export const plainStyle = (_tone: string, text: string): string => text;

/** With less width, a step has no columns: its parts follow each other. */
const LEAST_TABLE = 70;

/** The columns of a plan: the action and the record, the changes, and the devices. */
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
    // The devices of a delete are all named.
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

/** `lang: de -> en`, or `first_name=Carol lang=de` for a new record. */
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
  const warnings = groups
    .filter(({ kind }) => kind === 'warning')
    .map(({ head, devices, tone }): LogLine => {
      const isEverywhere = devices.length === changed && changed > 1;
      return { tone, text: `! ${head} ${isEverywhere ? `all ${changed}` : namesText(devices)}` };
    });
  const textsOf = (some: readonly PlanGroup[], lost: readonly LogLine[] = []): PlanTexts => ({
    steps: some.filter(({ kind }) => kind === 'step'),
    below: [...some.flatMap(otherLines), ...lost, ...warnings],
  });
  const unfolded = plan.devices.flatMap((one) => planGroups({ ...plan, devices: [one] }));
  const deleted = plan.devices.flatMap(({ device, steps }) =>
    steps.filter(({ action }) => action === 'delete').map((step) => goneLine(step, device.name)),
  );
  return {
    title: countLine({ ...plan, devices: covered }, plainStyle),
    folded: textsOf(groups),
    unfolded: textsOf(unfolded, deleted),
  };
}

/** The line of steps that are settled, or of devices that are not covered; else none. */
function otherLines({ head, tail, devices, tone, kind }: PlanGroup): LogLine[] {
  if (kind !== 'settled' && kind !== 'absent') return [];
  const sign = kind === 'absent' ? '✗' : '=';
  const what = shortened(head, LONGEST_HEAD);
  return [{ tone, text: `${sign} ${what} ${namesText(devices)}${tail}` }];
}

/** The values of a record that is deleted. */
function goneLine({ key, keyField, before = {} }: Step, device: string): LogLine {
  const fields = Object.keys(before)
    .filter((field) => field !== keyField)
    .map((field) => `${visible(field)}=${quotedText(field, valueAt(before, field))}`);
  return { tone: 'quiet', text: `${visible(device)} loses ${visible(key)}: ${fields.join(' ')}` };
}

/** All lines of a plan in this width, to scroll and search in. */
export const planTextLines = rememberedFor(
  ({ steps, below }: PlanTexts, width: number): readonly TextLine[] => {
    const columns = fittedColumns(steps, planColumns(width), width);
    const linesOf = (one: PlanGroup): TextLine[] =>
      width < LEAST_TABLE ? textLines(one, width) : stepLines(one, columns);
    return [...steps.flatMap(linesOf), ...below.flatMap((line) => wrapped(line, width))];
  },
);

/** A step with all of its texts, each wrapped in its column. */
function stepLines(step: PlanGroup, columns: readonly FittedColumn<PlanGroup>[]): TextLine[] {
  const texts = columns.map(({ column, cells }) => wrapText(column.text(step), cells));
  const height = Math.max(...texts.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    columnLine(
      columns,
      (_column, index) => texts[index]?.[row] ?? '',
      (column) => column.tone?.(step),
    ),
  );
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
