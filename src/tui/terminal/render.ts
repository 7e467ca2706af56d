import { Box, render } from 'ink';
import { createElement, type ReactNode } from 'react';
import { Writable } from 'node:stream';
import type { CursorPosition, Size } from './painter.ts';

/** The part of `Terminal` that a tree is drawn on. */
export interface Screen {
  readonly size: Size;
  paint(frame: string, cursor?: CursorPosition): void;
  /** Calls back after each change of size; returns the function that stops it. */
  onResize(callback: (size: Size) => void): () => void;
}

interface Drawing {
  readonly cursor?: () => CursorPosition | undefined;
  /** The frame in the characters of the theme. */
  readonly spelled?: (frame: string) => string;
}

interface MountedInk {
  /** Shows the last frame again, if only the cursor has moved. */
  refresh(): void;
  unmount(): void;
}

/** Draws a React tree. Ink lays it out; the painter writes a tenth of the bytes of Ink, and leaves no old letters. */
export function mountInk(
  tree: ReactNode,
  screen: Screen,
  { cursor = () => undefined, spelled = (frame) => frame }: Drawing = {},
): MountedInk {
  let lastFrame = '';
  let isMounted = true;
  const show = (frame: string): void => {
    // While unmounting, Ink may write another, empty frame.
    if (!isMounted) return;
    lastFrame = spelled(frame);
    screen.paint(lastFrame, cursor());
  };
  const filling = (): ReactNode => {
    const { rows: height, columns: width } = screen.size;
    return createElement(Box, { width, height, flexDirection: 'column' }, tree);
  };
  // The "stdout" of Ink. With `debug: true`, Ink writes whole frames, and empty texts.
  const frames = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      if (typeof chunk === 'string' && chunk !== '') show(chunk);
      done();
    },
  });
  const sink = Object.assign(frames, screen.size);
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
    Object.assign(sink, size);
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
