import { Text } from 'ink';
import { use } from 'react';
import { widthOf } from '../../text/width.ts';
import { deviceBar, titleLine } from '../screen/bar-lines.ts';
import { contextOf, isActedIn } from '../keys/keymap.ts';
import { FOCUS_MARK } from '../prompt/input-line.ts';
import type { LogLine, State } from '../state.ts';
import type { Theme } from '../screen/theme.ts';
import { SEPARATOR, shownHints } from '../keys/footer-hints.ts';
import { usageSpans } from '../prompt/usage-hint.ts';
import { LineMarksContext } from '../terminal/render.ts';

/** Whether keys go to what stands below the title. */
function hasKeys(state: State): boolean {
  const context = contextOf(state);
  return context.startsWith('form') || isActedIn(context);
}

/** The devices with their states, and what the table shows. */
export function Header({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const { left: title, right } = titleLine(state);
  const left = (hasKeys(state) ? FOCUS_MARK : ' ') + title.slice(1);
  const gap = ' '.repeat(Math.max(0, state.size.columns - widthOf(left) - widthOf(right)));
  return (
    <>
      <Row>
        {deviceBar(state)
          .map(({ tone, text }) => theme(tone, text))
          .join('')}
      </Row>
      <Row>{right === '' ? left : left + gap + theme('accent', right)}</Row>
    </>
  );
}

/**
 * The most important keys where the focus is; those that do nothing now are dimmed, in brackets. While a
 * command is typed, first how it goes on.
 */
export function Footer({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const usage = state.pendingKeys === undefined ? usageSpans(state) : [];
  const used = usage.reduce((sum, { text }) => sum + widthOf(text), 0);
  const room = state.size.columns - 1 - (used === 0 ? 0 : used + SEPARATOR.length);
  const line = [
    ...(used === 0 ? [] : [usage.map(({ tone, text }) => theme(tone, text)).join('')]),
    ...shownHints(state, Math.max(0, room)).map(({ text, isDisabled }) =>
      theme(isDisabled ? 'quiet' : 'plain', text),
    ),
  ].join(theme('quiet', SEPARATOR));
  return <Row>{line === '' ? '' : ` ${line}`}</Row>;
}

interface MessagesProps {
  readonly lines: readonly LogLine[];
  readonly theme: Theme;
}

/** What was said last. A good end is stressed by its sign alone. */
export function Messages({ lines, theme }: MessagesProps) {
  return lines.map(({ tone, text }, index) => {
    const head = tone === 'good' ? text.slice(0, 1) : text;
    return <Row key={index}>{` ${theme(tone, head)}${text.slice(head.length)}`}</Row>;
  });
}

interface QuestionLinesProps {
  readonly lines: readonly LogLine[];
  readonly theme: Theme;
}

/** A rule, what is going to happen, and the question itself. */
export function QuestionLines({ lines, theme }: QuestionLinesProps) {
  return lines.map(({ tone, text }, index) => (
    <Row key={index}>{text.startsWith('──') ? theme(tone, text) : ` ${theme(tone, text)}`}</Row>
  ));
}

/** One line of the screen, cut already; blanks at its end are not sent. An empty one still takes its place. */
export function Row({ children }: { readonly children: string }) {
  const marks = use(LineMarksContext);
  return <Text>{marks.markOf(children.trimEnd())}</Text>;
}
