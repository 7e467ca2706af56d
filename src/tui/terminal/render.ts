import { Box, render } from 'ink';
import { createContext, createElement, type ReactNode } from 'react';
import { Writable } from 'node:stream';
import type { CursorPosition, Size } from './painter.ts';

/** The part of `Terminal` that a tree is drawn on. */
export interface Screen {
  readonly size: Size;
  paint(frame: string, cursor?: CursorPosition): void;
  /** Calls back after each change of size; returns the function that stops it. */
  onResize(callback: (size: Size) => void): () => void;
}

interface MountedInk {
  /** Shows the last frame again, if only the cursor has moved. */
  refresh(): void;
  unmount(): void;
}

/**
 * Draws a React tree of rows on the whole screen: Ink lays it out, the painter shows it. Each frame gets
 * its cursor position from `cursor`. A component that throws causes an unhandled rejection, which the
 * terminal turns into a clean exit with the stack.
 */
export function mountInk(
  tree: ReactNode,
  screen: Screen,
  cursor: () => CursorPosition | undefined = () => undefined,
): MountedInk {
  const marks = new LineMarks();
  let lastFrame = '';
  let isMounted = true;
  const show = (frame: string): void => {
    // While unmounting, Ink may write another, empty frame.
    if (!isMounted) return;
    lastFrame = marks.restored(frame);
    screen.paint(lastFrame, cursor());
  };
  const filling = (): ReactNode => {
    const { rows: height } = screen.size;
    const box = createElement(Box, { height, flexDirection: 'column' }, tree);
    return createElement(LineMarksContext, { value: marks }, box);
  };
  const sink = new FrameSink(screen.size.rows, show);
  const instance = render(filling(), {
    // Ink's type asks for a terminal; it uses only `write`, `columns` and `rows`.
    stdout: sink as unknown as NodeJS.WriteStream,
    debug: true,
    patchConsole: false,
    exitOnCtrlC: false,
    isScreenReaderEnabled: false,
  });
  // Makes Ink report a component that threw.
  void instance.waitUntilExit();
  const stopResizing = screen.onResize((size) => {
    // Ink ignores resizes in CI; a new render works everywhere.
    sink.rows = size.rows;
    instance.rerender(filling());
  });
  return {
    refresh() {
      screen.paint(lastFrame, cursor());
    },
    unmount() {
      isMounted = false;
      stopResizing();
      instance.unmount();
    },
  };
}

/** The "stdout" of Ink: with `debug: true` it writes whole frames, for `onFrame`; empty writes are no frames. */
class FrameSink extends Writable {
  /** Each line is one mark (`LineMarks`); with more columns Ink would only process blank cells. */
  readonly columns = 1;
  rows: number;
  readonly #onFrame: (frame: string) => void;

  constructor(rows: number, onFrame: (frame: string) => void) {
    super({ decodeStrings: false });
    this.rows = rows;
    this.#onFrame = onFrame;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    if (typeof chunk === 'string' && chunk !== '') this.#onFrame(chunk);
    done();
  }
}

/** The private use area: all lines reach Ink through marks, so these characters mean nothing else. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;
const MARKS = /[\ue000-\uf8ff]/g;

/**
 * Lets lines bypass Ink, which processes every character, at most of the cost of a frame; our lines are
 * cut and coloured already. Ink lays out one mark for each line; the finished frame gets the lines back.
 */
export class LineMarks {
  /** Least recently used first. */
  readonly #marks = new Map<string, string>();
  readonly #lines = new Map<string, string>();

  /** One character, one cell wide. Lines of the last frame keep theirs: there are more marks than rows. */
  markOf(line: string): string {
    const mark = this.#marks.get(line) ?? this.#freeMark();
    this.#marks.delete(line);
    this.#marks.set(line, mark);
    this.#lines.set(mark, line);
    return mark;
  }

  /** Replaces the marks in a frame by their lines. */
  restored(frame: string): string {
    return frame.replace(MARKS, (mark) => this.#lines.get(mark) ?? mark);
  }

  #freeMark(): string {
    const next = FIRST_MARK + this.#marks.size;
    if (next <= LAST_MARK) return String.fromCharCode(next);
    const [[line, mark] = ['', '']] = this.#marks;
    this.#marks.delete(line);
    return mark;
  }
}

/** The marks of the screen that a component is drawn on. */
export const LineMarksContext = createContext(new LineMarks());
