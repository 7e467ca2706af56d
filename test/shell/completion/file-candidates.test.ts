import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileCandidates } from '../../../src/shell/completion/complete.ts';
import { quoteWord } from '../../../src/text/words.ts';
import { makeTempFolder } from '../../settings/temp-folder.ts';
import { Shell } from '../../../src/shell/shell.ts';
import { startSession } from '../session.ts';

async function folderWith(...names: readonly string[]): Promise<string> {
  const folder = await makeTempFolder();
  for (const name of names) await writeFile(join(folder, name), '');
  await mkdir(join(folder, 'backup'));
  return folder;
}

test('files of the folder that is typed are proposed, folders with a slash, hidden ones at a dot', async () => {
  const folder = await folderWith('users.csv', '.hidden', 'bad\u001bname');
  const names = async (typed: string) =>
    (await fileCandidates(typed)).map(({ text }) => text.slice(folder.length + 1));
  expect(await names(`${folder}/`)).toEqual(['backup/', 'users.csv']);
  expect(await names(`${folder}/.h`)).toContain('.hidden');
  expect(await fileCandidates(`${folder}/nothing/`)).toEqual([]);
});

test('the prompt completes the file of import, and the one of export behind its option', async () => {
  const folder = await folderWith('users.csv', 'two words.csv');
  const { session: shellSession } = await startSession();
  const shell = new Shell(shellSession);
  for (const head of ['import ', 'export user --output ', 'export user --output=']) {
    const line = `${head}${quoteWord(`${folder}/us`)}`;
    const { proposals } = await shell.complete(line, line.length);
    expect(proposals.map(({ insert }) => insert.trim())).toEqual([
      `${head.endsWith('=') ? '--output=' : ''}${quoteWord(`${folder}/users.csv`)}`,
    ]);
  }
  const line = `import ${quoteWord(`${folder}/two`)}`;
  const { proposals } = await shell.complete(line, line.length);
  expect(proposals.map(({ insert }) => insert)).toEqual([`'${folder}/two words.csv' `]);
});
