import { UsageError } from '../../errors.ts';
import { compareTexts } from '../../fleet/sort.ts';
import { countsText, oneLine } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import type { Word } from '../../text/words.ts';
import { TARGETS } from '../arguments.ts';
import {
  command,
  type CommandSpec,
  type CompletionScope,
  namedVerbs,
  verbNamed,
} from '../command.ts';
import type { CompletionShell } from '../completion/shells.ts';
import type { Finding } from '../doctor.ts';
import { aliasNamed, shownRun } from '../grammar/aliases.ts';
import type { Candidate } from '../grammar/option.ts';
import { DEVICES } from '../grammar/options.ts';
import { HELP_TOPICS, type TopicName } from '../help/topic-names.ts';
import { message, table } from '../output.ts';
import type { Services } from '../services.ts';

const TOPIC_NAMES = Object.keys(HELP_TOPICS) as TopicName[];

/** `help all`: no command has this name. */
const ALL = 'all';

export const help = command({
  name: 'help',
  synonyms: ['man', '?'],
  section: 'Shell',
  summary: 'Show where to begin, list all commands, or explain one',
  args: [
    {
      name: 'COMMAND',
      summary: `a command, and one of its verbs; all; or ${TOPIC_NAMES.join(', ')}`,
      isRest: true,
      complete: candidates,
    },
  ],
  changes: 'nothing',
  examples: ['help', 'help all', 'help user', 'help user add', 'help filters'],
  async *run({ args, grammar, shell }) {
    const { helpOn, helpOnCommand, helpOverview, helpStart, inWidth } =
      await import('../help/help.ts');
    const { commands } = grammar;
    const [first, second] = args.words('COMMAND');
    if (first === undefined) {
      yield { kind: 'text', name: 'help', text: inWidth(helpStart(commands)) };
      return;
    }
    if (first.text === ALL) {
      const text = helpOverview(commands, shell.services.settings.get('aliases'));
      yield { kind: 'text', name: 'help', text: inWidth(text) };
      return;
    }
    const command = commands.find(({ name }) => name === first.text);
    const topic =
      TOPIC_NAMES.find((name) => name === first.text) ??
      (command === undefined ? storeTopic(first.text) : undefined);
    const loaded = topic && (await import('../help/topic-text.ts'));
    const about = topic && (await loaded?.helpOnTopic(topic, shell.services));
    if (command === undefined) {
      const own = aliasNamed(shell.services.settings.get('aliases'), first.text);
      const text = about ?? (own && `${first.text}: your alias of "${shownRun(own)}"`);
      if (text === undefined) throw unknown(args.words('COMMAND'), commands);
      // Programs get the schema as data in place of the text.
      const schemas = topic === 'json' ? await import('../help/document-schema.ts') : undefined;
      const data = schemas?.outputJsonSchema();
      yield { kind: 'text', name: 'help', text: inWidth(text), data };
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
    yield { kind: 'text', name: 'help', text: inWidth(`${text}${more}`) };
  },
});

/** The topic of logins for a place that keeps them: `help op`, `help 1password`. */
function storeTopic(word: string): TopicName | undefined {
  const places = HELP_TOPICS.logins.toLowerCase().split(/[^\w]+/);
  return places.indexOf(word.toLowerCase()) > places.indexOf('from') ? 'logins' : undefined;
}

function candidates({ commands, given }: CompletionScope): readonly Candidate[] {
  const [first, second] = given;
  const command = commands.find(({ name }) => name === first);
  if (second !== undefined) return [];
  if (first !== undefined) {
    const verbs = command === undefined ? [] : namedVerbs(command);
    return verbs.map(({ name, summary }) => ({ text: name, summary }));
  }
  return [
    { text: ALL, summary: 'every command and option' },
    ...commands.map(({ name, summary }) => ({ text: name, summary })),
    ...TOPIC_NAMES.map((name) => ({ text: name, summary: HELP_TOPICS[name] })),
  ];
}

function unknown(words: readonly Word[], commands: readonly CommandSpec[]): UsageError {
  const names = [...commands.map(({ name }) => name), ...TOPIC_NAMES];
  const texts = words.map(({ text }) => text);
  const [first = ''] = texts;
  // `help exit codes`, `help on filters`
  const topic = [texts.join('-'), ...texts].find((text) => names.includes(text));
  const found = topic === undefined ? aboutOf(first, commands) : [topic];
  const lines = found.length > 0 ? found : suggest(first, names);
  return new UsageError(`there is no command or topic "${oneLine(first)}"; "help all" lists them`, {
    column: words[0]?.start,
    suggestions: lines.map((name) => `help ${name}`),
  });
}

/** What the word of `help WORD` may mean: a verb of records (`add`), or topics with this word (`refuse`). */
function aboutOf(word: string, commands: readonly CommandSpec[]): string[] {
  const user = commands.find(({ name }) => name === 'user');
  if (user !== undefined && verbNamed(user, word) !== undefined) return [`user ${word}`];
  return TOPIC_NAMES.filter((name) => word !== '' && HELP_TOPICS[name].includes(` ${word}`));
}

const SCHEMAS = new Map<string, () => Promise<unknown>>([
  ['devices', async () => (await import('../../fleet/inventory-schema.ts')).inventoryJsonSchema()],
  [
    'changes',
    async () => (await import('../../change/change-set-schema.ts')).changeSetJsonSchema(),
  ],
  ['profile', async () => (await import('../../device/profile-schema.ts')).profileJsonSchema()],
  [
    'settings',
    async () => (await import('../../settings/settings-schema.ts')).settingsJsonSchema(),
  ],
]);

const NAMES = [...SCHEMAS.keys()];
const LIST = NAMES.join(', ');

export const schema = command({
  name: 'schema',
  section: 'Shell',
  summary: 'Print the JSON schema of devices.yaml, change sets, profile files or settings.json',
  args: [
    {
      name: 'NAME',
      summary: LIST,
      isRequired: true,
      complete: () => NAMES.map((text) => ({ text })),
    },
  ],
  changes: 'nothing',
  details: 'For editors. "help json" prints the schema of what devsh writes with --json.',
  examples: ['schema devices', 'schema changes'],
  async *run({ args }) {
    const [word] = args.words('NAME');
    const name = args.required('NAME');
    const load = SCHEMAS.get(name);
    if (load === undefined) {
      const message = `there is no schema "${oneLine(name)}"; the schemas are ${LIST}`;
      throw new UsageError(message, { column: word?.start, suggestions: suggest(name, NAMES) });
    }
    yield { kind: 'text', name: 'jsonSchema', text: JSON.stringify(await load(), null, 2) };
  },
});

export const doctor = command({
  name: 'doctor',
  synonyms: ['ping'],
  brief: 'Check this machine, the files of devsh, and devices',
  section: 'Shell',
  summary: 'Check Node, terminal, files, keychain, and how devices respond',
  args: [TARGETS],
  options: [...DEVICES],
  changes: 'nothing',
  details:
    'devsh sends one GET to each named device, or to those of the session. It changes nothing and shows no secret,\n' +
    'so --json fits in a bug report. It names devices and paths: look at it before you publish it.',
  examples: ['doctor', 'doctor @berlin --json'],
  async *run(call) {
    const findings: Finding[] = [];
    const { allFindings, isOwn } = await import('../doctor.ts');
    for await (const finding of allFindings(call)) {
      findings.push(finding);
      const text = `checking: ${finding.area}`;
      yield { kind: 'progress', done: findings.length, total: findings.length, text };
    }
    yield table(
      'checks',
      ['area', 'what', 'state', 'detail'],
      byArea(findings, isOwn).map(({ area, what, state, detail }) => ({
        area,
        what,
        state,
        detail,
      })),
      // Counts devices only: a recent Node does not make up for a device that is down.
      { hasSuccess: findings.some(({ what, state }) => what === 'login' && state === 'ok') },
    );
    for (const { error } of findings) {
      if (error !== undefined) yield { kind: 'error', error };
    }
    const states = findings.map(({ state }) => state);
    const words = { failed: 'failed', warning: 'warning', ok: 'ok' };
    yield message(
      'info',
      countsText(
        states.filter((state) => state !== 'not used'),
        words,
      ),
    );
  },
});

/** Groups the findings by device, `fw2` before `fw10`: devices respond in any order. */
function byArea(findings: readonly Finding[], isOwn: (finding: Finding) => boolean): Finding[] {
  const devices = findings.filter((finding) => !isOwn(finding));
  const inOrder = devices.sort((a, b) => compareTexts(a.area, b.area));
  return [...findings.filter(isOwn), ...inOrder];
}

export const info = command({
  name: 'info',
  section: 'Shell',
  summary: 'Show the version and where devsh keeps its files',
  changes: 'nothing',
  examples: ['info'],
  async *run({ shell }) {
    const { version, paths, inventory, knownDevices, history, env } = shell.services;
    const { proxyState } = await import('../doctor.ts');
    const [, proxy] = proxyState(env);
    const rows = [
      ['version', version],
      ['node', process.version],
      ['inventory', inventory.path],
      ['known devices', knownDevices.path],
      ['history', history.path],
      ['settings', paths.config],
      ['state', paths.state],
      ['proxy', proxy],
    ] as const;
    yield table(
      'info',
      [{ key: 'name', title: 'WHAT' }, 'value'],
      rows.map(([name, value]) => ({ name, value })),
    );
  },
});

export const version = command({
  name: 'version',
  section: 'Shell',
  summary: 'Print the version',
  changes: 'nothing',
  *run({ shell }) {
    yield { kind: 'text', name: 'version', text: shell.services.version };
  },
});

export const quit = command({
  name: 'quit',
  synonyms: ['q'],
  aliases: ['exit'],
  section: 'Shell',
  summary: 'Leave the shell',
  changes: 'choice',
  *run() {
    yield { kind: 'quit' };
  },
});

export const history = command({
  name: 'history',
  brief: 'Show the history of lines',
  section: 'Shell',
  summary: 'Show the history of lines, oldest first',
  changes: 'nothing',
  details:
    'devsh keeps no line with a secret (password=…) and none that starts with a space. "runs" shows what devsh\n' +
    'sent, "changes" what changed on the devices.',
  async *run({ shell }) {
    const lines = await shell.services.history.load();
    yield table(
      'history',
      [
        { key: 'number', title: '#' },
        { key: 'line', title: 'LINE' },
      ],
      lines.map((line, index) => ({ number: index + 1, line })),
    );
  },
});

const SHELL_NAMES: readonly CompletionShell['name'][] = ['bash', 'zsh', 'fish'];

export const completion = command({
  name: 'completion',
  brief: 'Complete devsh lines in your shell',
  section: 'Shell',
  summary: 'Print the completion script for a shell',
  args: [
    {
      name: 'SHELL',
      summary: `${SHELL_NAMES.join(', ')}; without it: how to set up yours`,
      complete: () => SHELL_NAMES.map((text) => ({ text })),
    },
  ],
  details:
    'Tab completes commands, options, devices and groups of the inventory, and the users last read. It\n' +
    'only reads files: it asks no device, and the shell never runs a name that it completes.',
  examples: ['completion', 'completion bash', 'completion zsh'],
  async *run({ args, shell: shellSession }) {
    const [word] = args.words('SHELL');
    const { COMPLETION_SHELLS } = await import('../completion/shells.ts');
    if (word === undefined) {
      const text = setUp(COMPLETION_SHELLS, shellSession.services);
      yield { kind: 'text', name: 'completion', text };
      return;
    }
    const shell = COMPLETION_SHELLS.find(({ name }) => name === word.text);
    if (shell === undefined) {
      throw new UsageError(
        `there is no completion for "${oneLine(word.text)}"; the shells are ${SHELL_NAMES.join(', ')}`,
        { column: word.start, suggestions: suggest(word.text, SHELL_NAMES) },
      );
    }
    yield { kind: 'text', name: 'completion', text: shell.script.trimEnd() };
  },
});

/** The steps that set up completion in these shells. */
function setUp(shells: readonly CompletionShell[], { env }: Services): string {
  const own = shells.find(({ name }) => name === env['SHELL']?.split('/').at(-1));
  const others = SHELL_NAMES.filter((name) => name !== own?.name).join(', ');
  return own === undefined
    ? shells.map(stepsFor).join('\n\n')
    : `${stepsFor(own)}\n\nFor ${others}: devsh completion SHELL`;
}

function stepsFor({ name, install }: CompletionShell): string {
  return [`Completion for ${name}`, ...install.map((line) => `  ${line}`)].join('\n');
}
