import { documentedProfile } from '../../device/built-in-profiles.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { UsageError } from '../../errors.ts';
import { FORMAT_NAMES } from '../../text/choices.ts';
import { oneLine } from '../../text/one-line.ts';
import { quoteLine, quoteWord } from '../../text/words.ts';

/* Words from other programs, with the equivalent here. */

/** The verb first, with its arguments if none are given; then the words that people try instead. */
const VERBS: readonly {
  readonly verb: string;
  readonly needs: string;
  readonly synonyms: string;
}[] = [
  { verb: 'list', needs: '', synonyms: 'ls dir all get' },
  { verb: 'list', needs: 'FILTER', synonyms: 'filter find search grep where' },
  { verb: 'show', needs: 'KEY', synonyms: 'display view cat describe details' },
  { verb: 'add', needs: 'FIELD=VALUE', synonyms: 'create new insert adduser useradd' },
  { verb: 'set', needs: 'KEY FIELD=VALUE', synonyms: 'update modify change patch usermod' },
  { verb: 'edit', needs: 'KEY', synonyms: 'vi vim nano' },
  { verb: 'delete', needs: 'KEY', synonyms: 'remove rm del erase drop deluser userdel forget' },
  { verb: 'list --drift', needs: '', synonyms: 'compare diff drift' },
];

const LINES: Readonly<Record<string, string>> = {
  users: 'user list',
  q: 'quit',
  ':q': 'quit',
  bye: 'quit',
  '?': 'help',
  h: 'help',
  man: 'help',
  commands: 'help',
  ssh: 'connect',
  cd: 'use',
  select: 'use',
  switch: 'use',
  rollback: 'undo',
  revert: 'undo',
  jobs: 'runs',
  journal: 'runs',
  playbook: 'run',
  script: 'run',
  exec: 'run',
  inventory: 'device list',
  pins: 'trust list',
  whoami: 'credentials',
  unalias: 'alias delete',
  disable: 'lockout',
};

/** Commands that devsh no longer has, and the line for the words behind them that does the same. */
const FORMER: Readonly<Record<string, (rest: readonly string[]) => string>> = {
  theme: ([name]) => {
    if (name === undefined) return 'config get theme';
    return name === 'auto' ? 'config unset theme' : `config set theme ${quoteWord(name)}`;
  },
  owed: (rest) =>
    quoteLine(rest[0] === 'settle' ? ['resume', ...rest.slice(1)] : ['pending', ...rest]),
  retry: (rest) => quoteLine(['resume', ...rest]),
  watch: (rest) => {
    const isWatched = rest[0] === 'devices' || rest[1] === 'list';
    return `${isWatched ? quoteLine(rest) : 'user list'} --watch`;
  },
  open: (rest) => `get ${quoteWord(rest.find((word) => word.startsWith('/')) ?? '/api/')}`,
};

/** Two words of which the second is no verb of the first. */
const PAIRS: Readonly<Record<string, string>> = {
  'user block': 'lockout',
  'user disable': 'lockout',
  'user lock': 'lockout',
  'runs list': 'runs',
  'run show': 'runs show',
  'run list': 'runs',
  'run merge': 'runs merge',
  'history list': 'history',
  'device schema': 'schema devices',
  'plan schema': 'schema changes',
  'profile schema': 'schema profile',
  'config schema': 'schema settings',
  'alias add': 'alias set',
  'alias create': 'alias set',
};

function meaningOf(word: string): (typeof VERBS)[number] | undefined {
  return VERBS.find(({ verb, synonyms }) => verb === word || synonyms.split(' ').includes(word));
}

/** The words that people try for a line: `rm`, `remove` for `user delete KEY`. */
export function synonymsOf(line: string): string[] {
  const words = line.split(' ');
  return [
    ...VERBS.filter(({ verb }) => ` ${line} `.includes(` ${verb} `) && words.length > 1).flatMap(
      ({ synonyms }) => synonyms.split(' '),
    ),
    ...Object.keys(LINES).filter((word) => LINES[word] === words[0]),
  ];
}

/** The equivalent line for `rm bob` or `add user bob`; undefined for unknown words. */
export function suggestedLine(words: readonly string[]): string | undefined {
  const [noun, second = ''] = words;
  if (noun === 'users' && meaningOf(second) !== undefined) return suggestedLine(words.slice(1));
  // As on a switch: all of them.
  if (quoteLine(words) === 'show users') return 'user list';
  const [first = '', ...rest] = words;
  if (Object.hasOwn(FORMER, first)) return FORMER[first]?.(rest);
  if (Object.hasOwn(LINES, first)) return [LINES[first], quoteLine(rest)].join(' ').trim();
  const meaning = meaningOf(first);
  if (meaning === undefined) return undefined;
  const isNamed = /^users?$/.test(rest[0] ?? '');
  return lineOf('user', meaning, isNamed ? rest.slice(1) : rest);
}

/** The same for `user rm bob`, with a verb of the command, one of `names`. */
export function suggestedVerbLine(
  command: string,
  names: readonly string[],
  words: readonly string[],
): string | undefined {
  const [first = '', ...rest] = words;
  // As in a shell: alias NAME = LINE, or alias NAME='LINE'.
  if (command === 'alias' && rest[0] === '=') {
    return `alias set ${quoteLine([first, quoteLine(rest.slice(1))])}`;
  }
  const [, name, line] = /^([^=]+)=(.+)$/s.exec(first) ?? [];
  if (command === 'alias' && name !== undefined && line !== undefined) {
    return `alias set ${quoteLine([name, line])}`;
  }
  const pair = `${command} ${first}`;
  if (Object.hasOwn(PAIRS, pair)) return `${PAIRS[pair] ?? ''} ${quoteLine(rest)}`.trim();
  const meaning = meaningOf(first);
  if (meaning === undefined) return undefined;
  const [verb = ''] = meaning.verb.split(' ');
  if (names.includes(verb)) return lineOf(command, meaning, rest);
  const other = meaning.synonyms.split(' ').find((word) => names.includes(word));
  if (other !== undefined) return `${command} ${other} ${quoteLine(rest)}`.trim();
  return verb === 'show' && names.includes('list') ? `${command} list` : undefined;
}

function lineOf(
  resource: string,
  { verb, needs }: (typeof VERBS)[number],
  words: readonly string[],
): string {
  const [key, ...rest] = words;
  if (verb === 'add' && key?.includes('=') !== true) {
    const named = `${keyFieldOf(documentedProfile, resource)}=${key ?? 'NAME'}`;
    return `${resource} add ${quoteLine([named, ...rest])}`;
  }
  if (verb === 'list' && key === 'where' && rest.length > 0)
    return `${resource} list ${quoteLine(rest)}`;
  return `${resource} ${verb} ${key === undefined ? needs : quoteLine(words)}`.trim();
}

const PIPE_TO_JQ = 'print JSON and pipe it: devsh … --json | jq …';

const NO_SECRET =
  'no option takes a secret: "login" keeps it, --password-stdin and --token-stdin read it';

/** Options of gh, kubectl, ssh and Ansible, with the equivalent here. */
const OPTIONS_ELSEWHERE: Readonly<Record<string, string>> = {
  jq: PIPE_TO_JQ,
  jsonpath: PIPE_TO_JQ,
  template: PIPE_TO_JQ,
  fields: '--columns FIELDS chooses fields',
  config: '"config list" shows the settings',
  all: '--where FILTER chooses what to write, and "use all" selects all devices',
  limit: 'a filter chooses records, and "| head" cuts',
  password: NO_SECRET,
  p: NO_SECRET,
  u: '--user NAME is the account; a secret comes from elsewhere ("help login")',
  f: 'a file needs no option: apply FILE',
  l: '--filter FILTER chooses records',
  w: '--watch reads again and again',
  interval: '--watch=SECONDS reads again and again',
  J: '--jump HOST is the jump host',
  as: 'a report is Markdown, and --json is the same as data',
  'as-curl': 'plan FILE --as-curl prints the requests of a change set as curl calls',
  evidence:
    'export RESOURCE --output-dir DIR keeps the records of each device; report --since tells an incident',
  report: 'doctor --json has all findings, without secrets, for a bug report',
  'per-device': '--output-dir DIR writes one file for each device',
  'new-command':
    '--new-stdin reads what a program prints: PROGRAM | devsh rotate password USER --new-stdin',
};

/** An option of some commands, and the one of the others for the same. */
export const TWINS: Readonly<Record<string, string>> = {
  where: 'filter',
  filter: 'where',
  token: 'token-stdin',
  check: 'dry-run',
};

/** `; --columns FIELDS chooses fields` for `--fields`; undefined for unknown options. */
export function insteadOfOption(name: string): string | undefined {
  return Object.hasOwn(OPTIONS_ELSEWHERE, name) ? `; ${OPTIONS_ELSEWHERE[name] ?? ''}` : undefined;
}

/** The values of kubectl's `-o` besides names of formats. */
const KUBECTL_OUTPUT = /^(?:wide|name|(?:jsonpath|go-template|custom-columns)(?:-file)?(?:=|$))/;

/** Here `-o` names a file. Throws a `UsageError` for `-o json`; a file of that name is `./json`. */
export function refuseFormatAsFile(text: string, column: number): void {
  const format = FORMAT_NAMES.find((name) => name === text);
  if (format === undefined && !KUBECTL_OUTPUT.test(text)) return;
  const instead =
    format === undefined
      ? `--columns FIELDS chooses columns; for other texts, ${PIPE_TO_JQ}`
      : `--format ${format} chooses the format`;
  throw new UsageError(
    `-o names a file, not a format: ${instead}; a file of this name is ./${oneLine(text)}`,
    { column, suggestions: format === undefined ? [] : [`--format ${format}`] },
  );
}
