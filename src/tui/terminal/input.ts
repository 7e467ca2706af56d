import { StringDecoder } from 'node:string_decoder';

/** A complete unit of terminal input. */
export type InputToken =
  /** Typed characters, also control characters. */
  | { readonly kind: 'text'; readonly text: string }
  /** One escape sequence, or ESC alone. */
  | { readonly kind: 'sequence'; readonly text: string }
  /** One bracketed paste, unchanged. */
  | { readonly kind: 'paste'; readonly text: string };

/** The kind of an incomplete unit. It decides how long to wait for the rest. */
export type Unfinished = 'nothing' | 'escape' | 'sequence' | 'paste';

const ESC = '\x1b';
/** ESC, and the 8-bit forms of ESC and a character: SS3, DCS, SOS, CSI, OSC, PM, APC (ECMA-48, 5.3). */
const SEQUENCE_START = /[\x1b\x8f\x90\x98\x9b\x9d-\x9f]/g;
const PASTE_START = '\x1b[200~';
/** A longer paste is delivered in pieces, so that a paste without an end cannot fill the memory. */
const PASTE_LIMIT = 4 * 1024 * 1024;
/** No response of a terminal is this long; a longer sequence is discarded. */
const SEQUENCE_LIMIT = 64 * 1024;
/** DCS, SOS, OSC, PM and APC: text up to ST or BEL (ECMA-48, 5.6). */
const STRING_INTRODUCERS = 'PX]^_';

/** Decodes UTF-8. A byte 0x80 to 0x9f outside of a character is a control: some terminals respond in 8 bits. */
export class InputDecoder {
  readonly #utf8 = new StringDecoder('utf8');
  /** Number of bytes missing from the last character. */
  #missing = 0;

  decode(chunk: Buffer): string {
    const bytes = Buffer.alloc(chunk.length * 2);
    let length = 0;
    for (const byte of chunk) {
      const isRest = this.#missing > 0 && byte >= 0x80 && byte < 0xc0;
      if (!isRest && byte >= 0x80 && byte < 0xa0) bytes[length++] = 0xc2;
      bytes[length++] = byte;
      this.#missing = isRest ? this.#missing - 1 : continuationBytes(byte);
    }
    return this.#utf8.write(bytes.subarray(0, length));
  }
}

/** Number of bytes after the first one of a character. */
function continuationBytes(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/** Splits decoded terminal input into tokens, however it is chunked. Has no timers. */
export class InputSplitter {
  /** An incomplete escape sequence, or ''. */
  #incomplete = '';
  /** The text of an unfinished paste so far. */
  #paste: string | undefined;
  /** The end of the paste in the form of its start, 7-bit or 8-bit: the other form does not end it. */
  #pasteEnd = '';

  get unfinished(): Unfinished {
    if (this.#paste !== undefined) return 'paste';
    if (this.#incomplete === '') return 'nothing';
    return isEscape(this.#incomplete) ? 'escape' : 'sequence';
  }

  push(text: string): InputToken[] {
    const tokens: InputToken[] = [];
    let rest = this.#incomplete + text;
    this.#incomplete = '';
    while (rest !== '') {
      rest = this.#paste === undefined ? this.#split(rest, tokens) : this.#collect(rest, tokens);
    }
    return tokens;
  }

  /** Ends the input: ESC becomes the Escape key, an incomplete sequence is dropped, and a paste ends. */
  flush(): InputToken[] {
    const incomplete = this.#incomplete;
    this.#incomplete = '';
    const paste = this.#paste;
    this.#paste = undefined;
    if (paste !== undefined) return [{ kind: 'paste', text: paste + incomplete }];
    return isEscape(incomplete) ? [{ kind: 'sequence', text: incomplete }] : [];
  }

  /** Splits off tokens up to the start of a paste; returns the rest. */
  #split(text: string, tokens: InputToken[]): string {
    let at = 0;
    while (at < text.length) {
      SEQUENCE_START.lastIndex = at;
      const start = SEQUENCE_START.exec(text)?.index ?? text.length;
      if (start > at) tokens.push({ kind: 'text', text: text.slice(at, start) });
      if (start === text.length) return '';
      const end = sequenceEnd(text, start);
      if (end === undefined) {
        if (text.length - start < SEQUENCE_LIMIT) this.#incomplete = text.slice(start);
        return '';
      }
      const sequence = inSevenBits(text.slice(start, end));
      if (sequence === PASTE_START) {
        this.#paste = '';
        this.#pasteEnd = text.slice(start, end).replace('200', '201');
        return text.slice(end);
      }
      tokens.push({ kind: 'sequence', text: sequence });
      at = end;
    }
    return '';
  }

  /** Adds to the paste up to its end; returns the rest. */
  #collect(text: string, tokens: InputToken[]): string {
    const before = this.#paste ?? '';
    const end = text.indexOf(this.#pasteEnd);
    if (end !== -1) {
      tokens.push({ kind: 'paste', text: before + text.slice(0, end) });
      this.#paste = undefined;
      return text.slice(end + this.#pasteEnd.length);
    }
    const kept = text.length - partAtEnd(text, this.#pasteEnd);
    const paste = before + text.slice(0, kept);
    const isFull = paste.length > PASTE_LIMIT;
    if (isFull) tokens.push({ kind: 'paste', text: paste });
    this.#paste = isFull ? '' : paste;
    this.#incomplete = text.slice(kept);
    return '';
  }
}

/** Length of the longest end of `text` that is a start of `mark`. */
function partAtEnd(text: string, mark: string): number {
  for (let length = mark.length - 1; length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** Whether it is ESC alone or with one character, so that it may be the Escape key, or Alt with a key. */
function isEscape(incomplete: string): boolean {
  return incomplete.startsWith(ESC) && incomplete.length <= 2;
}

function inSevenBits(sequence: string): string {
  if (sequence.startsWith(ESC)) return sequence;
  return ESC + String.fromCharCode(sequence.charCodeAt(0) - 0x40) + sequence.slice(1);
}

/** End of the sequence that begins at `start`; undefined if it is incomplete. */
function sequenceEnd(text: string, start: number): number | undefined {
  const head = inSevenBits(text.slice(start, start + 3));
  const introducer = head.codePointAt(1);
  if (introducer === undefined) return undefined;
  const character = String.fromCodePoint(introducer);
  // Two ESC are two keys: on a slow line Escape and an arrow arrive in one chunk.
  if (character === ESC) return start + 1;
  const body = text.startsWith(ESC, start) ? start + 2 : start + 1;
  if (character === '[') return controlSequenceEnd(text, body);
  if (character === 'O') return singleShiftEnd(text, body);
  if (STRING_INTRODUCERS.includes(character)) return stringEnd(text, body);
  return start + 1 + character.length;
}

function controlSequenceEnd(text: string, body: number): number | undefined {
  let at = body;
  // The Linux console sends F1 as `ESC [ [ A`; X10 mouse reports are `ESC [ M` and three characters.
  if (text[at] === '[') return text.length > at + 1 ? at + 2 : undefined;
  if (text[at] === 'M') return text.length > at + 3 ? at + 4 : undefined;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return at;
    if (code >= 0x40) return at + 1;
    // rxvt ends shifted keys with `$`, which elsewhere is an intermediate character.
    if (code === 0x24 && /^\d+$/.test(text.slice(body, at))) return at + 1;
  }
  return undefined;
}

function singleShiftEnd(text: string, body: number): number | undefined {
  const at = /\d/.test(text[body] ?? '') ? body + 1 : body;
  const code = text.charCodeAt(at);
  if (Number.isNaN(code)) return undefined;
  return code < 0x20 || code > 0x7e ? at : at + 1;
}

function stringEnd(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\x07' || character === '\x9c') return at + 1;
    if (character !== ESC) continue;
    if (at + 1 === text.length) return undefined;
    return text[at + 1] === '\\' ? at + 2 : at;
  }
  return undefined;
}
