import type { Candidate, Option } from '../grammar/option.ts';
import { isResourceName } from '../../device/profile.ts';
import { resourceCommand } from '../commands/resource.ts';
import { fieldCandidates } from '../arguments.ts';
import { GENERAL, OPTIONS, type OptionKey } from '../grammar/options.ts';
import type { Word } from '../../text/words.ts';
import {
  commandNamed,
  type CommandSpec,
  type CompletionScope,
  defaultVerb,
  namedVerbs,
  verbNamed,
} from '../command.ts';

/** Names of arguments and placeholders whose values are files. */
const FILES: readonly (string | undefined)[] = ['FILE', 'SOURCE', 'DIR'];

/** What the grammar expects at the cursor. */
interface Expected {
  readonly candidates: readonly Candidate[];
  readonly takesFile: boolean;
}

function only(candidates: readonly Candidate[]): Expected {
  return { candidates, takesFile: false };
}

/** @param before the words before the one at the cursor */
export function expectedAt(
  before: readonly Word[],
  scope: Omit<CompletionScope, 'given'>,
  commands: readonly CommandSpec[],
): Expected {
  const words = withoutOptions(before);
  // `resource NAME` continues like the resource itself.
  const [head, name = ''] = words;
  const isNamed = head === 'resource' && isResourceName(name);
  const resourceSpec = isNamed ? resourceCommand(name) : undefined;
  const plain = resourceSpec === undefined ? words : words.slice(1);
  const [first, second] = plain;
  const command = resourceSpec ?? commandNamed(commands, first);
  // Behind `--` nothing is an option.
  const isOver = before.some(({ text }) => text === '--');
  const optionBefore = isOver ? undefined : optionAwaitingValue(before.at(-1));
  if (optionBefore !== undefined) return valuesOf(optionBefore, scope, command);
  const isOption = scope.typed.startsWith('-') && !isOver;
  const joined = isOption ? joinedValue(scope.typed) : undefined;
  if (joined !== undefined) {
    const { option, start } = joined;
    const typed = scope.typed.slice(start.length);
    const { candidates, takesFile } = valuesOf(option, { ...scope, typed }, command);
    return { candidates: candidates.map((one) => ({ ...one, text: start + one.text })), takesFile };
  }
  const isGiven = (name: string): boolean => before.some(({ text }) => text.split('=')[0] === name);
  if (command === undefined) {
    if (first !== undefined) return only([]);
    return only(
      isOption
        ? optionCandidates(GENERAL, isGiven)
        : commands.map(({ name, summary }) => ({ text: name, summary })),
    );
  }
  const named = verbNamed(command, second);
  const verb = named ?? defaultVerb(command);
  if (isOption) return only(optionCandidates([...GENERAL, ...(verb?.options ?? [])], isGiven));
  const given = plain.slice(named === undefined ? 1 : 2);
  const verbs =
    second === undefined
      ? namedVerbs(command).map(({ name, summary }) => ({ text: name, summary }))
      : [];
  const args = verb?.args ?? [];
  const last = args.at(-1);
  const arg = args[given.length] ?? (last?.isRest === true ? last : undefined);
  const values = arg?.complete?.({ ...scope, given }) ?? [];
  return { candidates: [...verbs, ...values], takesFile: FILES.includes(arg?.name) };
}

function optionCandidates(
  keys: readonly OptionKey[],
  isGiven: (option: string) => boolean,
): Candidate[] {
  return OPTIONS.filter(({ key }) => keys.includes(key))
    .filter(({ flag, isRepeatable }) => isRepeatable === true || !isGiven(`--${flag}`))
    .map(({ flag, placeholder, summary }) => ({
      text: `--${flag}`,
      summary: placeholder === undefined ? summary : `${placeholder} · ${summary}`,
    }));
}

/** The option in front of its value: `--on`, `-o`. */
function optionAwaitingValue(word: Word | undefined): Option | undefined {
  return OPTIONS.find(
    ({ flag, short, placeholder, isValueOptional }) =>
      placeholder !== undefined &&
      !isValueOptional &&
      (word?.text === `--${flag}` || (short !== undefined && word?.text === `-${short}`)),
  );
}

/** The option of `--format=js`, and the text in front of its value. */
export function joinedValue(typed: string): { option: Option; start: string } | undefined {
  const [, start = '', name] = /^(--([^=]+)=)/.exec(typed) ?? [];
  const option = OPTIONS.find((one) => one.placeholder !== undefined && one.flag === name);
  return option && { option, start };
}

/** The words without options: commands, verbs and arguments. */
export function withoutOptions(words: readonly Word[]): string[] {
  const texts = words.map(({ text }) => text);
  const end = texts.indexOf('--');
  const before = texts.slice(0, end === -1 ? undefined : end).filter((text, at) => {
    const isValue = optionAwaitingValue(words[at - 1]) !== undefined;
    return !isValue && !(text.startsWith('-') && text !== '-');
  });
  return end === -1 ? before : [...before, ...texts.slice(end + 1)];
}

function valuesOf(
  { choices = [], complete, placeholder, takesFile = false }: Option,
  scope: Omit<CompletionScope, 'given'>,
  command: CommandSpec | undefined,
): Expected {
  const resource = command?.section === 'Records' ? command.name : 'user';
  const { typed, targets } = scope;
  const candidates = complete?.({
    typed,
    targets,
    fields: (start, given) => fieldCandidates({ ...scope, typed: start, given }, resource, 'read'),
  });
  return {
    candidates: candidates ?? choices.map((text) => ({ text })),
    takesFile: takesFile || FILES.includes(placeholder),
  };
}
