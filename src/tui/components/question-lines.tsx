import type { LogLine } from '../state.ts';
import type { Theme } from '../screen/theme.ts';
import { Row } from './row.tsx';

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
