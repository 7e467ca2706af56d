import { styleText } from 'node:util';
import type { DevshError } from '../errors.ts';
import type { Output } from '../shell/output.ts';

/** Where text goes, and what is known about who reads it. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `out` is a terminal. */
  readonly isTty: boolean;
  readonly isErrTty: boolean;
  /** The terminal's width in cells. */
  readonly columns: number;
  readonly color: boolean;
  readonly quiet: boolean;
  /** The line that is carried out, where an error may point into it. */
  readonly typed?: TypedLine;
}

/** Turns what one command says into text. */
export interface Writer {
  write(output: Output): void;
  /** The command has ended; `error` is why it ended early. Call once. */
  end(error?: DevshError): void;
}

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

/** What was typed, secrets hidden, and how much room there is to show it. */
export interface TypedLine {
  readonly text: string;
  readonly columns: number;
  /** A mark below the line says nothing then: the column is said in words. */
  readonly isReadAloud: boolean;
}
