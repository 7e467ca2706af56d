import { styleText } from 'node:util';

/** What colour may stress; what it means is always said in words or by a sign as well. */
export type Tone = 'heading' | 'good' | 'bad' | 'warning' | 'quiet';

/** Puts text into a tone, or leaves it as it is where there is no colour. */
export type Style = (tone: Tone, text: string) => string;

const FORMATS = {
  heading: 'bold',
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  quiet: 'dim',
} as const;

export function createStyle(hasColor: boolean): Style {
  // Whether there is colour was decided before; `styleText` would ask stdout again.
  return (tone, text) =>
    hasColor && text !== '' ? styleText(FORMATS[tone], text, { validateStream: false }) : text;
}
