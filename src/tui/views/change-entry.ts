import { resourceWords } from '../../shell/commands/index.ts';
import { intervalEnds, authorRunOf } from '../../history/fold-events.ts';
import type { TableOutput } from '../../shell/output.ts';
import { fieldText, MOST_ON_SCREEN } from '../../output/cells.ts';
import { lineOf, quoteWord } from '../../text/words.ts';
import type { TimeLineEntry } from '../state.ts';
import type { ListColumn } from './view.ts';

/** The rows of `changes` with their events. */
export function entriesOf({ rows, changes = [] }: TableOutput): TimeLineEntry[] {
  return changes.flatMap((change, index) => {
    const row = rows[index];
    if (row === undefined) return [];
    const text = (field: string): string => fieldText(field, row[field], MOST_ON_SCREEN);
    const [on, what, by] = [text('on'), text('what'), text('by')];
    const [begin = '…', end] = intervalEnds(change, new Date());
    const when = `${begin} – ${end}`;
    return [
      { id: [change.before, change.devices[0], what, by].join('\n'), when, on, what, by, change },
    ];
  });
}

function column(field: 'when' | 'on' | 'what' | 'by', most: number, rank: number) {
  const text = (entry: TimeLineEntry): string => entry[field];
  return { title: field.toUpperCase(), text, most, rank } as const;
}

export const ENTRY_COLUMNS: readonly ListColumn<TimeLineEntry>[] = [
  { ...column('when', 36, 1), title: 'BETWEEN', least: 12 },
  column('on', 18, 2),
  { ...column('what', Infinity, 0), least: 24, isFilling: true },
  { ...column('by', 40, 3), least: 16 },
];

/** `user restore bob --at … --on fw1,fw2`: the line that takes a change of a record back, or why there is none. */
export function restoreOf({
  change,
}: TimeLineEntry): { line: string; reason?: undefined } | { line?: undefined; reason: string } {
  const [event] = change.events;
  if (!('key' in event)) return { reason: 'this is no change of a record' };
  const [after, before] = [
    Math.max(...change.events.map((one) => one.after ?? Infinity)),
    Math.min(...change.events.map((one) => one.before)) - 1,
  ];
  if (after === Infinity) return { reason: 'what was before its first reading is not known' };
  const run = authorRunOf(event);
  if (run === undefined && before < after)
    return { reason: 'no reading of all these devices is before it: restore them one by one' };
  const { kind, resource } = event;
  const key = event.id?.text ?? event.key;
  const at = run ?? new Date(before).toISOString();
  const options = [
    `--at ${at}`,
    ...(kind === 'added' ? ['--prune'] : []),
    `--on ${quoteWord(change.devices.join(','))}`,
  ];
  const words = key === '' ? [] : [quoteWord(key)];
  return { line: lineOf(`${resourceWords(resource)} restore`, words, options) };
}
