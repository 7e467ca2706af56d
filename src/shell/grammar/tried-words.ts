import { documentedProfile } from '../../device/built-in-profiles.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { quoteLine } from '../../text/words.ts';

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
  { verb: 'delete', needs: 'KEY', synonyms: 'remove rm del erase drop deluser userdel' },
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
};

function meaningOf(word: string): (typeof VERBS)[number] | undefined {
  return VERBS.find(({ verb, synonyms }) => verb === word || synonyms.split(' ').includes(word));
}

/** The equivalent line for `rm bob` or `add user bob`; undefined for unknown words. */
export function suggestedLine(words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words;
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
  const meaning = meaningOf(first);
  if (meaning === undefined) return undefined;
  const [verb = ''] = meaning.verb.split(' ');
  if (names.includes(verb)) return lineOf(command, meaning, rest);
  const other = meaning.synonyms.split(' ').find((word) => names.includes(word));
  return other && `${command} ${other} ${quoteLine(rest)}`.trim();
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
  return `${resource} ${verb} ${key === undefined ? needs : quoteLine(words)}`.trim();
}
