import { Box, Text } from 'ink';
import { use } from 'react';
import { GAP } from '../../text/fit-columns.ts';
import { shortReason, visible, widthOf } from '../../text/visible.ts';
import { shareBar } from '../screen/progress.ts';
import { plainLine, widthOfSpans } from '../screen/theme.ts';
import type { RollOutState } from '../state.ts';
import { causesOf, countsOf, fatesOf, timesText } from '../views/roll-out.ts';
import { Line, ThemeContext } from './line.tsx';

interface RollOutGridProps {
  readonly rollOut: RollOutState;
  readonly width: number;
  readonly height: number;
}

/** More rows of names would leave no room for the failures. */
const MOST_ROWS = 6;

/** The line, its bar with the counts, a cell for each device if they fit, and below them what is not as planned. */
export function RollOutGrid({ rollOut, width, height }: RollOutGridProps) {
  const theme = use(ThemeContext);
  const room = width - 2;
  const fates = fatesOf(rollOut);
  const cell = Math.max(...fates.map(({ name }) => widthOf(visible(name)))) + GAP.length + 2;
  const inRow = Math.max(1, Math.floor(room / cell));
  const free = height - 3;
  const isNamed = fates.length <= inRow * Math.min(MOST_ROWS, free);
  const rows = Math.ceil(fates.length / (isNamed ? inRow : room));
  const hasGrid = rows <= free;
  const counts = countsOf(rollOut);
  const words = `  ${counts.done} done · ${counts.failed} not as planned · ${counts.left} left`;
  const widest = Math.min(40, Math.floor(room / 3), room - words.length);
  const head = [...shareBar(counts, Math.max(1, widest)), ...plainLine(words)];
  const isHeld = !['running', 'ended'].includes(rollOut.control);
  const times = plainLine(timesText(rollOut), isHeld ? 'warning' : 'plain');
  const isOneRow = widthOfSpans([...head, ...times]) + 3 <= room;
  const causes = causesOf(rollOut);
  const most = Math.max(0, hasGrid ? free - rows : free);
  const more = { tone: 'quiet', text: `… ${causes.length - most + 1} more: m` } as const;
  const shown = causes.length > most ? [...causes.slice(0, most - 1), more].slice(0, most) : causes;
  return (
    <Box flexDirection="column" paddingX={1} height={height} overflow="hidden">
      <Line spans={plainLine(rollOut.line, 'quiet')} />
      <Line spans={isOneRow ? [...head, ...plainLine(' · '), ...times] : head} />
      {!isOneRow && <Line spans={times} />}
      {!hasGrid ? null : isNamed ? (
        <Box flexWrap="wrap">
          {fates.map(({ sign, tone, name }) => (
            <Box key={name} width={cell}>
              <Line spans={plainLine(`${GAP}${sign} ${visible(name)}`, tone)} />
            </Box>
          ))}
        </Box>
      ) : (
        <Text wrap="hard">{fates.map(({ sign, tone }) => theme(tone, sign)).join('')}</Text>
      )}
      {shown.map(({ tone, text }) => (
        <Line key={text} spans={plainLine(shortReason(text, room), tone)} />
      ))}
    </Box>
  );
}
