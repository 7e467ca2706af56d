/** A piece of what the terminal sent, cut where its meaning ends. */
export type InputToken =
  /** Characters typed one by one, control characters among them. */
  | { readonly kind: 'text'; readonly text: string }
  /** One whole escape sequence, or ESC alone. */
  | { readonly kind: 'sequence'; readonly text: string }
  /** One whole bracketed paste, as it came. */
  | { readonly kind: 'paste'; readonly text: string };

/** What has begun and not ended: says how long it is worth waiting for the rest. */
export type Unfinished = 'nothing' | 'escape' | 'sequence' | 'paste';

const ESC = '\x1b';
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
/** A longer paste is handed on in pieces, so that a terminal that never ends it cannot fill the memory. */
const PASTE_LIMIT = 4 * 1024 * 1024;
/** No answer of a terminal is this long; what is gets thrown away. */
const SEQUENCE_LIMIT = 64 * 1024;
/** DCS, SOS, OSC, PM and APC: text up to ST or BEL (ECMA-48, 5.6). */
const STRING_INTRODUCERS = 'PX]^_';

/** Cuts decoded terminal input into tokens, wherever the chunks were cut. Keeps no time of its own. */
export class InputSplitter {
  /** An escape sequence without its end, or ''. */
  #held = '';
  /** The pieces of a paste that is going on. */
  #paste: string[] | undefined;
  #pasteLength = 0;

  get unfinished(): Unfinished {
    if (this.#paste !== undefined) return 'paste';
    if (this.#held === '') return 'nothing';
    return this.#held.length <= 2 ? 'escape' : 'sequence';
  }

  push(text: string): InputToken[] {
    const tokens: InputToken[] = [];
    let rest = this.#held + text;
    this.#held = '';
    while (rest !== '') {
      rest = this.#paste === undefined ? this.#split(rest, tokens) : this.#collect(rest, tokens);
    }
    return tokens;
  }

  /** The rest will not come: ESC becomes the Escape key, half a sequence is dropped, a paste ends. */
  giveUp(): InputToken[] {
    const held = this.#held;
    this.#held = '';
    if (this.#paste !== undefined) {
      this.#paste.push(held);
      return [{ kind: 'paste', text: this.#takePaste(undefined) }];
    }
    return held !== '' && held.length <= 2 ? [{ kind: 'sequence', text: held }] : [];
  }

  /** Takes tokens off the front up to the start of a paste; returns what follows it. */
  #split(text: string, tokens: InputToken[]): string {
    let at = 0;
    while (at < text.length) {
      const escape = text.indexOf(ESC, at);
      const plainEnd = escape === -1 ? text.length : escape;
      if (plainEnd > at) tokens.push({ kind: 'text', text: text.slice(at, plainEnd) });
      if (escape === -1) return '';
      const end = sequenceEnd(text, escape);
      if (end === undefined) {
        if (text.length - escape < SEQUENCE_LIMIT) this.#held = text.slice(escape);
        return '';
      }
      const sequence = text.slice(escape, end);
      if (sequence === PASTE_START) {
        this.#paste = [];
        this.#pasteLength = 0;
        return text.slice(end);
      }
      tokens.push({ kind: 'sequence', text: sequence });
      at = end;
    }
    return '';
  }

  /** Adds to the paste up to its end; returns what follows it. */
  #collect(text: string, tokens: InputToken[]): string {
    const paste = this.#paste ?? [];
    const end = text.indexOf(PASTE_END);
    if (end !== -1) {
      paste.push(text.slice(0, end));
      tokens.push({ kind: 'paste', text: this.#takePaste(undefined) });
      return text.slice(end + PASTE_END.length);
    }
    const kept = text.length - partOfPasteEnd(text);
    paste.push(text.slice(0, kept));
    this.#pasteLength += kept;
    this.#held = text.slice(kept);
    if (this.#pasteLength > PASTE_LIMIT) {
      tokens.push({ kind: 'paste', text: this.#takePaste([]) });
    }
    return '';
  }

  #takePaste(next: string[] | undefined): string {
    const text = this.#paste?.join('') ?? '';
    this.#paste = next;
    this.#pasteLength = 0;
    return text;
  }
}

/** How many characters at the end of `text` may be the start of the mark that ends a paste. */
function partOfPasteEnd(text: string): number {
  for (let length = PASTE_END.length - 1; length > 0; length--) {
    if (text.endsWith(PASTE_END.slice(0, length))) return length;
  }
  return 0;
}

/** Where the sequence that starts with the ESC at `start` ends; undefined while that is open. */
function sequenceEnd(text: string, start: number): number | undefined {
  const introducer = text.codePointAt(start + 1);
  if (introducer === undefined) return undefined;
  const character = String.fromCodePoint(introducer);
  // Two ESC are two keys: on a slow line Escape and an arrow come in one chunk.
  if (character === ESC) return start + 1;
  if (character === '[') return controlSequenceEnd(text, start);
  if (character === 'O') return singleShiftEnd(text, start);
  if (STRING_INTRODUCERS.includes(character)) return stringEnd(text, start + 2);
  return start + 1 + character.length;
}

function controlSequenceEnd(text: string, start: number): number | undefined {
  let at = start + 2;
  // The Linux console sends F1 as `ESC [ [ A`; X10 mouse reports are `ESC [ M` and three characters.
  if (text[at] === '[') return text.length > at + 1 ? at + 2 : undefined;
  if (text[at] === 'M') return text.length > at + 3 ? at + 4 : undefined;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return at;
    if (code >= 0x40) return at + 1;
    // rxvt ends shifted keys with `$`, which elsewhere only announces the last character.
    if (code === 0x24 && /^\d+$/.test(text.slice(start + 2, at))) return at + 1;
  }
  return undefined;
}

function singleShiftEnd(text: string, start: number): number | undefined {
  let at = start + 2;
  if (/\d/.test(text[at] ?? '')) at++;
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
