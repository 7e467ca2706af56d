import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startSession } from '../shell/session.ts';
import { recipe } from './lab.ts';
import { parseLine } from '../../src/text/words.ts';
import { Shell } from '../../src/shell/shell.ts';

/** Every text in a YAML document. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** The devsh lines of a recipe, with the variables of its system replaced. */
async function lines(name: string, values: Readonly<Record<string, string>>): Promise<string[]> {
  const found = texts(parse(await readFile(recipe(name), 'utf8'))).filter((text) =>
    text.startsWith('devsh '),
  );
  const filled = Object.entries(values).reduce(
    (all, [variable, value]) => all.map((line) => line.replaceAll(variable, value)),
    found,
  );
  return filled.map((line) => line.replace(/^devsh | >> .*$/g, ''));
}

test.each([
  ['github-actions.yml', { '${{ matrix.shard }}': '2' }],
  ['gitlab-ci.yml', { $CI_NODE_INDEX: '2', $CI_NODE_TOTAL: '4' }],
])('the lines of %s run: pin, plan, pin, apply a shard, merge', async (name, values) => {
  const { session: shellSession } = await startSession();
  const shell = new Shell(shellSession);
  const found = await lines(name, values);
  const invocations = found.map((line) => shell.parse(parseLine(line).words));
  expect(invocations.map(({ command, verb }) => `${command.name} ${verb.name}`.trim())).toEqual([
    'trust accept',
    'plan',
    'trust accept',
    'apply',
    'runs merge',
  ]);
  expect(invocations[3]?.given).toMatchObject({
    shard: { index: 2, total: 4 },
    result: '2.jsonl',
  });
});
