import {
  type Document,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import type { DevshError } from '../errors.ts';
import type { Note } from '../output/sentences.ts';
import { lineAndColumn } from './one-line.ts';

export type Path = readonly PropertyKey[];

/** The longest number: more digits are no use, and `BigInt` takes quadratic time for them. */
const MAX_DIGITS = 1000;

/** Nested lists or maps, with nothing between the brackets but a name. */
const TOO_DEEP = /(?:[[{][ \t\r\n]*(?:"[^"\n]{0,100}"[ \t]*:[ \t\r\n]*)?){500}/;

type ErrorKind = new (what: Note | string, options: { where: string }) => DevshError;

interface ReadAs {
  readonly readsNull?: boolean;
  readonly readsScalars?: boolean | readonly string[];
}

/** Every plain scalar is text, as in YAML's failsafe schema: `1.0`, `no` and `007` stay as written. */
export class YamlSource {
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #document: Document;
  readonly #kind: ErrorKind;
  /** The name may be written literally or with escapes. */
  readonly #mayHoldProto: boolean;

  /** @param kind of the errors in this kind of file */
  constructor(text: string, file: string, kind: ErrorKind) {
    this.#file = file;
    this.#kind = kind;
    // The parser would take seconds to find this out.
    const deep = TOO_DEEP.exec(text);
    if (deep !== null) {
      const where = `${file}:${lineAndColumn(text, deep.index)}`;
      throw new kind('it is nested too deeply', { where });
    }
    this.#mayHoldProto = text.includes('__proto__') || text.includes('\\');
    // Windows editors put a byte order mark in front. Errors are reported here, not by the library.
    this.#document = parseDocument(text.replace(/^\ufeff/, ''), {
      schema: 'failsafe',
      lineCounter: this.#lines,
      logLevel: 'error',
      // `!!binary` would turn a text into a list of numbers.
      resolveKnownTags: false,
      merge: true,
    });
  }

  /**
   * The content as plain data; undefined for an empty text. Throws an error of `kind`.
   *
   * @param options.readsNull a missing value, `~` and `null` become null, not text
   * @param options.readsScalars also converts numbers and booleans if that loses no character of their
   *   spelling: `1.0`, `007` and `no` stay text. Names: only below these, null included
   */
  data({ readsNull = false, readsScalars = false }: ReadAs = {}): unknown {
    const { errors, warnings } = this.#document;
    const tag = warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
    if (tag) throw this.#errorAt(tag.pos[0], 'devsh knows no YAML tags: write the value itself');
    const [error] = errors;
    if (error?.code === 'MULTIPLE_DOCS') {
      throw this.#errorAt(
        error.pos[0],
        'it has several documents: devsh reads one, so remove "---"',
      );
    }
    if (error) {
      const message = error.message.split(/ at line |:?\n/)[0] ?? '';
      const isTooDeep = message === 'Maximum call stack size exceeded';
      throw this.#errorAt(error.pos[0], isTooDeep ? 'it is nested too deeply' : message);
    }
    if (readsNull || readsScalars !== false) {
      visit(this.#document, {
        Scalar(position, node, above) {
          if (node.type !== 'PLAIN' || position === 'key') return;
          const isBelow = (names: readonly string[]): boolean =>
            above.some((one) => isPair(one) && names.includes(String(nameOf(one.key))));
          if (typeof readsScalars === 'object' && !isBelow(readsScalars)) return;
          const text = node.source ?? '';
          if (/^(?:null|~)?$/i.test(text)) node.value = null;
          else if (readsScalars !== false) node.value = plainValue(text);
        },
      });
    }
    this.#refuseProto();
    try {
      // An empty file, or one of comments only, gives null.
      return this.#document.toJS() ?? undefined;
    } catch (error) {
      // yaml refuses aliases that expand without end.
      throw this.#errorAt(0, error instanceof Error ? error.message : 'cannot be read');
    }
  }

  /** JavaScript gives this name a meaning: in plain objects the field would be lost or do harm. */
  #refuseProto(): void {
    if (!this.#mayHoldProto) return;
    visit(this.#document, {
      Pair: (_position, { key }) => {
        if (!isScalar(key) || key.value !== '__proto__') return;
        throw this.#errorAt(key.range?.[0] ?? 0, '"__proto__" cannot be the name of a field');
      },
    });
  }

  has(path: Path): boolean {
    return this.#document.hasIn(path);
  }

  /** `file:line:column` of the node at `path`, or of the nearest one above it. */
  place(path: Path): string {
    return this.#placeAt(this.#offset(path, 'value'));
  }

  /** `file:line:column: message` for the node at `path`, or for the nearest one above it. */
  error(path: Path, what: Note | string, part: 'key' | 'value' = 'value'): DevshError {
    return this.#errorAt(this.#offset(path, part), what);
  }

  line(path: Path): number {
    return this.#lines.linePos(this.#offset(path, 'value')).line || 1;
  }

  #errorAt(offset: number, what: Note | string): DevshError {
    return new this.#kind(what, { where: this.#placeAt(offset) });
  }

  #placeAt(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.#file}:${line || 1}:${col || 1}`;
  }

  #offset(path: Path, part: 'key' | 'value'): number {
    if (part === 'key') {
      const parent = this.#document.getIn(path.slice(0, -1), true);
      const key = isMap(parent)
        ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === path.at(-1))?.key
        : undefined;
      if (isScalar(key)) return key.range?.[0] ?? 0;
    }
    for (let length = path.length; length >= 0; length -= 1) {
      const node = this.#document.getIn(path.slice(0, length), true) as Node | null | undefined;
      if (node?.range) return node.range[0];
    }
    return 0;
  }
}

function nameOf(key: unknown): unknown {
  return isScalar(key) ? key.value : undefined;
}

/** A number or boolean if its canonical spelling is the text; otherwise the text. */
function plainValue(text: string): string | number | bigint | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  if (!/^-?\d/.test(text)) return text;
  const number = Number(text);
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) {
    return text.length <= MAX_DIGITS && String(BigInt(text)) === text ? BigInt(text) : text;
  }
  return String(number) === text ? number : text;
}
