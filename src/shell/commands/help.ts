import type { Candidate } from '../grammar/option.ts';
import type { JsonValue } from '../../device/record.ts';
import { oneLine } from '../../text/one-line.ts';
import { UsageError } from '../../errors.ts';
import { aliasNamed, shownRun } from '../grammar/aliases.ts';
import { suggest } from '../../text/suggest.ts';
import { HELP_TOPICS, helpOn, helpOnCommand, helpOverview, type TopicName } from '../help/help.ts';
import type { Word } from '../../text/words.ts';
import {
  command,
  type CommandSpec,
  type CompletionScope,
  namedVerbs,
  verbNamed,
} from '../command.ts';
import type { Services } from '../services.ts';

const TOPIC_NAMES = Object.keys(HELP_TOPICS) as TopicName[];

export const help = command({
  name: 'help',
  section: 'Shell',
  summary: 'List commands and topics, or explain one',
  args: [
    {
      name: 'COMMAND',
      summary: `a command, and one of its verbs; or ${TOPIC_NAMES.join(', ')}`,
      isRest: true,
      complete: candidates,
    },
  ],
  changes: 'nothing',
  examples: ['help', 'help user', 'help user add', 'help filters'],
  async *run({ args, grammar, shell }) {
    const { commands } = grammar;
    const [first, second] = args.words('COMMAND');
    if (first === undefined) {
      yield {
        kind: 'text',
        name: 'help',
        text: helpOverview(commands, shell.services.settings.get('aliases')),
      };
      return;
    }
    const command = commands.find(({ name }) => name === first.text);
    const topic = TOPIC_NAMES.find((name) => name === first.text);
    const about = topic && (await textOf(topic, shell.services));
    if (command === undefined) {
      const own = aliasNamed(shell.services.settings.get('aliases'), first.text);
      const text = about ?? (own && `${first.text}: your alias of "${shownRun(own)}"`);
      if (text === undefined) throw unknown(first, commands);
      yield { kind: 'text', name: 'help', text, data: await dataOf(topic) };
      return;
    }
    const verb = verbNamed(command, second?.text);
    if (second !== undefined && verb === undefined) {
      const verbs = namedVerbs(command).map(({ name }) => name);
      const has = verbs.length > 0 ? `; it has ${verbs.join(', ')}` : '';
      throw new UsageError(`${command.name} has no verb "${oneLine(second.text)}"${has}`, {
        column: second.start,
        suggestions: suggest(second.text, verbs),
      });
    }
    const text = verb === undefined ? helpOnCommand(command) : helpOn(command, verb);
    const more = verb === undefined && about !== undefined ? `\n\n${about}` : '';
    yield { kind: 'text', name: 'help', text: `${text}${more}` };
  },
});

function candidates({ commands, given }: CompletionScope): readonly Candidate[] {
  const [first, second] = given;
  const command = commands.find(({ name }) => name === first);
  if (second !== undefined) return [];
  if (first !== undefined) {
    const verbs = command === undefined ? [] : namedVerbs(command);
    return verbs.map(({ name, summary }) => ({ text: name, summary }));
  }
  return [
    ...commands.map(({ name, summary }) => ({ text: name, summary })),
    ...TOPIC_NAMES.map((name) => ({ text: name, summary: HELP_TOPICS[name] })),
  ];
}

async function textOf(topic: TopicName, services: Services): Promise<string> {
  const { helpOnTopic } = await import('../help/topic-text.ts');
  return helpOnTopic(topic, services);
}

/** The data that programs get in place of the text of a topic. */
async function dataOf(topic: TopicName | undefined): Promise<JsonValue | undefined> {
  if (topic !== 'json') return undefined;
  const { outputJsonSchema } = await import('../help/document-schema.ts');
  return outputJsonSchema();
}

function unknown({ text, start }: Word, commands: readonly CommandSpec[]): UsageError {
  const names = [...commands.map(({ name }) => name), ...TOPIC_NAMES];
  return new UsageError(`there is no command or topic "${oneLine(text)}"; "help" lists them all`, {
    column: start,
    suggestions: suggest(text, names),
  });
}
