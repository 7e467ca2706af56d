import { Box } from 'ink';
import { visible } from '../../visible.ts';
import { cut, fit, widthOf } from '../../output/width.ts';
import { argumentHint } from '../hint.ts';
import { columnCells, inputLine } from '../input-line.ts';
import { contextOf } from '../keymap.ts';
import { problemLines } from '../problem-lines.ts';
import type { Menu, State } from '../state.ts';
import type { Theme } from '../theme.ts';
import { Row } from './row.tsx';

interface PromptProps {
  readonly state: State;
  readonly theme: Theme;
  /** Rows under it. */
  readonly under: number;
}

/** The line that is typed in, and what belongs to it. */
export function Prompt({ state, theme, under }: PromptProps) {
  const { label, text } = inputLine(state);
  const { columns } = state.size;
  const room = columns - widthOf(label) - widthOf(text) - 2;
  const isPrompt = ['prompt', 'menu'].includes(contextOf(state));
  const hint = isPrompt ? cut(argumentHint(state.prompt.editing.line), Math.max(0, room)) : '';
  const isActive = isPrompt || state.questions.length > 0 || state.focus === 'prompt';
  return (
    <>
      <Row>
        {theme(isActive ? 'accent' : 'plain', label) +
          text +
          (room > 8 && hint !== '' ? ` ${theme('quiet', hint)}` : '')}
      </Row>
      {under > 0 && (
        <Box flexDirection="column" height={under} flexShrink={0}>
          <Under state={state} theme={theme} under={under} />
        </Box>
      )}
    </>
  );
}

function Under({ state, theme, under }: PromptProps) {
  const { menu, problem } = state.prompt;
  const { columns } = state.size;
  if (menu !== undefined) {
    return menuLines(state, menu, under).map(({ text, isChosen }, index) => (
      <Row key={index}>{isChosen ? theme('chosen', text) : text}</Row>
    ));
  }
  if (problem === undefined) return null;
  const { origin } = inputLine(state);
  const cells = origin + columnCells(state.prompt.editing.line, problem.column ?? 0);
  const isShown = problem.column !== undefined && cells >= 0 && cells < columns;
  const pointer = isShown ? `${' '.repeat(cells)}^` : '';
  return [
    <Row key="pointer">{theme('bad', pointer)}</Row>,
    ...problemLines(problem, columns)
      .slice(0, under - 1)
      .map((line) => <Row key={line}>{` ${theme('bad', line)}`}</Row>),
  ];
}

/** The proposals around the chosen one, below the word that they would replace. */
function menuLines(
  state: State,
  { completion, chosen }: Menu,
  height: number,
): { text: string; isChosen: boolean }[] {
  const { columns } = state.size;
  const { proposals, start } = completion;
  const first = Math.max(0, Math.min((chosen ?? 0) - height + 1, proposals.length - height));
  const texts = proposals.map(({ text }) => visible(text));
  const widest = Math.min(Math.max(...texts.map(widthOf)), Math.floor(columns / 2));
  const { origin } = inputLine(state);
  const wanted = origin + columnCells(state.prompt.editing.line, start) - 1;
  const indent = Math.max(0, Math.min(wanted, Math.floor(columns / 2) - 10));
  return proposals.slice(first, first + height).map(({ summary }, row) => {
    const index = first + row;
    const rest = proposals.length - first - height;
    const isLastOfMore = row === height - 1 && rest > 0;
    const said = summary === undefined ? '' : `  ${visible(summary)}`;
    const more = isLastOfMore ? `  … ${rest} more` : '';
    const line = ` ${fit(texts[index] ?? '', widest)}${said}${more} `;
    return {
      text: ' '.repeat(indent) + cut(line, columns - indent),
      isChosen: index === chosen,
    };
  });
}
