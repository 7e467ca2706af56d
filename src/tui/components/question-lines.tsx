import type { Theme } from '../theme.ts';
import { Row } from './row.tsx';

interface QuestionLinesProps {
  readonly lines: readonly string[];
  readonly theme: Theme;
}

/** A rule, what is going to happen, and the question itself. */
export function QuestionLines({ lines, theme }: QuestionLinesProps) {
  return lines.map((line, index) => {
    if (index === 0 && line.startsWith('──'))
      return <Row key={index}>{theme('warning', line)}</Row>;
    const isLast = index === lines.length - 1;
    return <Row key={index}>{` ${isLast ? theme('heading', line) : line}`}</Row>;
  });
}
