import { Text } from 'ink';
import { createContext, memo, use } from 'react';
import { type Ground, joined, type TextLine, type Theme, widthOfSpans } from '../screen/theme.ts';

export const ThemeContext = createContext<Theme>((_tone, text) => text);

/** The half of the screen that takes keys: the prompt with its questions, or the part above it. */
export const KeysContext = createContext<'prompt' | 'above'>('prompt');

interface LineProps {
  readonly spans: TextLine;
  /** The background of the line, which is then padded to `width` cells. */
  readonly ground?: Ground | undefined;
  readonly width?: number;
}

/** One line of the screen. An empty line still takes a row. */
export function Line({ spans, ground, width = 0 }: LineProps) {
  const theme = use(ThemeContext);
  const left = ground === undefined ? 0 : width - widthOfSpans(spans);
  const blanks = ' '.repeat(Math.max(0, left));
  const texts = joined([...spans, { tone: 'plain', text: blanks }]).map(({ tone, text }) =>
    theme(tone, text, ground),
  );
  return <Coloured text={texts.join('')} />;
}

/** One `Text` that contains its colours. With a nested `Text` for each colour, Ink takes several times as long. */
const Coloured = memo(function Coloured({ text }: { readonly text: string }) {
  return <Text wrap="truncate">{text === '' ? ' ' : text}</Text>;
});
