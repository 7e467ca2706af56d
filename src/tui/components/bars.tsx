import { Box, Text } from 'ink';
import { use } from 'react';
import { cut, fit, visible, widthOf } from '../../text/visible.ts';
import { SEPARATOR, shownHints, titleLine } from '../screen/bar-lines.ts';
import { joined } from '../table/view.ts';
import { fleetStrip } from '../screen/fleet-strip.ts';
import { contextOf, hasCommandKeys } from '../keys/keymap.ts';
import {
  columnCells,
  FOCUS_MARK,
  inputLine,
  problemLines,
  shownLine,
} from '../prompt/input-line.ts';
import type { LogLine, State } from '../state.ts';
import type { Menu } from '../prompt/prompt-state.ts';
import { LABEL_TONES, painted, type Theme, type Tone, widthOfSpans } from '../screen/theme.ts';
import { usageSpans } from '../prompt/usage-hint.ts';
import { LineMarksContext } from '../terminal/render.ts';
import { quotedKey } from '../../change/plan.ts';
import { ghostOf, isOffering, menuTop } from '../prompt/reduce-prompt.ts';

/** Whether keys go to the table, the view or the form below the title. */
function hasKeys(state: State): boolean {
  const context = contextOf(state);
  return context.startsWith('form') || hasCommandKeys(context);
}

/** The devices with their states, and the title of the table. */
export function Header({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const { left: title, right } = titleLine(state);
  const left = (hasKeys(state) ? FOCUS_MARK : ' ') + title.slice(1);
  const { columns } = state.size;
  const blanks = (used: number): string => ' '.repeat(Math.max(0, columns - used));
  const strip = fleetStrip(state);
  const rest = blanks(widthOfSpans(strip));
  const [place = ''] = left.split(SEPARATOR, 1);
  const gap = right === '' ? '' : blanks(widthOf(left) + widthOf(right));
  return (
    <>
      <Row>
        {painted(
          (tone, text) => theme(tone, text, state.fleet.color ?? 'plain'),
          joined([...strip, { tone: 'plain', text: rest }]),
        )}
      </Row>
      <Row>{theme('heading', place) + left.slice(place.length) + gap + theme('accent', right)}</Row>
    </>
  );
}

/** Those that do nothing now are dimmed, in brackets. While a command is typed, its usage comes first. */
export function Footer({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const usage = state.pendingKeys === undefined ? usageSpans(state) : [];
  const used = widthOfSpans(usage);
  // A blank comes first, and the last cell of the screen stays free.
  const room = state.size.columns - 2 - (used === 0 ? 0 : used + SEPARATOR.length);
  const line = [
    ...(used === 0 ? [] : [painted(theme, usage)]),
    ...shownHints(state, Math.max(0, room)).map(({ text, isDisabled }) =>
      theme(isDisabled ? 'quiet' : 'plain', text),
    ),
  ].join(theme('quiet', SEPARATOR));
  return <Row>{line === '' ? '' : ` ${line}`}</Row>;
}

interface LinesProps {
  readonly lines: readonly LogLine[];
  readonly theme: Theme;
}

/** The last messages. A success is highlighted by its sign alone. */
export function Messages({ lines, theme }: LinesProps) {
  return lines.map(({ tone, text }, index) => {
    const head = tone === 'good' ? text.slice(0, 1) : text;
    return <Row key={index}>{` ${theme(tone, head)}${text.slice(head.length)}`}</Row>;
  });
}

/** A rule, the plan, and the question itself. */
export function QuestionLines({ lines, theme }: LinesProps) {
  return lines.map(({ tone, text }, index) => (
    <Row key={index}>{text.startsWith('──') ? theme(tone, text) : ` ${theme(tone, text)}`}</Row>
  ));
}

/** One line of the screen, already cut; trailing blanks are not sent. An empty one still takes a row. */
export function Row({ children }: { readonly children: string }) {
  const marks = use(LineMarksContext);
  return <Text>{marks.markOf(children.trimEnd())}</Text>;
}

interface PromptProps {
  readonly state: State;
  readonly theme: Theme;
  /** Rows below it. */
  readonly under: number;
}

/** The input line with its menu or problem. */
export function Prompt({ state, theme, under }: PromptProps) {
  const { label, text, color } = inputLine(state);
  const context = contextOf(state);
  const isActive = state.questions.length > 0 || state.focus === 'prompt';
  const tone = isActive ? 'accent' : 'plain';
  const room = state.size.columns - widthOf(label) - widthOf(text) - 1;
  return (
    <>
      <Row>
        {theme(color === undefined ? tone : LABEL_TONES[color], label) +
          (context === 'search' ? withMatch(state, theme, text) : text) +
          (context === 'prompt' || isOffering(state.prompt) ? ghostText(state, theme, room) : '')}
      </Row>
      {under > 0 && (
        <Box flexDirection="column" height={under} flexShrink={0}>
          <Under state={state} theme={theme} under={under} />
        </Box>
      )}
    </>
  );
}

/** The suggested rest of the line, dimmed; in brackets if the theme dims nothing. */
function ghostText({ prompt }: State, theme: Theme, room: number): string {
  const ghost = visible(ghostOf(prompt));
  if (ghost === '' || room < 4) return '';
  const isDimmed = theme('quiet', ghost) !== ghost;
  return isDimmed ? theme('quiet', cut(ghost, room)) : `[${cut(ghost, room - 2)}]`;
}

/** The line that a search found, with the query highlighted. */
function withMatch({ prompt }: State, theme: Theme, text: string): string {
  const query = shownLine(prompt.search?.query ?? '');
  const at = text.toLowerCase().indexOf(query.toLowerCase());
  const letters = at < 0 ? [] : Array.from(query, (_, index) => at + index);
  return stressed(theme, 'match', text, letters);
}

function Under({ state, theme, under }: PromptProps) {
  const { menu, problem } = state.prompt;
  const { columns } = state.size;
  if (menu !== undefined) {
    return menuLines(state, menu, under).map(({ text, letters, isChosen }, index) => (
      <Row key={index}>
        {isChosen
          ? stressed(theme, 'current-match', text, letters, 'chosen')
          : stressed(theme, 'match', text, letters)}
      </Row>
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
  menu: Menu,
  height: number,
): { text: string; letters: readonly number[]; isChosen: boolean }[] {
  const { columns } = state.size;
  const { chosen } = menu;
  const { proposals, start } = menu.completion;
  const first = menuTop(menu, height);
  const texts = proposals.map(({ text }) => visible(quotedKey(text)));
  const widest = Math.min(Math.max(...texts.map(widthOf)), Math.floor(columns / 2));
  const { origin } = inputLine(state);
  const wanted = origin + columnCells(state.prompt.editing.line, start) - 1;
  const indent = Math.max(0, Math.min(wanted, Math.floor(columns / 2) - 10));
  return proposals.slice(first, first + height).map(({ text, summary, letters }, row) => {
    const index = first + row;
    const rest = proposals.length - first - height;
    const isLastOfMore = row === height - 1 && rest > 0;
    const summaryText = summary === undefined ? '' : `  ${visible(summary)}`;
    const more = isLastOfMore ? `  … ${rest} more` : '';
    const line = ` ${fit(texts[index] ?? '', widest)}${summaryText}${more} `;
    const shown = ' '.repeat(indent) + cut(line, columns - indent);
    // If escapes stand for characters, the positions no longer match.
    const isAsTyped = texts[index] === text && widthOf(text) <= widest;
    return {
      text: shown,
      letters: isAsTyped ? letters.map((at) => at + indent + 1) : [],
      isChosen: index === chosen,
    };
  });
}

/** Text with some characters in another tone; `letters` in UTF-16 units from 0, ascending. */
export function stressed(
  theme: Theme,
  tone: Tone,
  text: string,
  letters: readonly number[],
  rest: Tone = 'plain',
): string {
  let styled = '';
  let from = 0;
  for (let at = 0; at < letters.length; at += 1) {
    const start = letters[at] ?? text.length;
    let end = start + 1;
    while (letters[at + 1] === end) {
      at += 1;
      end += 1;
    }
    styled += theme(rest, text.slice(from, start)) + theme(tone, text.slice(start, end));
    from = end;
  }
  return styled + theme(rest, text.slice(from));
}
