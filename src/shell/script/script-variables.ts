import { redact } from '../../device/redact.ts';
import { mayBeSecretField } from '../../device/secret-fields.ts';
import { oneLine } from '../../text/one-line.ts';
import { UsageError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import type { Word } from '../grammar/parse.ts';

const NAME = /^[A-Za-z_]\w*$/;

/** Variables of a script that are not given with it come from the environment under this name. */
const PREFIX = 'DEVSH_VAR_';

/** The values of `${NAME}` in a script, and which of them were asked for. */
export class Variables {
  readonly #given: ReadonlyMap<string, string>;
  readonly #environment: (name: string) => string | undefined;
  readonly #asked = new Set<string>();
  readonly #secrets = new Set<string>();

  /**
   * @param words `NAME=VALUE`, as given behind the file
   * @throws UsageError for a word that is none, and for a name that is given twice
   */
  constructor(words: readonly Word[], environment: (name: string) => string | undefined) {
    const given = new Map<string, string>();
    for (const { text, start: column } of words) {
      const at = text.indexOf('=');
      const name = text.slice(0, at);
      if (at < 1 || !NAME.test(name)) {
        throw new UsageError(`"${oneLine(text)}" is not NAME=VALUE`, { column });
      }
      if (given.has(name)) throw new UsageError(`${name} is given twice`, { column });
      given.set(name, text.slice(at + 1));
    }
    this.#given = given;
    this.#environment = environment;
  }

  /**
   * What stands for `${inner}`: `NAME`, or `NAME:-default` for one that is not set or empty.
   *
   * @param column where it begins in its line
   */
  readonly valueOf = (inner: string, column: number): string => {
    const [, name = '', fallback] = /^([^:]*?)(?::-(.*))?$/s.exec(inner) ?? [];
    if (!NAME.test(name)) {
      throw new UsageError(
        `"\${${oneLine(inner)}}" is no variable: it is \${NAME} or \${NAME:-default}, and \\\${ where none is meant`,
        { column },
      );
    }
    this.#asked.add(name);
    const value = this.#given.get(name) ?? this.#environment(PREFIX + name);
    if (value !== undefined && mayBeSecretField(name)) this.#secrets.add(value);
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value !== undefined) return value;
    throw new UsageError(
      `\${${name}} has no value: say ${name}=… behind the file, set ${PREFIX}${name}, ` +
        `or write \${${name}:-default}`,
      { column, suggestions: suggest(name, [...this.#given.keys()]).map((one) => `\${${one}}`) },
    );
  };

  /** `text` without the values of variables that are called like a secret: `${password}`. */
  readonly hidden = (text: string): string => redact(text, [...this.#secrets]);

  /** Throws a `UsageError` for a value that the script never asked for: most often a slip. */
  refuseUnused(words: readonly Word[]): void {
    const unused = words.find(({ text }) => !this.#asked.has(text.slice(0, text.indexOf('='))));
    if (unused === undefined) return;
    const name = unused.text.slice(0, unused.text.indexOf('='));
    throw new UsageError(`the script has no \${${name}}`, {
      column: unused.start,
      suggestions: suggest(name, [...this.#asked]).map((one) => `${one}=`),
    });
  }
}
