import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseFilter } from '../../../src/fleet/filter.ts';
import { Inventory, selectDevices } from '../../../src/fleet/inventory.ts';
import { resolvePaths } from '../../../src/os/environment.ts';
import { SETTING_ROWS } from '../../../src/settings/settings-table.ts';
import { ENVIRONMENT } from '../../../src/shell/help/environment.ts';
import { HELP_TOPICS, type TopicName } from '../../../src/shell/help/topic-names.ts';
import { readTopic } from '../../../src/shell/help/topic-text.ts';
import { parseLine } from '../../../src/text/words.ts';
import { makeDevsh } from '../../main/devsh.ts';

const WORLD = { paths: resolvePaths({}, 'linux', '~'), keys: () => Promise.resolve([]) };

const TOPICS = Object.entries(HELP_TOPICS);

test.each(TOPICS)('"help %s" explains it in few and short lines', async (name, summary) => {
  const devsh = await makeDevsh();
  const { stdout, stderr, exitCode } = await devsh(['help', name]);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toContain(`${name}: ${summary}`);
  if (['keys', 'json'].includes(name)) return; // as long as what they list
  const lines = stdout.replaceAll(devsh.folder, '~').split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(70);
});

test('"help all" lists the topics, a mistyped one is suggested, a command comes with its topic', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('help all');
  for (const [name, summary] of TOPICS) {
    expect(stdout).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, 'm'));
  }
  const { stderr, exitCode } = await devsh('help exit-code');
  expect(stderr).toContain("'help exit-codes'");
  expect(exitCode).toBe(2);
  const { stdout: both } = await devsh('help trust');
  expect(both).toMatch(/trust scan TARGET…[^]*trust: how devsh checks/);
});

test('each example of a topic is understood', async () => {
  const devsh = await makeDevsh();
  for (const name of Object.keys(HELP_TOPICS) as TopicName[]) {
    const { examples } = await readTopic(name, WORLD);
    for (const example of examples) {
      const words = parseLine(example).words.map(({ text }) => text);
      const { exitCode, stderr } = await devsh(['--help', ...words]);
      expect({ example, exitCode, stderr }).toEqual({ example, exitCode: 0, stderr: '' });
    }
  }
});

/** What stands in the columns of the first rows of a topic. */
async function rowsOf(topic: TopicName): Promise<string[][]> {
  const { text } = await readTopic(topic, WORLD);
  const rows = text.slice(0, text.indexOf('\n\n')).split('\n');
  return rows.map((row) => row.trim().split(/ +/));
}

test.each(await rowsOf('filters'))('a filter may be %s: %s', (form = '', example = '') => {
  const [term] = parseFilter(example).terms;
  const kinds: Readonly<Record<string, string>> = {
    WORD: 'word',
    'FIELD!=VALUE': 'is not',
    'FIELD~REGEX': 'pattern',
  };
  expect(term?.kind).toBe(kinds[form] ?? 'is');
});

test.each(await rowsOf('selectors'))('a selector may be %s', (form = '') => {
  const inventory = new Inventory(
    ['fw1', 'fw2', 'fw3'].map((name, at) => ({
      name,
      address: `10.1.0.${at + 1}:443`,
      groups: ['berlin'],
    })),
  );
  const counts: Readonly<Record<string, number>> = {
    'fw*': 3,
    '@berlin': 3,
    '10.0.0.[5-9]': 5,
    '10.0.0.0/29': 6,
    '!fw3': 2,
  };
  expect(selectDevices([form], inventory)).toHaveLength(counts[form] ?? 1);
});

/** Names behind `env`, as they are read in the source. */
async function variablesRead(): Promise<string[]> {
  const root = new URL('../../../src', import.meta.url).pathname;
  const names = (await readdir(root, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')));
  return texts.flatMap((text) => [
    ...Array.from(text.matchAll(/env\??\.?\['(\w+)'\]/g), ([, name = '']) => name),
    ...Array.from(text.matchAll(/\benvironment\('(\w+)'\)/g), ([, name = '']) => name),
    ...Array.from(text.matchAll(/\bfolder\('(XDG_\w+)'/g), ([, name = '']) => name),
    ...Array.from(
      text.matchAll(/\{([^{}]*)\}(?: = (?:host\.)?env|: (?:NodeJS\.ProcessEnv|Environment))\b/g),
    ).flatMap(([, inside = '']) =>
      Array.from(inside.matchAll(/\b[A-Z][A-Z_]+\b/g), ([name]) => name),
    ),
  ]);
}

test('"help environment" has every variable that the source reads, and no other', async () => {
  const told = ENVIRONMENT.flatMap(({ variables }) =>
    variables.flatMap(([name]) => name.split(', ')),
  );
  const read = [...new Set(await variablesRead())];
  // It says only where programs are.
  const isTold = (name: string): boolean => [...told, 'PATH'].includes(name);
  expect(read.filter((name) => !isTold(name))).toEqual([]);
  // Read in other ways: from a list, by a name that is a constant, by Node itself.
  read.push(...SETTING_ROWS.flatMap(([, { variable }]) => variable?.name ?? []));
  const elsewhere = /proxy$|^NODE_EXTRA_CA_CERTS$/i;
  expect(told.filter((name) => !read.includes(name) && !elsewhere.test(name))).toEqual([]);
});
