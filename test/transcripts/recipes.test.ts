import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TestFleet } from '../main/devsh.ts';
import { play, startStory } from './play.ts';
import { parseRecipes, recipeText, type Part, type Recipe } from './recipe.ts';

const file = new URL('../../docs/recipes.md', import.meta.url);
const source = readFileSync(file, 'utf8');
const { head, recipes } = parseRecipes(source);

/** Updates the recipes with the current output; read the diff. */
const isUpdate = process.env['UPDATE_TRANSCRIPTS'] === '1';
const output = new Map<Recipe, string>();

test.each(recipes)('recipe: $title', async (recipe) => {
  const fleet = await startStory(recipe.setup);
  const texts: string[] = [];
  for (const part of recipe.parts) texts.push(await runStep(part, fleet));
  output.set(recipe, recipeText(texts));
  if (!isUpdate) expect(recipeText(texts)).toBe(recipeText(recipe.parts.map(({ text }) => text)));
});

test('there are at least twelve recipes, and the file contains nothing else', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(12);
  const texts = recipes.map(({ parts }) => recipeText(parts.map(({ text }) => text)));
  if (!isUpdate) expect(head + texts.join('')).toBe(source);
});

afterAll(() => {
  if (isUpdate) writeFileSync(file, head + recipes.map((recipe) => output.get(recipe)).join(''));
});

/** Shows files without their folder. */
async function runStep(part: Part, fleet: TestFleet): Promise<string> {
  if (part.kind === 'note') return part.text;
  const { folder } = fleet.devsh;
  if (part.kind === 'file') {
    await writeFile(join(folder, part.name), part.content);
    return part.text;
  }
  if (part.kind === 'fault') return play(part, fleet);
  const command = part.command.replaceAll(
    /(?<= )[\w-]+\.(?:yaml|csv|conf|json|plan|md)\b/g,
    `${folder}/$&`,
  );
  return (await play({ ...part, command }, fleet)).replaceAll('{home}/', '');
}
