import { Box } from 'ink';
import { use } from 'react';
import { quotedKey } from '../../change/plan.ts';
import { cut, visible, widthOf } from '../../text/visible.ts';
import { contextOf } from '../keys/keymap.ts';
import { columnCells, inputLine, problemLines, shownLine } from '../prompt/input-line.ts';
import type { Menu } from '../prompt/prompt-state.ts';
import { ghostOf, isOffering } from '../prompt/reduce-prompt.ts';
import { choiceLines } from '../screen/choices.ts';
import { LABEL_TONES, plainLine, type Span, stressed, type TextLine } from '../screen/theme.ts';
import type { State } from '../state.ts';
import { KeysContext, Line, ThemeContext } from './line.tsx';

interface PromptProps {
  readonly state: State;
  /** Rows below the input line. */
  readonly under: number;
}

export function Prompt({ state, under }: PromptProps) {
  const { label, text, color } = inputLine(state);
  const context = contextOf(state);
  const tone = use(KeysContext) === 'prompt' ? 'accent' : 'plain';
  const room = state.size.columns - widthOf(label) - widthOf(text) - 1;
  const hasGhost = context === 'prompt' || isOffering(state.prompt);
  const ghost = useGhost(hasGhost ? visible(ghostOf(state.prompt)) : '', room);
  const spans: Span[] = [
    { tone: color === undefined ? tone : LABEL_TONES[color], text: label },
    ...(context === 'search' ? withMatch(state, text) : plainLine(text)),
    { tone: 'quiet', text: ghost },
  ];
  return (
    <>
      <Line spans={spans} />
      {under > 0 && (
        <Box flexDirection="column" height={under} flexShrink={0}>
          {state.prompt.menu === undefined ? (
            <Problem state={state} under={under} />
          ) : (
            <Proposals state={state} menu={state.prompt.menu} under={under} />
          )}
        </Box>
      )}
    </>
  );
}

/** The suggested rest of the line, dimmed, or in brackets if the theme cannot dim. */
function useGhost(ghost: string, room: number): string {
  const isDimmed = use(ThemeContext)('quiet', 'x') !== 'x';
  if (ghost === '' || room < 4) return '';
  return isDimmed ? cut(ghost, room) : `[${cut(ghost, room - 2)}]`;
}

/** The line that a search found, with the query highlighted. */
function withMatch({ prompt }: State, text: string): TextLine {
  const query = shownLine(prompt.search?.query ?? '');
  const at = text.toLowerCase().indexOf(query.toLowerCase());
  const letters = at < 0 ? [] : Array.from(query, (_, index) => at + index);
  return stressed(plainLine(text), 'match', letters);
}

function Problem({ state, under }: PromptProps) {
  const { columns } = state.size;
  const { problem } = state.prompt;
  if (problem === undefined) return null;
  const cells =
    inputLine(state).origin + columnCells(state.prompt.editing.line, problem.column ?? 0);
  const isShown = problem.column !== undefined && cells >= 0 && cells < columns;
  const lines = [
    isShown ? `${' '.repeat(cells)}^` : '',
    ...problemLines(problem, columns).map((line) => ` ${line}`),
  ];
  return lines
    .slice(0, under)
    .map((line, index) => <Line key={index} spans={plainLine(line, 'bad')} />);
}

interface ProposalsProps extends PromptProps {
  readonly menu: Menu;
}

/** The proposals around the chosen one, below the word that they would replace. */
function Proposals({ state, menu, under }: ProposalsProps) {
  const { columns } = state.size;
  const { proposals, start } = menu.completion;
  const { origin } = inputLine(state);
  const wanted = origin + columnCells(state.prompt.editing.line, start) - 1;
  const indent = Math.max(0, Math.min(wanted, Math.floor(columns / 2) - 10));
  const choices = proposals.map(({ text, summary = '' }) => {
    return { text: visible(quotedKey(text)), summary: visible(summary) };
  });
  const size = { height: under, width: columns - indent };
  return choiceLines(choices, menu.chosen ?? 0, size).map(({ at, line }) => {
    const { text = '', letters = [] } = proposals[at] ?? {};
    // If escapes stand for characters, or the text is cut, the positions do not match.
    const isAsTyped = line.startsWith(` ${text}`);
    return (
      <Box key={at} paddingLeft={indent}>
        <Line
          spans={stressed(plainLine(line), 'match', isAsTyped ? letters.map((one) => one + 1) : [])}
          ground={at === menu.chosen ? 'plain' : undefined}
        />
      </Box>
    );
  });
}
