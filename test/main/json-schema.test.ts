import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  documentSchema,
  lineSchema,
  outputJsonSchema,
} from '../../src/shell/help/document-schema.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { startFleet, type Devsh } from './devsh.ts';

/** All commands that end; `FILE` is a CSV file of users. */
const LINES = [
  'connect @lab',
  'devices --on @lab',
  'device list',
  'schema devices',
  'user list --on @lab',
  'user list --on @lab --drift',
  'user list --on @lab --against FILE',
  'user list --on @lab,10.255.255.1 --timeout 0.2',
  'user show admin --on @lab',
  'user show nobody --on @lab',
  'user add username=bob lang=de --on @lab --yes',
  'user set bob lang=en --on @lab --dry-run',
  'user set bob lang=en --on @lab --yes',
  'user delete bob --on @lab',
  'user delete bob --on @lab --yes',
  'user restore --at 0s --on @lab --dry-run',
  'user restore --at 9d --on @lab --yes',
  'lockout bob --now --yes --delete',
  'rotate password admin --on @lab --dry-run',
  'rotate token admin --on @lab --dry-run',
  'resources --on @lab',
  'resource user list --on @lab',
  'questions',
  'export --on @lab',
  'export user lang=de --on @lab',
  'export --on @lab --output FILE --overwrite',
  'import FILE --on @lab --dry-run',
  'import FILE --on @lab --yes',
  'plan FILE --on @lab',
  'plan FILE --on @lab --as-curl',
  'apply FILE --on @lab --yes',
  'runs',
  'pending',
  'resume --yes',
  'runs show nothing',
  'changes --on @lab',
  'user changes bob --all-fields --on @lab',
  'user list --at 1s --on @lab',
  'user list --drift --at 1s --on @lab',
  'changes --forget sim1 --yes',
  'undo --yes',
  'retry',
  'resume',
  'report',
  'report --json',
  'report --since 1h',
  'report --since 1h --json',
  'get /api/user/ --on @lab',
  'get /nothing --on @lab --raw',
  'post /api/user/ username=eve lang=de uuid=null first_name=E lastname=V --on sim1 --yes',
  'delete /api/user/ --on sim1 --yes',
  'profile list',
  'profile show --on sim1',
  'profile try sim1',
  'profile use sim1 documented',
  'schema profile',
  'learn --on sim1',
  'login --check --on @lab',
  'logout sim1 --yes',
  'credentials list',
  'vault list',
  'trust list',
  'trust show sim1',
  'history',
  'doctor',
  'info',
  'version',
  'config',
  'config get columns',
  'config set theme lihgt',
  'config set theme light',
  'config unset theme',
  'alias set everyone user',
  'alias set noop !pwd',
  'noop --yes',
  'alias list',
  'alias delete everyone',
  'schema settings',
  'schema changes',
  'user list --on @lab,10.255.255.1 --timeout 0.2 --count-by lang',
  'help',
  'help json',
  'help user',
  'completion bash',
  'use all',
  'disconnect sim1',
  'nonsense',
  'user lits --on @lab',
];

/** Commands that do not end, need a person, or print the output of other commands. */
const NOT_RUN = ['quit', 'demo', 'run', 'simulator'];

test('what every command prints as JSON, YAML and JSON lines is as "help json" says', async () => {
  const { devsh } = await startFleet({ devices: 2, users: 4 });
  const file = join(devsh.folder, 'users.csv');
  const ajv = formats.default(new Ajv2020({ strict: false }));
  const published = outputJsonSchema();
  const isDocument = ajv.compile(published.document as object);
  const isLine = ajv.compile(published.line as object);
  for (const line of LINES) {
    await writeFile(file, 'username,first_name,lastname,lang\nneu,N,E,de\nadmin,A,B,en\n');
    const words = line.replace('FILE', file).split(' ');

    const document: unknown = JSON.parse((await run(devsh, words, 'json')).stdout);
    expect.soft(problemsOf(documentSchema, document), line).toEqual([]);
    expect.soft(isDocument(document), `${line}: ${JSON.stringify(isDocument.errors)}`).toBe(true);

    const yaml: unknown = parse((await run(devsh, words, 'yaml')).stdout);
    expect.soft(problemsOf(documentSchema, yaml), line).toEqual([]);

    for (const one of (await run(devsh, words, 'jsonl')).stdout.split('\n').filter(Boolean)) {
      const value: unknown = JSON.parse(one);
      expect.soft(problemsOf(lineSchema, value), line).toEqual([]);
      expect.soft(isLine(value), line).toBe(true);
    }
  }
}, 60_000);

test.each([
  {},
  { device: 'fw1', record: 5 },
  { device: 'fw1', resource: 'user', key: 'bob', action: 'add', verdict: 'fine' },
  { device: 'fw1', error: 'no' },
  { run: 'x', summary: { done: 'one' } },
])('%j is no line of JSON lines', (line) => {
  const isLine = new Ajv2020({ strict: false, validateFormats: false }).compile(
    outputJsonSchema().line as object,
  );
  expect(isLine(line)).toBe(false);
  expect(problemsOf(lineSchema, line)).not.toEqual([]);
});

test('no command is left out above', () => {
  const covered = new Set([...LINES.map((line) => line.split(' ')[0]), ...NOT_RUN]);
  const missing = COMMANDS.map(({ name }) => name).filter((name) => !covered.has(name));
  expect(missing).toEqual([]);
});

test('"help json --json" is the schema by itself', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stdout } = await devsh('help json --json');
  expect(JSON.parse(stdout)).toEqual({ schema: 'devsh/1', help: outputJsonSchema() });
});

function run(devsh: Devsh, words: readonly string[], format: string) {
  return devsh([...words, '--format', format]);
}

function problemsOf(schema: typeof documentSchema, value: unknown): unknown[] {
  return schema.safeParse(value).error?.issues ?? [];
}
