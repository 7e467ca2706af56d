import { join } from 'node:path';
import { ALLOW_WORDS, allowMeaning } from '../../change/allow.ts';
import { MAX_DEVICES } from '../../fleet/inventory.ts';
import type { KeyRow, Services } from '../services.ts';
import { ENVIRONMENT, EXIT_CODES } from './environment.ts';
import { exampleLines, twoColumns } from './help.ts';
import { HELP_TOPICS, type TopicName } from './topic-names.ts';
import allow from './topics/allow.md';
import environment from './topics/environment.md';
import exitCodes from './topics/exit-codes.md';
import filters from './topics/filters.md';
import json from './topics/json.md';
import keys from './topics/keys.md';
import logins from './topics/logins.md';
import profiles from './topics/profiles.md';
import scripts from './topics/scripts.md';
import selectors from './topics/selectors.md';
import trust from './topics/trust.md';

interface TopicText {
  readonly text: string;
  /** Lines to try, as they are typed at the prompt. */
  readonly examples: readonly string[];
}

type TopicServices = Pick<Services, 'paths' | 'keys'>;

const SOURCES: Readonly<Record<TopicName, string>> = {
  selectors,
  filters,
  scripts,
  json,
  'exit-codes': exitCodes,
  allow,
  environment,
  logins,
  trust,
  profiles,
  keys,
};

/** The values of `{{name}}` in a text. */
const PARTS: Readonly<Record<string, (services: TopicServices) => string | Promise<string>>> = {
  'most-devices': () => String(MAX_DEVICES),
  'allow-words': () => columns(ALLOW_WORDS.map((word) => [word, allowMeaning(word)])),
  'exit-codes': () => columns(EXIT_CODES),
  variables: () =>
    ENVIRONMENT.map(({ title, variables }) => `${title}\n${columns(variables)}`).join('\n\n'),
  folders: ({ paths }) =>
    columns([
      ['settings, inventory', paths.config],
      ['pins, vault', paths.data],
      ['history, runs', paths.state],
      ['cache', paths.cache],
    ]),
  'profile-file': ({ paths }) => join(paths.config, 'profiles', 'NAME.yaml'),
  keys: async (services) => keyLines(await services.keys()),
  async schema() {
    const { outputJsonSchema } = await import('./document-schema.ts');
    return JSON.stringify(outputJsonSchema(), null, 2);
  },
};

export async function helpOnTopic(name: TopicName, services: TopicServices): Promise<string> {
  const { text, examples } = await readTopic(name, services);
  return [`${name}: ${HELP_TOPICS[name]}`, '', text, ...exampleLines(examples)].join('\n');
}

/** The text of a topic: its Markdown without the fences, and with the values of its `{{name}}` parts. */
export async function readTopic(name: TopicName, services: TopicServices): Promise<TopicText> {
  const [body = '', examples = ''] = SOURCES[name].split('\n```devsh\n');
  const pieces = body
    .replaceAll(/^```(?:text)?\n/gm, '')
    .trimEnd()
    .split(/\{\{([\w-]+)\}\}/);
  const filled = pieces.map(async (piece, at) =>
    at % 2 === 0 ? piece : String(await PARTS[piece]?.(services)),
  );
  const text = (await Promise.all(filled)).join('');
  return { text, examples: examples.split('\n').slice(0, -2) };
}

function columns(rows: Parameters<typeof twoColumns>[0]): string {
  return twoColumns(rows).join('\n');
}

const KEYS_WIDTH = 24;

/** The keys, grouped by the place of the screen where they work. */
function keyLines(rows: readonly KeyRow[]): string {
  const places = [...new Set(rows.map(({ place }) => place))].map((place) => {
    const members = rows.filter((row) => row.place === place);
    const lines = members.map(({ keys: bound, label, command }) => {
      const line = command === undefined ? '' : `  (${command})`;
      return `  ${bound.join(', ').padEnd(KEYS_WIDTH)}  ${label}${line}`;
    });
    return [place, ...lines].join('\n');
  });
  return places.join('\n\n');
}
