import { Writable } from 'node:stream';
import type { Size } from './painter.ts';

/**
 * The "stdout" that Ink draws to. With `debug: true` Ink writes one whole frame each time, and each
 * goes to `onFrame`; Ink's empty writes (to wait for the stream, to clear nothing) are no frames.
 */
export class FrameSink extends Writable {
  columns: number;
  rows: number;
  readonly #onFrame: (frame: string) => void;

  constructor(size: Size, onFrame: (frame: string) => void) {
    super({ decodeStrings: false });
    this.columns = size.columns;
    this.rows = size.rows;
    this.#onFrame = onFrame;
  }

  resize(size: Size): void {
    this.columns = size.columns;
    this.rows = size.rows;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    if (typeof chunk === 'string' && chunk !== '') this.#onFrame(chunk);
    done();
  }
}
