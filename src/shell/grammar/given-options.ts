import { oneLine } from '../../text/one-line.ts';
import { UsageError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import { visible } from '../../text/visible.ts';
import { toggle, type Option } from './option.ts';
import { OPTIONS, type Given, type OptionKey } from './options.ts';
import type { Word } from '../../text/words.ts';

/** An option as it stands in a line. */
export interface GivenOption {
  readonly option: Option<OptionKey>;
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
      const option = findOption(name, word);
      if (option.placeholder === undefined) {
        if (value !== undefined) {
          throw new UsageError(`--${name} takes no value`, { column: word.start });
        }
        given.push({ option, text: '', word });
      } else if (value !== undefined || option.isValueOptional) {
        given.push({ option, text: value ?? '', word });
      } else {
        at += 1;
        given.push({ option, ...valueWord(option, words[at], word) });
      }
    } else {
      for (const [index, letter] of Array.from(word.text.slice(1)).entries()) {
        const option = OPTIONS.find(({ short }) => short === letter);
        if (option === undefined) {
          throw new UsageError(
            `there is no option -${visible(letter)}; a word that begins with "-" goes behind --`,
            { column: word.start },
          );
        }
        if (option.placeholder === undefined) {
          given.push({ option, text: '', word });
          continue;
        }
        // -oFILE, or -o FILE
        const joined = word.text.slice(index + 2);
        if (joined === '') at += 1;
        given.push({
          option,
          ...(joined === '' ? valueWord(option, words[at], word) : { text: joined, word }),
        });
        break;
      }
    }
  }
  return { plain, given };
}

function valueWord(
  { flag, placeholder = '', choices }: Option,
  next: Word | undefined,
  option: Word,
): { text: string; word: Word } {
  // `--where --yes` is a forgotten value, not a filter; `--where=--yes` says that it is meant.
  const isOption = OPTIONS.some((one) => next?.text.split('=')[0] === `--${one.flag}`);
  const isForgotten = next?.isValue !== true && (next?.text === '--' || isOption);
  if (next === undefined || isForgotten) {
    const among = choices === undefined ? '' : `, one of ${choices.join(', ')}`;
    throw new UsageError(`--${flag} needs a value: --${flag} ${placeholder}${among}`, {
      column: option.end + 1,
    });
  }
  return { text: next.text, word: next };
}

/** Meant six things; each verb that writes says which word of `--allow` is meant. */
export const FORCE = toggle('allow', '--force  Refused: --allow says what is meant');

function findOption(name: string, word: Word): Option<OptionKey> {
  if (name === FORCE.flag) return FORCE;
  const option = OPTIONS.find(({ flag }) => flag === name);
  if (option !== undefined) return option;
  const flags = OPTIONS.map(({ flag }) => flag);
  const suggestions = suggest(name, flags).map((other) => `--${other}`);
  const advice = suggestions.length > 0 ? '' : '; "help COMMAND" lists those of a command';
  throw new UsageError(`there is no option --${oneLine(name)}${advice}`, {
    column: word.start,
    suggestions,
  });
}

/** What is given with one more option. Throws a `UsageError` for a value that it does not understand. */
export function take(given: Given, { option, text, word }: GivenOption): Given {
  const { key, flag, choices = [] } = option;
  try {
    return { ...given, [key]: option.parse(text, given[key]) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const suggestions = suggest(text, choices);
    throw new UsageError(`--${flag}: ${error.message}`, { column: word.start, suggestions });
  }
}
