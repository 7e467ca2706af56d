import { argLabel, title } from '../../shell/grammar/bind.ts';
import { COMMANDS } from '../../shell/commands/index.ts';
import type { Option } from '../../shell/grammar/option.ts';
import { OPTIONS } from '../../shell/grammar/options.ts';
import { optionAwaitingValue, withoutOptions } from '../../shell/completion/complete.ts';
import { parseLine, type Word } from '../../text/words.ts';
import {
  commandNamed,
  type CommandSpec,
  defaultVerb,
  namedVerbs,
  verbNamed,
  type VerbSpec,
} from '../../shell/command.ts';
import type { Line } from '../editor/line.ts';
import { cut, widthOf } from '../../text/visible.ts';
import { plainLine, type Span, widthOfSpans } from '../screen/theme.ts';
import { lineHints, SEPARATOR } from '../screen/bar-lines.ts';
import { contextOf } from '../keys/keymap.ts';
import { isOffering } from './reduce-prompt.ts';
import type { State } from '../state.ts';

/** The usage of the typed command, for the line below it. */
interface UsageHint {
  /** `user set`, `KEY`, `FIELD=VALUE…`. */
  readonly words: readonly string[];
  /** The index of the word at the cursor. */
  readonly present: number;
  /** Explains the word at the cursor. */
  readonly summary: string;
}

/** A longer line is pasted. It would take long to parse it at every key. */
const LONG = 10_000;

/** The usage at the cursor; undefined before a command, and after its last argument. */
export function usageHint({ before }: Line): UsageHint | undefined {
  if (before.length > LONG || before.includes('\n')) return undefined;
  const { words } = parseLine(before);
  const isTyping = words.length > 0 && words.at(-1)?.end === before.length;
  const done = isTyping ? words.slice(0, -1) : words;
  const command = commandNamed(COMMANDS, done[0]?.text);
  if (command === undefined) return undefined;
  const option = optionAt(done.at(-1), isTyping ? words.at(-1) : undefined);
  if (option !== undefined) return ofOption(option);
  const plain = withoutOptions(done);
  const named = verbNamed(command, plain[1]);
  if (named === undefined && plain.length === 1 && command.verbs.length > 1) {
    return ofVerbs(command);
  }
  const verb = named ?? defaultVerb(command);
  return verb && ofArguments(command, verb, plain.length - (named === undefined ? 1 : 2));
}

function ofVerbs(command: CommandSpec): UsageHint {
  const verbs = namedVerbs(command).map(({ name }) => name);
  return { words: [command.name, verbs.join(' | ')], present: 1, summary: '' };
}

function ofArguments(command: CommandSpec, verb: VerbSpec, given: number): UsageHint | undefined {
  const { args } = verb;
  const at = args.at(-1)?.isRest === true ? Math.min(given, args.length - 1) : given;
  const present = args[at];
  const words = [title(command, verb), ...args.map(argLabel)];
  return present && { words, present: at + 1, summary: present.summary };
}

function ofOption({ flag, placeholder, summary }: Option): UsageHint {
  const words = [`--${flag}`, ...(placeholder === undefined ? [] : [placeholder])];
  return { words, present: words.length - 1, summary };
}

/** The option at the cursor: its value or the option itself. */
function optionAt(before: Word | undefined, current: Word | undefined): Option | undefined {
  const [name] = current?.text.split('=') ?? [];
  return optionAwaitingValue(before) ?? OPTIONS.find(({ flag }) => name === `--${flag}`);
}

/** If the summary had less room than this, the words before the present one are dropped instead. */
const LEAST_SUMMARY = 24;
const LEAST_USAGE = 8;

/** The usage of the command at the prompt, its present part highlighted, cut to the footer. */
export function usageSpans(state: State): Span[] {
  const isTyping = contextOf(state) === 'prompt' || isOffering(state.prompt);
  const hint = isTyping && usageHint(state.prompt.editing.line);
  if (!hint) return [];
  const { words, present, summary } = hint;
  const room = lineHints(state).reduce(
    (left, { text }) => left - widthOf(SEPARATOR + text),
    state.size.columns - 2,
  );
  const usage = words.flatMap((text, index): Span[] => [
    ...(index > 0 ? plainLine(' ') : []),
    ...plainLine(text, index === present ? 'accent' : 'plain'),
  ]);
  const used = widthOfSpans(usage);
  const summaryText = summary === '' ? '' : `: ${summary}`;
  const isWhole = used + Math.min(widthOf(summaryText), LEAST_SUMMARY) <= room;
  // The present word is more useful than the words before it.
  const short = cut(words[present] ?? '', room);
  if (!isWhole && room < Math.min(LEAST_USAGE, widthOf(words[present] ?? ''))) return [];
  const shown = isWhole ? usage : plainLine(short, 'accent');
  return [...shown, ...plainLine(cut(summaryText, room - widthOfSpans(shown)), 'quiet')];
}
