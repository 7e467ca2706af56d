import { Text } from 'ink';
import { createContext, memo, use } from 'react';
import {
  type Ground,
  joined,
  type Span,
  type Theme,
  type Tone,
  widthOfSpans,
} from '../screen/theme.ts';

/** The colours of the screen. */
export const ThemeContext = createContext<Theme>((_tone, text) => text);

/** The half of the screen that takes keys: the prompt with its questions, or what is above it. */
export const KeysContext = createContext<'prompt' | 'above'>('prompt');

interface LineProps {
  readonly spans: readonly Span[];
  /** Behind the whole line, which is then padded to `width` cells. */
  readonly ground?: Ground | undefined;
  readonly width?: number;
}

/** One line of the screen: a `Text` for each tone. An empty line still takes a row. */
export const Line = memo(function Line({ spans, ground, width = 0 }: LineProps) {
  const theme = use(ThemeContext);
  const left = ground === undefined ? 0 : width - widthOfSpans(spans);
  const blanks = ' '.repeat(Math.max(0, left));
  const all = joined([...spans, { tone: 'plain', text: blanks }]);
  if (all.length === 0) return <Text> </Text>;
  return (
    <Text wrap="truncate">
      {all.map(({ tone, text }, index) => (
        <Text key={index}>{theme(tone, text, ground)}</Text>
      ))}
    </Text>
  );
});

/** Text with some characters in another tone; `letters` in UTF-16 units from 0, ascending. */
export function stressed(text: string, letters: readonly number[]): Span[] {
  const marked = new Set(letters);
  return joined(
    text
      .split('')
      .map((unit, at): Span => ({ tone: marked.has(at) ? 'match' : 'plain', text: unit })),
  );
}

/** A line in one tone. */
export function plainLine(text: string, tone: Tone = 'plain'): readonly Span[] {
  return [{ tone, text }];
}
