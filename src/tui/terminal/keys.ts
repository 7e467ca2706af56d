import { emitKeypressEvents, type Key } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import { InputDecoder, InputSplitter, type InputToken, type Unfinished } from './input.ts';

interface KeyPress {
  readonly kind: 'key';
  /** The lower-case character, or `enter`, `tab`, `escape`, `backspace`, `space`, `up`, `pageup`, `f1`... */
  readonly name: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
  /** The typed text; '' for keys without text. */
  readonly text: string;
  /** For Alt with a key, the key alone. Terminals send the same bytes if the user presses Esc and then the key. */
  readonly afterEscape?: KeyPress;
}

/** One whole paste; line ends are `\n`, other control characters are unchanged. */
interface Paste {
  readonly kind: 'paste';
  readonly text: string;
}

export type KeyEvent = KeyPress | Paste;

/** The part of a readable stream that keys are read from. */
type KeySource = Pick<Readable, 'on' | 'off' | 'resume' | 'pause'>;

export interface KeyReaderOptions {
  /** How long ESC may wait for the rest of a sequence before it is the Escape key. */
  readonly escapeTimeoutMs?: number;
  /** How long to wait for the end of a paste. */
  readonly pasteTimeoutMs?: number;
  /** The terminal's report of its background colour. */
  readonly onBackground?: (color: string) => void;
}

/** ESC with more than one character cannot be typed keys, so it gets more time. */
const SEQUENCE_TIMEOUT_MS = 500;

/** The response to OSC 11, as in xterm's ctlseqs. */
const BACKGROUND_REPORT = /^\x1b\]11;([\w:/]{1,40})(?:\x07|\x9c|\x1b\\)$/;

/** Reads keys and the background colour from bytes; drops other reports of the terminal. Units may be split anywhere. */
export class KeyReader {
  readonly #stdin: KeySource;
  readonly #onKey: (event: KeyEvent) => void;
  readonly #onBackground: KeyReaderOptions['onBackground'];
  readonly #timeouts: Readonly<Record<Exclude<Unfinished, 'nothing'>, number>>;
  readonly #splitter = new InputSplitter();
  readonly #sequences = new PassThrough();
  #decoder = new InputDecoder();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(stdin: KeySource, onKey: (event: KeyEvent) => void, options: KeyReaderOptions = {}) {
    this.#stdin = stdin;
    this.#onKey = onKey;
    this.#onBackground = options.onBackground;
    this.#timeouts = {
      escape: options.escapeTimeoutMs ?? 50,
      sequence: SEQUENCE_TIMEOUT_MS,
      paste: options.pasteTimeoutMs ?? 3000,
    };
    // Node knows the key sequences of xterm, rxvt, PuTTY, Cygwin and the Linux console.
    emitKeypressEvents(this.#sequences);
    this.#sequences.on('keypress', (_text: unknown, key: Key) => {
      const { name, ctrl = false, meta = false, shift = false } = key;
      if (name === undefined || name === 'undefined') return;
      this.#onKey(press(name, { ctrl, meta, shift }));
    });
  }

  start(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#decoder = new InputDecoder();
    this.#stdin.on('data', this.#onData);
    this.#stdin.resume();
  }

  stop(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    clearTimeout(this.#timer);
    this.#splitter.flush();
    this.#stdin.off('data', this.#onData);
    this.#stdin.pause();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    clearTimeout(this.#timer);
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk);
    this.#emit(this.#splitter.push(text));
    const { unfinished } = this.#splitter;
    if (unfinished === 'nothing' || !this.#isReading) return;
    this.#timer = setTimeout(() => this.#emit(this.#splitter.flush()), this.#timeouts[unfinished]);
  };

  #emit(tokens: readonly InputToken[]): void {
    for (const token of tokens) {
      if (token.kind === 'paste') {
        this.#deliver({ kind: 'paste', text: token.text.replace(/\r\n?/g, '\n') });
      } else if (token.kind === 'text') {
        for (const character of token.text) this.#deliver(fromCharacter(character, false));
      } else if (READLINE_SEQUENCE.test(token.text)) {
        if (this.#isReading) this.#sequences.emit('data', token.text);
      } else {
        const [, background] = BACKGROUND_REPORT.exec(token.text) ?? [];
        if (background !== undefined) this.#onBackground?.(background);
        this.#deliver(fromSequence(token.text));
      }
    }
  }

  #deliver(event: KeyEvent | undefined): void {
    // An earlier key may have stopped the reader: the rest is dropped.
    if (event !== undefined && this.#isReading) this.#onKey(event);
  }
}

/** Matches the sequences that readline decodes completely. Of others it would type the rest as text. */
const READLINE_SEQUENCE =
  /^\x1b(?:O\d?[A-Za-z]|\[\[[A-E]|\[\d{1,2}(?:;\d)?[~^$]|\[(?:1;\d|\d)?[A-HJ-LNP-Za-hj-lp-su-z])$/;

/** Matches the keys of xterm and kitty with all modifiers: `CSI code ; modifiers u`. */
const CODE_SEQUENCE = /^\x1b\[(?:(\d{1,7})(?:;(\d{1,3}))?u|27;(\d{1,3});(\d{1,7})~)$/;

function fromSequence(sequence: string): KeyPress | undefined {
  if (sequence === '\x1b') return press('escape');
  const [, code, modifiers, otherModifiers, otherCode] = CODE_SEQUENCE.exec(sequence) ?? [];
  const point = Number(code ?? otherCode ?? NaN);
  if (point <= 0x10ffff) {
    const bits = Number(modifiers ?? otherModifiers ?? 1) - 1;
    const base = fromCharacter(
      point === 27 ? '\x1b' : String.fromCodePoint(point),
      (bits & 2) !== 0,
    );
    if (base === undefined) return undefined;
    const ctrl = base.ctrl || (bits & 4) !== 0;
    return { ...base, ctrl, shift: base.shift || (bits & 1) !== 0, text: ctrl ? '' : base.text };
  }
  const second = sequence.slice(1);
  if (!/^.$/su.test(second)) return undefined;
  const [event, afterEscape] = [fromCharacter(second, true), fromCharacter(second, false)];
  return event && afterEscape && { ...event, afterEscape };
}

const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
  '\x1b': 'escape',
};

function fromCharacter(character: string, meta: boolean): KeyPress | undefined {
  const name = NAMED_CHARACTERS[character];
  if (name !== undefined) return press(name, { meta });
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return press('space', { meta, ctrl: true });
  if (code < 0x20) {
    return press(String.fromCharCode(code + 0x40).toLowerCase(), { meta, ctrl: true });
  }
  if (code >= 0x80 && code < 0xa0) return undefined;
  const lower = character.toLowerCase();
  return press(character === ' ' ? 'space' : lower, {
    meta,
    shift: character !== lower,
    text: meta ? '' : character,
  });
}

function press(name: string, rest: Partial<Omit<KeyPress, 'kind' | 'name'>> = {}): KeyPress {
  return { kind: 'key', name, ctrl: false, meta: false, shift: false, text: '', ...rest };
}

/** A key's name in the keymap: `ctrl-r`, `alt-b`, `shift-tab`, `G`, `?`, `pageup`. */
export type KeyName = string;

type Combination = Pick<KeyPress, 'name' | 'ctrl' | 'meta' | 'shift'>;

/** The keys that have a name instead of a character. */
export const plainKeyNames: readonly KeyName[] = [
  ...['enter', 'tab', 'escape', 'space', 'backspace', 'delete', 'insert'],
  ...['up', 'down', 'left', 'right', 'home', 'end', 'pageup', 'pagedown', 'clear'],
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
];

export function isKeyName(text: string): boolean {
  const { name, ctrl, shift } = parseKey(text);
  // Terminals send Ctrl-Shift-X as Ctrl-X.
  if (/^[^\s\p{C}]$/u.test(name)) return !(ctrl && shift);
  return plainKeyNames.includes(name);
}

/** Parses `ctrl-`, `alt-` and `shift-` in any order; an upper-case letter means Shift. */
export function parseKey(text: KeyName): Combination {
  const [, prefixes = '', last = text] = /^((?:(?:ctrl|alt|shift)-)*)(.+)$/su.exec(text) ?? [];
  const isCharacter = /^.$/su.test(last);
  const lower = isCharacter ? last.toLowerCase() : last;
  return {
    name: last === ' ' ? 'space' : lower,
    ctrl: prefixes.includes('ctrl-'),
    meta: prefixes.includes('alt-'),
    shift: prefixes.includes('shift-') || last !== lower,
  };
}

/** The name of a key; the inverse of `parseKey`. */
export function keyLabel(key: Combination): KeyName {
  const upper = key.name.toUpperCase();
  const isLetter = /^.$/su.test(key.name) && upper.toLowerCase() === key.name;
  const isUpper = key.shift && isLetter && upper !== key.name && !key.ctrl && !key.meta;
  const prefixes = [key.ctrl && 'ctrl-', key.meta && 'alt-', key.shift && !isUpper && 'shift-'];
  return prefixes.filter((prefix) => prefix !== false).join('') + (isUpper ? upper : key.name);
}

export function matchesKey(event: KeyEvent, name: KeyName): boolean {
  return event.kind === 'key' && keyLabel(event) === name;
}
