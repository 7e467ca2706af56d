import { stripVTControlCharacters } from 'node:util';
import { UsageError } from '../errors.ts';
import { LESS_INLINE, pagerWords, showInPager, type PagerSetting } from '../os/pager.ts';
import type { Streams } from '../output/streams.ts';
import { visible, widthOf } from '../text/visible.ts';
import { sizeOf, type Host } from './host.ts';

/** Buffers the output of a line and its remarks: longer than the screen, they go to the pager. */
export class PagedOutput {
  readonly #host: Host;
  readonly #words: readonly string[] | undefined;
  #held: { readonly to: 'stdout' | 'stderr'; readonly text: string }[] = [];
  #isLive: boolean;

  constructor(host: Host, setting: PagerSetting) {
    this.#host = host;
    this.#words = pagerWords(host.env, setting);
    this.#isLive = this.#words === undefined;
  }

  streams(streams: Streams): Streams {
    return {
      ...streams,
      out: (text) => this.#write('stdout', text),
      err: (text) => this.#write('stderr', text),
    };
  }

  /** Prints the buffered output and stops buffering: a question follows, or the line was stopped. */
  goLive(): void {
    this.#isLive = true;
    for (const { to, text } of this.#held) this.#host[to].write(text);
    this.#held = [];
  }

  /** Resolves when the user has left the pager. Opens none if `isTyping`: it would take the letters as its keys. */
  async show(isTyping: () => Promise<boolean> = () => Promise.resolve(false)): Promise<void> {
    const text = this.#held.map((part) => (part.to === 'stdout' ? part.text : '')).join('');
    if (this.#words === undefined || fits(text, this.#host.stdout) || (await isTyping())) {
      this.goLive();
      return;
    }
    try {
      await showInPager(text, this.#words, this.#host.env, LESS_INLINE);
      this.#held = this.#held.filter(({ to }) => to === 'stderr');
      this.goLive();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.goLive();
      this.#host.stderr.write(`devsh: ${visible(error.message)}\n`);
    }
  }

  #write(to: 'stdout' | 'stderr', text: string): void {
    if (!this.#isLive && (to === 'stdout' || this.#held.length > 0)) this.#held.push({ to, text });
    else this.#host[to].write(text);
  }
}

/** Whether the text and a prompt below it fit on the screen. */
function fits(text: string, stdout: Host['stdout']): boolean {
  const { rows, columns } = sizeOf(stdout);
  let height = 0;
  for (const line of text.split('\n', rows + 1)) {
    height += Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns));
  }
  // The last line is empty: the prompt appears there.
  return height <= rows;
}
