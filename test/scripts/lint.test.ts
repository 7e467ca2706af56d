import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
// @ts-expect-error -- plain JavaScript of the checks
import * as changes from '../../scripts/lint-changes.js';

const { changesSince, stateOf } = changes as {
  stateOf: (root: string, files: readonly string[]) => object;
  changesSince: (before: object | undefined, state: object) => readonly string[];
};

const FILES: Readonly<Record<string, string>> = {
  'deep.ts': 'export const deep = (): number => 1;\n',
  'between.ts': "export { deep } from './deep.ts';\n",
  'user.ts': "import type { deep } from './between.ts';\nexport type Deep = typeof deep;\n",
  'late.ts': "export const late = (): Promise<unknown> => import('./between.ts');\n",
  'alone.ts': 'export const alone = 1;\n',
};

/** Writes these files, and tells what may have other findings after each change of one; without a text it is gone. */
async function makeProject(): Promise<(name: string, text?: string) => Promise<readonly string[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-lint-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const names = new Set(Object.keys(FILES));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  let before = stateOf(folder, [...names]);
  expect(changesSince(undefined, before)).toEqual([...names]);
  return async (name, text) => {
    if (text === undefined) {
      await rm(join(folder, name));
      names.delete(name);
    } else {
      await writeFile(join(folder, name), text);
      if (name.endsWith('.ts')) names.add(name);
    }
    const state = stateOf(folder, [...names]);
    const changed = changesSince(before, state);
    before = state;
    return [...changed].sort();
  };
}

test('a file is linted again when it changes, or what it imports, however far', async () => {
  const change = await makeProject();
  expect(await change('alone.ts', FILES['alone.ts'])).toEqual([]);
  expect(await change('alone.ts', 'export const alone = 2;\n')).toEqual(['alone.ts']);
  const users = ['between.ts', 'late.ts', 'user.ts'];
  expect(await change('deep.ts', 'export const deep = 2;\n')).toEqual(['deep.ts', ...users].sort());
  expect(await change('deep.ts')).toEqual(users);
  expect(await change('deep.ts', FILES['deep.ts'])).toEqual(['deep.ts', ...users].sort());
});

test('all files are linted again when rules, options, packages or types for all of them change', async () => {
  const change = await makeProject();
  const all = Object.keys(FILES).sort();
  for (const name of ['eslint.config.js', 'tsconfig.json', 'package-lock.json']) {
    expect(await change(name, 'changed'), name).toEqual(all);
  }
  const declared = "declare module 'vitest' {\n  interface ProvidedContext { cli: string }\n}\n";
  expect(await change('types.ts', declared)).toEqual([...all, 'types.ts'].sort());
});
