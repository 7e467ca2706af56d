import type { LogLine } from '../state.ts';
import type { Theme } from '../screen/theme.ts';
import { Row } from './row.tsx';

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
