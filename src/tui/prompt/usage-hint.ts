import { argLabel, title } from '../../shell/grammar/bind.ts';
import { COMMANDS } from '../../shell/commands/index.ts';
import type { Option } from '../../shell/grammar/option.ts';
import { OPTIONS } from '../../shell/grammar/options.ts';
import { parseLine } from '../../text/words.ts';
import {
  commandNamed,
  type CommandSpec,
  defaultVerb,
  namedVerbs,
  verbNamed,
  type VerbSpec,
} from '../../shell/command.ts';
import type { Line } from '../editor/line.ts';
import { cut, widthOf } from '../../text/width.ts';
import type { Span } from '../screen/theme.ts';
import { SEPARATOR } from '../screen/bar-lines.ts';
import { contextOf } from '../keys/keymap.ts';
import type { State } from '../state.ts';

/** How the command that is typed goes on, for the line below it. */
interface UsageHint {
  /** `user set KEY FIELD=VALUE…`, in parts; the present one is what the cursor is at. */
  readonly parts: readonly { readonly text: string; readonly isPresent: boolean }[];
  /** What the present part is. */
  readonly summary: string;
}

/** Who has pasted that much knows how it goes on, and every key would have to read it again. */
const LONG = 10_000;

/** The usage of the command up to the cursor; undefined before there is one, and where it has no more. */
export function usageHint({ before }: Line): UsageHint | undefined {
  if (before.length > LONG || before.includes('\n')) return undefined;
  const { words } = parseLine(before);
  const isTyping = words.length > 0 && words.at(-1)?.end === before.length;
  const texts = words.map(({ text }) => text);
  const done = isTyping ? texts.slice(0, -1) : texts;
  const command = commandNamed(COMMANDS, done[0]);
  if (command === undefined) return undefined;
  const option = optionAt(done.at(-1), isTyping ? (texts.at(-1) ?? '') : '');
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
  return {
    parts: [
      { text: command.name, isPresent: false },
      { text: verbs.join(' | '), isPresent: true },
    ],
    summary: '',
  };
}

function ofArguments(command: CommandSpec, verb: VerbSpec, given: number): UsageHint | undefined {
  const { args } = verb;
  const last = args.at(-1);
  const present = args[given] ?? (last?.isRest === true ? last : undefined);
  if (present === undefined) return undefined;
  return {
    parts: [
      { text: title(command, verb), isPresent: false },
      ...args.map((arg) => ({ text: argLabel(arg), isPresent: arg === present })),
    ],
    summary: present.summary,
  };
}

function ofOption({ flag, placeholder, summary }: Option): UsageHint {
  return {
    parts: [
      { text: `--${flag}`, isPresent: placeholder === undefined },
      ...(placeholder === undefined ? [] : [{ text: placeholder, isPresent: true }]),
    ],
    summary,
  };
}

/** The option whose value is typed, or that is typed itself. */
function optionAt(before: string | undefined, current: string): Option | undefined {
  const [name] = current.split('=');
  return (
    OPTIONS.find((option) => option.placeholder !== undefined && before === `--${option.flag}`) ??
    OPTIONS.find((option) => name === `--${option.flag}`)
  );
}

function withoutOptions(words: readonly string[]): string[] {
  return words.filter(
    (word, at) =>
      !(word.startsWith('-') && word !== '-') &&
      !OPTIONS.some(
        ({ flag, placeholder }) => placeholder !== undefined && words[at - 1] === `--${flag}`,
      ),
  );
}

/** So much of the footer is left for the way out. */
const WAY_OUT = widthOf(`${SEPARATOR}esc table`);

/** Rather than saying less of what comes next, the words before it go. */
const LEAST_SUMMARY = 24;

/** How the command at the prompt goes on, its present word stressed; no longer than there is room. */
export function usageSpans(state: State): Span[] {
  const hint = contextOf(state) === 'prompt' && usageHint(state.prompt.editing.line);
  if (!hint) return [];
  const { parts, summary } = hint;
  const room = state.size.columns - 1 - WAY_OUT;
  const present = parts.filter(({ isPresent }) => isPresent).map(({ text }) => text);
  const usage = parts.flatMap(({ text, isPresent }, index): Span[] => [
    ...(index > 0 ? [{ tone: 'plain' as const, text: ' ' }] : []),
    { tone: isPresent ? 'accent' : 'plain', text },
  ]);
  const used = usage.reduce((sum, { text }) => sum + widthOf(text), 0);
  const said = summary === '' ? '' : `: ${summary}`;
  if (used + Math.min(widthOf(said), LEAST_SUMMARY) <= room)
    return withSummary(usage, cut(said, room - used));
  // What comes next is worth more than what has been typed.
  const short = present.join(' ');
  if (widthOf(short) >= room) return [{ tone: 'accent', text: cut(short, room) }];
  return withSummary([{ tone: 'accent', text: short }], cut(said, room - widthOf(short)));
}

function withSummary(usage: Span[], said: string): Span[] {
  return said === '' ? usage : [...usage, { tone: 'quiet', text: said }];
}
