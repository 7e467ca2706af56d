import { KEPT_FILES } from '../../scripts/man-page.ts';
import { ENVIRONMENT, EXIT_CODES } from '../../src/shell/help/environment.ts';
import { resolvePaths, type Paths } from '../../src/os/environment.ts';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import { commandReference, firstCommands } from './command-reference.ts';
import { fieldWords, inventoryFacts, profileFacts, settingsFacts } from './fact-tables.ts';
import { table } from './table.ts';

/**
 * What stands between `<!-- name -->` and `<!-- /name -->` in a page, written from what the program
 * itself knows.
 */
export const PARTS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': { commands: firstCommands, 'exit codes': exitCodesInShort },
  'docs/commands.md': { commands: commandReference },
  'docs/keys.md': { keys },
  'docs/environment.md': { variables, files, settings: settingsFacts },
  'docs/inventories.md': { keys: inventoryFacts },
  'docs/profiles.md': { words: fieldWords, facts: profileFacts },
  'docs/scripts.md': { 'exit codes': exitCodes },
};

/** The page with each of its parts as it is now. */
export function withParts(page: string, text: string): string {
  return Object.entries(PARTS[page] ?? {}).reduce((whole, [name, write]) => {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const from = whole.indexOf(start);
    const to = whole.indexOf(end);
    if (from < 0 || to < from) throw new Error(`${page} has no place for "${name}"`);
    return `${whole.slice(0, from)}${start}${write()}\n${whole.slice(to)}`;
  }, text);
}

function exitCodes(): string {
  return table(['exit', 'meaning'], EXIT_CODES);
}

/** In as few lines as the README has room for. */
function exitCodesInShort(): string {
  return EXIT_CODES.map(([code, meaning]) => `**${code}** ${meaning}`)
    .join(' · ')
    .replaceAll(/(.{100,140}) · /g, '$1 ·\n');
}

function keys(): string {
  const places = [...new Set(KEYMAP.map(({ place }) => place))];
  const cells = places.flatMap((title) => [
    ['', `**${title}**`, ''],
    ...KEYMAP.filter(({ place }) => place === title).map(({ keys: pressed, label, command }) => [
      codes(pressed).join(' '),
      label,
      command === undefined ? '' : `\`${command}\``,
    ]),
  ]);
  return table(['key', 'what it does', 'as a command'], cells);
}

function variables(): string {
  const rows = ENVIRONMENT.flatMap(({ title, variables: some }) => [
    [`**${title}**`, ''],
    ...some.map(([name, meaning]) => [codes(name.split(', ')).join(', '), meaning]),
  ]);
  return table(['variable', 'meaning'], rows);
}

function files(): string {
  const of = (platform: NodeJS.Platform, home: string): Paths => resolvePaths({}, platform, home);
  const [linux, mac] = [of('linux', '~'), of('darwin', '~')];
  const rows = KEPT_FILES.map(([folder, name, meaning]) => [
    meaning.replace(/\.$/, ''),
    `\`${linux[folder]}/${name}\``,
    `\`${mac[folder]}/${name}\``,
  ]);
  return table(['what', 'Linux', 'macOS'], rows);
}

function codes(texts: readonly string[]): string[] {
  return texts.map((text) => `\`${text}\``);
}
