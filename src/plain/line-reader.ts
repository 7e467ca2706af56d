import { emitKeypressEvents, type Key } from 'node:readline';
import { graphemeClusters } from '../text/visible.ts';
import { type Host, stopForShell } from './host.ts';

export interface LineQuestion {
  readonly prompt: string;
  /** The displayed line, of the same length; '' for a secret, which is not shown at all. */
  readonly shown: (line: string) => string;
  /** The initial text. Its first line end counts as Enter; the lines behind it follow. */
  readonly typed?: string;
  /** Earlier lines, oldest first. */
  readonly history?: readonly string[];
  /** Completes the line on Tab, or lists candidates. */
  readonly complete?: (line: string) => Promise<{ line: string; listing: readonly string[] }>;
  /** Aborted when the answer is no longer needed. */
  readonly until?: AbortSignal | undefined;
}

/** `rest`: text behind the Enter that came in the same piece, as in a paste, or was typed before. */
export type LineAnswer =
  | { readonly kind: 'line'; readonly text: string; readonly rest: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'end' };

/** Keys that erase within this time are shown as one change. */
const ERASE_MS = 150;

/** Writes only text and line ends; a changed line appears again below. For dumb terminals and screen readers. */
export function readLine(host: Host, question: LineQuestion): Promise<LineAnswer> {
  return new Promise((resolve) => new LineReader(host, question, resolve).start());
}

class LineReader {
  readonly #host: Host;
  readonly #question: LineQuestion;
  readonly #resolve: (answer: LineAnswer) => void;
  #line: string;
  /** The position of the line in the history, and the text typed before. */
  #recalled: { readonly at: number; readonly draft: string } | undefined;
  #eraseTimer: NodeJS.Timeout | undefined;
  /** Keys that wait for completion. */
  #waiting: Key[] | undefined;
  #lastKey: string | undefined;
  #hasEnded = false;
  #rest: string;

  constructor(host: Host, question: LineQuestion, resolve: (answer: LineAnswer) => void) {
    this.#host = host;
    this.#question = question;
    this.#resolve = resolve;
    const [line = '', ...rest] = (question.typed ?? '').split('\n');
    this.#line = line;
    this.#rest = rest.join('\n');
  }

  start(): void {
    const { stdin } = this.#host;
    emitKeypressEvents(stdin);
    stdin.on('keypress', this.#onKeypress);
    stdin.on('end', this.#onEnd);
    this.#question.until?.addEventListener('abort', this.#onAbort);
    stdin.setRawMode?.(true);
    stdin.resume();
    this.#write(this.#question.prompt + this.#shown());
  }

  #finish(answer: LineAnswer): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#eraseTimer);
    // Keys of the same piece are still to come.
    queueMicrotask(() => {
      const { stdin } = this.#host;
      stdin.off('keypress', this.#onKeypress);
      stdin.off('end', this.#onEnd);
      this.#question.until?.removeEventListener('abort', this.#onAbort);
      stdin.setRawMode?.(false);
      stdin.pause();
      this.#resolve(answer.kind === 'line' ? { ...answer, rest: this.#rest } : answer);
    });
  }

  readonly #onEnd = (): void => this.#finish({ kind: 'end' });

  readonly #onAbort = (): void => {
    this.#write('\n');
    this.#finish({ kind: 'cancelled' });
  };

  readonly #onKeypress = (text: string | undefined, key: Key): void => {
    const press = { ...key, sequence: text ?? '' };
    if (this.#waiting === undefined) this.#press(press);
    else this.#waiting.push(press);
  };

  #press(key: Key): void {
    const name = `${key.ctrl === true ? 'ctrl-' : ''}${key.name ?? ''}`;
    const isSecondEnd = name === 'enter' && this.#lastKey === 'return';
    this.#lastKey = name;
    if (isSecondEnd) return;
    const isEnter = name === 'return' || name === 'enter';
    if (this.#hasEnded) {
      this.#rest += isEnter ? '\n' : typedText(key);
      return;
    }
    if (ERASING.has(name)) {
      this.#erase(name);
      return;
    }
    this.#showErased();
    switch (name) {
      case 'return':
      case 'enter':
        this.#write('\n');
        this.#finish({ kind: 'line', text: this.#line, rest: '' });
        break;
      case 'ctrl-c':
        this.#write('^C\n');
        this.#finish({ kind: 'cancelled' });
        break;
      case 'ctrl-d':
        if (this.#line !== '') break;
        this.#write('\n');
        this.#finish({ kind: 'end' });
        break;
      case 'ctrl-z':
        this.#suspend();
        break;
      case 'up':
      case 'ctrl-p':
        this.#recall(-1);
        break;
      case 'down':
      case 'ctrl-n':
        this.#recall(1);
        break;
      case 'ctrl-r':
        this.#search();
        break;
      case 'tab':
        void this.#complete();
        break;
      default:
        this.#type(typedText(key));
    }
  }

  #type(text: string): void {
    const before = this.#shown().length;
    this.#line += text;
    this.#recalled = undefined;
    this.#write(this.#shown().slice(before));
  }

  #erase(name: string): void {
    this.#recalled = undefined;
    if (this.#line === '') return;
    if (name === 'ctrl-u') this.#line = '';
    else if (name === 'ctrl-w') this.#line = this.#line.replace(/\S*\s*$/u, '');
    else this.#line = withoutLast(this.#line);
    clearTimeout(this.#eraseTimer);
    this.#eraseTimer = setTimeout(() => this.#showErased(), ERASE_MS);
  }

  #showErased(): void {
    if (this.#eraseTimer === undefined) return;
    clearTimeout(this.#eraseTimer);
    this.#eraseTimer = undefined;
    this.#showAgain();
  }

  #recall(by: 1 | -1): void {
    const { history = [] } = this.#question;
    const draft = this.#recalled?.draft ?? this.#line;
    const at = (this.#recalled?.at ?? history.length) + by;
    if (at < 0 || at > history.length) return;
    this.#recalled = at === history.length ? undefined : { at, draft };
    this.#line = history[at] ?? draft;
    this.#showAgain();
  }

  /** Recalls the newest line that contains the typed text; repeated, the one before it. */
  #search(): void {
    const { history = [] } = this.#question;
    const draft = this.#recalled?.draft ?? this.#line;
    const end = this.#recalled?.at ?? history.length;
    const at = history.slice(0, end).findLastIndex((line) => line.includes(draft));
    const found = history[at];
    if (found === undefined) return;
    this.#recalled = { at, draft };
    this.#line = found;
    this.#showAgain();
  }

  async #complete(): Promise<void> {
    const { complete } = this.#question;
    if (complete === undefined) return;
    this.#waiting = [];
    const { line, listing } = await complete(this.#line);
    const before = this.#shown().length;
    const goesOn = line.startsWith(this.#line) && listing.length === 0;
    this.#line = line;
    if (goesOn) {
      this.#write(this.#shown().slice(before));
    } else {
      for (const text of listing) this.#write(`\n${text}`);
      this.#showAgain();
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const key of waiting) this.#onKeypress(key.sequence, key);
  }

  #suspend(): void {
    const { stdin } = this.#host;
    this.#write('^Z\n');
    stopForShell(stdin, () => {
      if (this.#hasEnded) return;
      stdin.setRawMode?.(true);
      this.#showAgain();
    });
  }

  #showAgain(): void {
    this.#write(`\n${this.#question.prompt}${this.#shown()}`);
  }

  #shown(): string {
    return this.#question.shown(this.#line);
  }

  #write(text: string): void {
    if (text !== '') this.#host.stderr.write(text);
  }
}

const ERASING: ReadonlySet<string> = new Set(['backspace', 'ctrl-h', 'ctrl-w', 'ctrl-u']);

function withoutLast(line: string): string {
  let last = '';
  for (const { segment } of graphemeClusters(line.slice(-64))) last = segment;
  return line.slice(0, line.length - last.length);
}

/** The text of a key; empty for control keys. */
function typedText({ sequence = '', ctrl, meta }: Key): string {
  if (ctrl === true || meta === true || sequence.startsWith('\x1b')) return '';
  return sequence.replace(/\t/g, ' ').replace(/[\p{Cc}\p{Cs}]/gu, '');
}
