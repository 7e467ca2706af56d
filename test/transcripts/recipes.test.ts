import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TestFleet } from '../main/devsh.ts';
import { parseLine } from '../../src/text/words.ts';
import { play, startStory } from './play.ts';
import { parseRecipes, recipeText, type Part, type Recipe } from './recipe.ts';

const file = new URL('../../docs/recipes.md', import.meta.url);
const source = readFileSync(file, 'utf8');
const { head, recipes } = parseRecipes(source);

/** Updates the recipes with the current output; read the diff. */
const isUpdate = process.env['UPDATE_TRANSCRIPTS'] === '1';
const output = new Map<Recipe, string>();

const hasGit = spawnSync('git', ['--version']).status === 0;
const usesGit = ({ parts }: Recipe): boolean =>
  parts.some((part) => part.kind === 'command' && part.source.startsWith('git '));
const isSkipped = (recipe: Recipe): boolean => !hasGit && usesGit(recipe);

test.for(recipes)('recipe: $title', async (recipe, { skip }) => {
  skip(isSkipped(recipe), 'there is no git here');
  const fleet = await startStory(recipe.setup);
  const texts: string[] = [];
  for (const part of recipe.parts) texts.push(await runStep(part, fleet));
  output.set(recipe, recipeText(texts));
  if (!isUpdate) expect(recipeText(texts)).toBe(textOf(recipe));
});

test('there are at least twelve recipes, and the file contains nothing else', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(12);
  if (!isUpdate) expect(head + recipes.map(textOf).join('')).toBe(source);
});

afterAll(() => {
  if (isUpdate)
    writeFileSync(
      file,
      head + recipes.map((recipe) => output.get(recipe) ?? textOf(recipe)).join(''),
    );
});

function textOf({ parts }: Recipe): string {
  return recipeText(parts.map(({ text }) => text));
}

/** Runs git for real, without the settings of this user and without hashes and times in its output. */
function runGit(line: string, folder: string): Promise<string> {
  const names = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'devsh'],
    [`GIT_${who}_EMAIL`, 'devsh@example.com'],
  ]);
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    ...(Object.fromEntries(names) as Record<string, string>),
  };
  const args = parseLine(line)
    .words.slice(1)
    .map(({ text }) => text);
  return new Promise((resolve) => {
    execFile('git', args, { cwd: folder, env }, (error, stdout, stderr) => {
      const lines = [
        ...stdout.split('\n'),
        ...stderr.split('\n').map((text) => text && `! ${text}`),
      ]
        .filter((text) => text !== '' && !text.startsWith('index '))
        .map((text) => `${text}\n`);
      resolve(`$ ${line}\n${lines.join('')}[exit ${error === null ? 0 : Number(error.code)}]\n`);
    });
  });
}

/** Shows files without their folder. */
async function runStep(part: Part, fleet: TestFleet): Promise<string> {
  if (part.kind === 'note') return part.text;
  const { folder } = fleet.devsh;
  if (part.kind === 'file') {
    await writeFile(join(folder, part.name), part.content);
    return part.text;
  }
  if (part.kind === 'fault') return play(part, fleet);
  if (part.source.startsWith('git ')) return runGit(part.source, folder);
  const command = part.command.replaceAll(
    /(?<= )[\w-]+\.(?:yaml|csv|conf|json|plan|md|age)\b/g,
    '{home}/$&',
  );
  return (await play({ ...part, command }, fleet)).replaceAll('{home}/', '');
}
