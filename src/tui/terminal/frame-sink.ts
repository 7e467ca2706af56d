import { Writable } from 'node:stream';

/**
 * The "stdout" that Ink draws to. With `debug: true` Ink writes one whole frame each time, and each
 * goes to `onFrame`; Ink's empty writes (to wait for the stream, to clear nothing) are no frames.
 */
export class FrameSink extends Writable {
  /** Each line is one mark (`LineMarks`); on a wider screen Ink would go through blank cells only. */
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
