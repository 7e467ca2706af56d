import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerCompletion } from '../../../src/answer-completion.ts';
import { makeTempFolder } from '../../settings/temp-folder.ts';

/** The candidates for the end of `line`, with these aliases in the settings. */
async function candidates(line: string, aliases: Readonly<Record<string, string>>) {
  const folder = await makeTempFolder();
  await mkdir(join(folder, 'devsh'), { mode: 0o700 });
  await writeFile(join(folder, 'devsh', 'settings.json'), JSON.stringify({ aliases }));
  const home = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
  const answer = await answerCompletion(['fish', line], home);
  return answer.split('\n').map((one) => one.split('\t')[0]);
}

const ALIASES = { german: 'user list lang=de', leaver: 'user delete ${1}', user: 'help' };

test('an alias is a first word, and a command of the same name stays one', async () => {
  expect(await candidates('devsh ger', ALIASES)).toContain('german');
  const all = await candidates('devsh ', ALIASES);
  expect(all).toContain('leaver');
  expect(all.filter((word) => word === 'user')).toHaveLength(1);
});

test('behind an alias the options of its line follow, also while its value is missing', async () => {
  expect(await candidates('devsh german --col', ALIASES)).toContain('--columns');
  expect(await candidates('devsh leaver bob --dry', ALIASES)).toContain('--dry-run');
  expect(await candidates('devsh leaver --dry', ALIASES)).toContain('--dry-run');
});

test('an alias that must not run is no reason to fail', async () => {
  expect(await candidates('devsh gone --h', { gone: 'user list --yes' })).not.toContain(
    '--columns',
  );
});

test('alias delete completes the aliases', async () => {
  expect(await candidates('devsh alias delete ', ALIASES)).toEqual(
    expect.arrayContaining(['german', 'leaver']),
  );
});
