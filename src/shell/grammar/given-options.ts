import { oneLine } from '../../device/text.ts';
import { UsageError } from '../../errors.ts';
import { suggest } from '../../suggest.ts';
import { visible } from '../../visible.ts';
import { OPTIONS } from './option-list.ts';
import type { Options, OptionSpec } from './options.ts';
import type { Word } from './parse.ts';

/** An option as it stands in a line. */
export interface GivenOption {
  readonly spec: OptionSpec;
  readonly text: string;
  readonly word: Word;
}

/** Takes the options out of the words; `--` ends them, and so does the line that some commands take. */
export function separate(
  words: readonly Word[],
  takesLine: (first: Word) => boolean = () => false,
): { plain: Word[]; given: GivenOption[] } {
  const plain: Word[] = [];
  const given: GivenOption[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (word.isValue === true) {
      plain.push(word);
      continue;
    }
    if (word.text === '--') return { plain: [...plain, ...words.slice(at + 1)], given };
    if (!word.text.startsWith('-') || word.text === '-') {
      const [first] = plain;
      if (first !== undefined && takesLine(first)) {
        return { plain: [...plain, ...words.slice(at)], given };
      }
      plain.push(word);
    } else if (word.text.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=([^]*))?$/.exec(word.text) ?? [];
      const spec = findOption(name, word);
      if (spec.value === undefined) {
        if (value !== undefined) {
          throw new UsageError(`--${name} takes no value`, { column: word.start });
        }
        given.push({ spec, text: '', word });
      } else if (value !== undefined || spec.isValueOptional === true) {
        given.push({ spec, text: value ?? '', word });
      } else {
        at += 1;
        given.push({ spec, ...valueWord(spec, words[at], word) });
      }
    } else {
      for (const [index, letter] of Array.from(word.text.slice(1)).entries()) {
        const spec = OPTIONS.find(({ short }) => short === letter);
        if (spec === undefined) {
          throw new UsageError(
            `there is no option -${visible(letter)}; a word that begins with "-" goes behind --`,
            { column: word.start },
          );
        }
        if (spec.value === undefined) {
          given.push({ spec, text: '', word });
          continue;
        }
        // -oFILE, or -o FILE
        const joined = word.text.slice(index + 2);
        if (joined === '') at += 1;
        given.push({
          spec,
          ...(joined === '' ? valueWord(spec, words[at], word) : { text: joined, word }),
        });
        break;
      }
    }
  }
  return { plain, given };
}

function valueWord(
  spec: OptionSpec,
  next: Word | undefined,
  option: Word,
): { text: string; word: Word } {
  // `--where --yes` is a forgotten value, not a filter; `--where=--yes` says that it is meant.
  const isOption = OPTIONS.some(({ name }) => next?.text.split('=')[0] === `--${name}`);
  const isForgotten = next?.isValue !== true && (next?.text === '--' || isOption);
  if (next === undefined || isForgotten) {
    const choices = spec.choices === undefined ? '' : `, one of ${spec.choices.join(', ')}`;
    throw new UsageError(
      `--${spec.name} needs a value: --${spec.name} ${spec.value ?? ''}${choices}`,
      { column: option.end + 1 },
    );
  }
  return { text: next.text, word: next };
}

/** Meant six things; each verb that writes says which word of `--allow` is meant. */
export const FORCE: OptionSpec = {
  name: 'force',
  summary: 'Refused: --allow says what is meant',
  group: 'write',
  set: (options) => options,
};

function findOption(name: string, word: Word): OptionSpec {
  if (name === FORCE.name) return FORCE;
  const spec = OPTIONS.find((option) => option.name === name);
  if (spec !== undefined) return spec;
  const names = OPTIONS.map((option) => option.name);
  const suggestions = suggest(name, names).map((other) => `--${other}`);
  const advice = suggestions.length > 0 ? '' : '; "help COMMAND" lists those of a command';
  throw new UsageError(`there is no option --${oneLine(name)}${advice}`, {
    column: word.start,
    suggestions,
  });
}

export function apply({ spec, text, word }: GivenOption, options: Options): Options {
  try {
    return spec.set(options, text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const suggestions = suggest(text, spec.choices ?? []);
    throw new UsageError(`--${spec.name}: ${error.message}`, { column: word.start, suggestions });
  }
}
