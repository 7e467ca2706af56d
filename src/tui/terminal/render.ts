import { Box, render } from 'ink';
import { createElement, type ReactNode } from 'react';
import { FrameSink } from './frame-sink.ts';
import { LineMarks, LineMarksContext } from './line-marks.ts';
import type { CursorPosition, Size } from './painter.ts';

/** The part of `Terminal` that a tree is drawn on. */
export interface Screen {
  readonly size: Size;
  paint(frame: string, cursor?: CursorPosition): void;
  /** Calls back after each change of size; returns the way to stop that. */
  onResize(callback: (size: Size) => void): () => void;
}

export interface MountedInk {
  rerender(tree: ReactNode): void;
  /** Shows the last frame again: for a cursor that moved while nothing else changed. */
  refresh(): void;
  unmount(): void;
}

/**
 * Draws a React tree of rows over the whole screen: Ink lays it out, the painter shows it. `cursor` is asked
 * at each frame for the place of the real cursor. A component that throws ends in an unhandled
 * rejection, which the terminal turns into a clean exit with its stack.
 */
export function mountInk(
  tree: ReactNode,
  screen: Screen,
  cursor: () => CursorPosition | undefined = () => undefined,
): MountedInk {
  const marks = new LineMarks();
  let current = tree;
  let lastFrame = '';
  let isMounted = true;
  const show = (frame: string): void => {
    // While unmounting, Ink may write another, empty frame.
    if (!isMounted) return;
    lastFrame = marks.restored(frame);
    screen.paint(lastFrame, cursor());
  };
  const filling = (content: ReactNode): ReactNode => {
    const { rows: height } = screen.size;
    const box = createElement(Box, { height, flexDirection: 'column' }, content);
    return createElement(LineMarksContext, { value: marks }, box);
  };
  const sink = new FrameSink(screen.size.rows, show);
  const instance = render(filling(current), {
    // Ink asks for the type of a terminal and uses `write`, `columns` and `rows` of it.
    stdout: sink as unknown as NodeJS.WriteStream,
    debug: true,
    patchConsole: false,
    exitOnCtrlC: false,
    isScreenReaderEnabled: false,
  });
  // Nobody waits for the end, but only who asks for it hears of a component that threw.
  void instance.waitUntilExit();
  const stopResizing = screen.onResize((size) => {
    // Ink's own resizing is off when it believes to run in CI; new props are laid out everywhere.
    sink.rows = size.rows;
    instance.rerender(filling(current));
  });
  return {
    rerender(next) {
      current = next;
      instance.rerender(filling(current));
    },
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
