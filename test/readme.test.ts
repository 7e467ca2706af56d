import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { COMMANDS } from '../src/shell/commands/index.ts';
import { usageOf } from '../src/shell/help.ts';
import { OPTIONS, optionLabel } from '../src/shell/option-list.ts';

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

test('the README lists the commands and options that there are (vitest -u writes them)', async () => {
  const text = await readFile(README, 'utf8');
  const [before = '', rest = ''] = text.split('<!-- commands -->\n');
  const after = rest.slice(rest.indexOf('<!-- /commands -->'));
  const generated = `${before}<!-- commands -->\n${commandTables()}\n${after}`;
  await expect(generated).toMatchFileSnapshot(README.pathname);
});

test('the README gives the reason for each dependency', async () => {
  const text = await readFile(README, 'utf8');
  const manifest = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  const table = text.slice(text.indexOf('## Dependencies'), text.indexOf('Not used, though'));
  const explained = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', '),
  );
  expect(names.filter((name) => !explained.includes(name))).toEqual([]);
});
