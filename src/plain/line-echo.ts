import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { hideSecrets } from '../shell/hide-secrets.ts';

/**
 * What readline draws, without the secrets in the line that is typed. It draws either the whole
 * line behind the prompt, or what has just been typed at its end.
 */
export class LineEcho extends Writable {
  readonly #target: Writable & { readonly columns?: number };
  readonly #typed: () => string;

  constructor(target: Writable, typed: () => Interface | undefined) {
    super({ decodeStrings: false });
    this.#target = target;
    this.#typed = () => typed()?.line ?? '';
  }

  /** Readline wraps the line by it. */
  get columns(): number | undefined {
    return this.#target.columns;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = chunk.toString();
    const line = this.#typed();
    const hidden = hideSecrets(line);
    if (line !== '' && text.endsWith(line)) {
      this.#target.write(text.slice(0, text.length - line.length) + hidden);
    } else if (line.endsWith(text)) {
      this.#target.write(hidden.slice(hidden.length - text.length));
    } else {
      this.#target.write(text);
    }
    done();
  }
}
