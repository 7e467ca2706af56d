import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { profileJsonSchema } from '../src/device/profile-schema.ts';
import { COMMANDS } from '../src/shell/commands/index.ts';
import { ENVIRONMENT } from '../src/shell/environment.ts';
import { EXIT_CODES } from '../src/shell/exit-codes.ts';
import { usageOf } from '../src/shell/help.ts';
import { OPTIONS, optionLabel } from '../src/shell/option-list.ts';
import { KEYMAP } from '../src/tui/keys/default-keymap.ts';
import { keyTable } from '../src/tui/key-table.ts';
import { PARTS, withParts } from './docs/parts.ts';

const README = new URL('../README.md', import.meta.url);

/** A table row; `|` would end the cell. */
function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function commandTables(): string {
  const commands = COMMANDS.flatMap((command) =>
    command.verbs.map((verb) => row(`\`${usageOf(command, verb)}\``, verb.summary)),
  );
  const options = OPTIONS.map((option) => row(`\`${optionLabel(option)}\``, option.summary));
  return [row('command', 'what it does'), '|---|---|', ...commands, '']
    .concat(['', row('option', 'what it does'), '|---|---|', ...options].slice(1))
    .join('\n');
}

function exitCodeTable(): string {
  const rows = EXIT_CODES.map(({ code, meaning }) => row(code, meaning));
  return [row('exit', 'meaning'), '|---|---|', ...rows].join('\n');
}

function environmentTable(): string {
  const rows = ENVIRONMENT.flatMap(({ variables }) =>
    variables.map(({ name, meaning }) =>
      row(
        name
          .split(', ')
          .map((one) => `\`${one}\``)
          .join(', '),
        meaning,
      ),
    ),
  );
  return [row('variable', 'what it says'), '|---|---|', ...rows].join('\n');
}

/** The places where one is most of the time; `help keys` has the others. */
function keyRows(): string {
  const rows = keyTable(KEYMAP).filter(({ place }) => /^(table|prompt|anywhere)$/.test(place));
  return [
    row('where', 'key', 'what it does', 'as a command'),
    '|---|---|---|---|',
    ...rows.map(({ place, keys, label, command }) =>
      row(
        place,
        keys.map((key) => `\`${key}\``).join(' '),
        label,
        command === undefined ? '' : `\`${command}\``,
      ),
    ),
  ].join('\n');
}

interface Schema {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** `create`, `update` and `remove` have the same facts: they stand once. */
function factTable(): string {
  const rows = (schema: Schema, path: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, fact]) => {
      const values = fact.enum === undefined ? '' : ` (${fact.enum.join(', ')})`;
      const own = row(`\`${path}${name}\``, `${fact.description ?? ''}${values}`);
      const inner = fact.additionalProperties;
      const isKnown = /update$|^remove$/.test(name);
      if (isKnown) return [own];
      if (typeof inner === 'object' && inner.properties !== undefined) {
        return [own, ...rows(inner, `${path}${name}.NAME.`)];
      }
      return [own, ...rows(fact, `${path}${name}.`)];
    });
  const schema = profileJsonSchema() as Schema;
  return [row('fact', 'what it says'), '|---|---|', ...rows(schema, '')].join('\n');
}

function withPart(text: string, name: string, part: string): string {
  const [before = '', rest = ''] = text.split(`<!-- ${name} -->\n`);
  const after = rest.slice(rest.indexOf(`<!-- /${name} -->`));
  return `${before}<!-- ${name} -->\n${part}\n${after}`;
}

test('the README lists the commands, options, facts, exit codes and variables that there are (vitest -u writes them)', async () => {
  const text = await readFile(README, 'utf8');
  const parts: Readonly<Record<string, string>> = {
    commands: commandTables(),
    facts: factTable(),
    'exit codes': exitCodeTable(),
    environment: environmentTable(),
  };
  const generated = Object.entries(parts).reduce(
    (whole, [name, part]) => withPart(whole, name, part),
    text,
  );
  await expect(generated).toMatchFileSnapshot(README.pathname);
});

test('the README gives the reason for each package that the program is made of', async () => {
  const text = await readFile(README, 'utf8');
  const source = new URL('../src/', import.meta.url);
  const files = (await readdir(source, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const sources = await Promise.all(files.map((name) => readFile(new URL(name, source), 'utf8')));
  // `from 'undici/lib/…'`, `import('yaml')`: what belongs to Node or to devsh is no package.
  const imported = sources.flatMap((one) =>
    [...one.matchAll(/(?:from|import\() ?'((?!node:)(?:@[\w.-]+\/)?[a-z][\w.-]*)/g)].map(
      ([, name = '']) => name,
    ),
  );
  const table = text.slice(text.indexOf('## Dependencies'), text.indexOf('Not used, though'));
  const explained = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', '),
  );
  const packages = [...new Set(imported)].filter((name) => name !== 'devsh');
  expect(packages).toContain('undici');
  expect(packages.filter((name) => !explained.includes(name))).toEqual([]);
});

test('the README lists the keys that there are (vitest -u writes them)', async () => {
  const text = await readFile(README, 'utf8');
  const [before = '', rest = ''] = text.split('<!-- keys -->\n');
  const after = rest.slice(rest.indexOf('<!-- /keys -->'));
  const generated = `${before}<!-- keys -->\n${keyRows()}\n${after}`;
  await expect(generated).toMatchFileSnapshot(README.pathname);
});

test.each(Object.keys(PARTS).filter((page) => page !== 'README.md'))(
  '%s has the tables as the program knows them (vitest -u writes them)',
  async (page) => {
    const path = new URL(`../${page}`, import.meta.url).pathname;
    await expect(withParts(page, await readFile(path, 'utf8'))).toMatchFileSnapshot(path);
  },
);
