/** What has come of an answer that is still on its way. */
export interface Arrived {
  readonly bytes: number;
  /** Records of a JSON list, as far as they are whole; 0 where they cannot be told apart yet. */
  readonly records: number;
}

/** Who waits for less is told nothing. */
const FIRST_MS = 1000;
const EVERY_MS = 500;

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** Tells now and then what has come; its records are counted only for that. */
export class Arrivals {
  readonly #tell: (arrived: Arrived) => void;
  readonly #startedAt = performance.now();
  #toldAt = -Infinity;
  /** Not looked at yet. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  #records = 0;
  /** The brackets that are open. */
  readonly #open: number[] = [];
  /** How many brackets are open around a record: those of the first list that has objects in it. */
  #around: number | undefined;
  #isInText = false;
  #isEscaped = false;

  constructor(tell: (arrived: Arrived) => void) {
    this.#tell = tell;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const now = performance.now();
    if (now - this.#startedAt < FIRST_MS || now - this.#toldAt < EVERY_MS) return;
    this.#toldAt = now;
    for (const one of this.#chunks.splice(0)) for (const byte of one) this.#take(byte);
    this.#tell({ bytes: this.#bytes, records: this.#records });
  }

  #take(byte: number): void {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInText = false;
    } else if (byte === QUOTE) this.#isInText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (byte === OPEN_OBJECT && this.#open.at(-1) === OPEN_LIST)
        this.#around ??= this.#open.length;
      this.#open.push(byte);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      this.#open.pop();
      if (byte === CLOSE_OBJECT && this.#open.length === this.#around) this.#records += 1;
    }
  }
}

/** `12.4 MB, 41,000 users` */
export function arrivedText({ bytes, records }: Arrived, resource: string): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return records === 0 ? size : `${size}, ${records.toLocaleString('en')} ${resource}s`;
}
