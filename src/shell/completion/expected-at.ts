import { ALLOW_WORDS, allowMeaning } from '../../change/allow.ts';
import { isResourceName } from '../../device/profile.ts';
import { resourceCommand } from '../commands/resource.ts';
import { fieldCandidates } from '../commands/record-arguments.ts';
import { OPTIONS } from '../grammar/option-list.ts';
import type { OptionSpec } from '../grammar/options.ts';
import type { Word } from '../grammar/parse.ts';
import type {
  ArgSpec,
  Candidate,
  CommandSpec,
  CompletionScope,
  VerbSpec,
} from '../grammar/spec.ts';
import { completeList } from './complete-list.ts';

/** What arguments and values of options are called that are files. */
const FILES: readonly (string | undefined)[] = ['FILE', 'SOURCE', 'DIR'];

/** Options that may stand several times in one line. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'on',
  'group',
  'quirk',
  'fault',
  'verbose',
  'map',
  'allow',
]);

/** What may stand at the cursor. */
interface Expected {
  readonly candidates: readonly Candidate[];
  readonly takesFile: boolean;
}

function only(candidates: readonly Candidate[]): Expected {
  return { candidates, takesFile: false };
}

/** @param before the words in front of the one at the cursor */
export function expectedAt(
  before: readonly Word[],
  scope: Omit<CompletionScope, 'given'>,
  commands: readonly CommandSpec[],
): Expected {
  const words = withoutOptions(before);
  const meant = resourceNamed(words);
  const plain = meant === undefined ? words : words.slice(1);
  const [first, second] = plain;
  const command =
    meant ??
    commands.find(
      ({ name, aliases }) => name === first || (first !== undefined && aliases?.includes(first)),
    );
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
        ? optionCandidates(['general'], isGiven)
        : commands.map(({ name, summary }) => ({ text: name, summary })),
    );
  }
  const named = command.verbs.find(({ name }) => name !== '' && name === second);
  const verb = named ?? command.verbs.find(({ name }) => name === (command.defaultVerb ?? ''));
  if (isOption) return only(optionCandidates(['general', ...(verb?.options ?? [])], isGiven));
  const given = plain.slice(named === undefined ? 1 : 2);
  const verbs =
    second === undefined
      ? command.verbs
          .filter(({ name }) => name !== '')
          .map(({ name, summary }) => ({ text: name, summary }))
      : [];
  const arg = argumentAt(verb, given.length);
  const values = arg?.complete?.({ ...scope, given }) ?? [];
  return { candidates: [...verbs, ...values], takesFile: FILES.includes(arg?.name) };
}

/** `resource NAME`: what stands behind it is as behind the resource itself. */
function resourceNamed([first, name = '']: readonly string[]): CommandSpec | undefined {
  return first === 'resource' && isResourceName(name) ? resourceCommand(name) : undefined;
}

function argumentAt(verb: VerbSpec | undefined, index: number): ArgSpec | undefined {
  const args = verb?.args ?? [];
  const last = args.at(-1);
  return args[index] ?? (last?.isRest === true ? last : undefined);
}

function optionCandidates(
  groups: readonly OptionSpec['group'][],
  isGiven: (option: string) => boolean,
): Candidate[] {
  return OPTIONS.filter(({ group }) => groups.includes(group))
    .filter(({ name }) => REPEATABLE.has(name) || !isGiven(`--${name}`))
    .map(({ name, value, summary }) => ({
      text: `--${name}`,
      summary: value === undefined ? summary : `${value} · ${summary}`,
    }));
}

/** The option in front of its value: `--on`, `-o`. */
function optionAwaitingValue(word: Word | undefined): OptionSpec | undefined {
  return OPTIONS.find(
    ({ name, short, value, isValueOptional }) =>
      value !== undefined &&
      isValueOptional !== true &&
      (word?.text === `--${name}` || (short !== undefined && word?.text === `-${short}`)),
  );
}

/** The option of `--format=js`, and what stands in front of its value. */
export function joinedValue(typed: string): { option: OptionSpec; start: string } | undefined {
  const [, start = '', name] = /^(--([^=]+)=)/.exec(typed) ?? [];
  const option = OPTIONS.find((one) => one.value !== undefined && one.name === name);
  return option && { option, start };
}

/** Commands, verbs and arguments alone. */
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
  option: OptionSpec,
  scope: Omit<CompletionScope, 'given'>,
  command: CommandSpec | undefined,
): Expected {
  return {
    candidates: candidatesOf(option, scope, command),
    takesFile: FILES.includes(option.value) || option.name === 'profile',
  };
}

function candidatesOf(
  option: OptionSpec,
  scope: Omit<CompletionScope, 'given'>,
  command: CommandSpec | undefined,
): readonly Candidate[] {
  const resource = command?.section === 'Records' ? command.name : 'user';
  switch (option.name) {
    case 'on':
      return completeList(scope.typed, /[\s,]/, () => scope.targets);
    case 'columns':
    case 'sort':
      return completeList(scope.typed, /,/, (given) =>
        fieldCandidates({ ...scope, typed: '', given }, resource, 'read').map(
          ({ text, summary }) => ({
            text: text.slice(0, -1),
            ...(summary !== undefined && { summary }),
          }),
        ),
      );
    case 'filter':
    case 'where':
      return fieldCandidates({ ...scope, given: [] }, resource, 'read');
    case 'allow':
      return completeList(scope.typed, /,/, () =>
        ALLOW_WORDS.map((text) => ({ text, summary: allowMeaning(text) })),
      );
    default:
      return (option.choices ?? []).map((text) => ({ text }));
  }
}
