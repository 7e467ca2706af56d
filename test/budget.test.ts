import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { programEnv, startProgram } from './main/process.ts';
import { simulate, startDevsh } from './pty/devsh.ts';

/**
 * What each command may load of the bundle, in files and thousands of bytes, and which libraries. Sizes are the
 * same on every machine, so that a start that has become slow shows here, and not only on a slow one. Where more is
 * needed, say so in the commit that raises a number.
 */
const BUDGET = {
  '--version': { files: 1, kilobytes: 1, libraries: [] },
  __complete: { files: 8, kilobytes: 477, libraries: [] },
  help: { files: 10, kilobytes: 629, libraries: [] },
  'user list': { files: 16, kilobytes: 1095, libraries: ['undici'] },
  'user list --format csv': { files: 19, kilobytes: 1117, libraries: ['csv', 'undici'] },
  'user add': { files: 35, kilobytes: 1216, libraries: ['undici'] },
  'full screen': { files: 22, kilobytes: 1603, libraries: ['ink'] },
} as const satisfies Record<string, Budget>;

interface Budget {
  readonly files: number;
  readonly kilobytes: number;
  readonly libraries: readonly string[];
}

/** Words that only the source of one library has. */
const LIBRARIES = {
  age: 'age-encryption.org/v1',
  conf: 'Config schema violation',
  csv: 'quoted_match',
  ink: 'ink-box',
  undici: 'UND_ERR_NOT_SUPPORTED',
  yaml: 'YAMLParseError',
  zod: 'ZodError',
};

/** What Node says it has loaded, when a program ends with NODE_V8_COVERAGE. */
async function loaded(folder: string): Promise<Budget> {
  const files = new Set<string>();
  for (const name of await readdir(folder)) {
    const report = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
      result: { url: string }[];
    };
    for (const { url } of report.result) if (url.startsWith('file:')) files.add(fileURLToPath(url));
  }
  const own = [...files].filter((file) => file.startsWith(dirname(inject('cli'))));
  const texts = await Promise.all(own.map((file) => readFile(file, 'utf8')));
  return {
    files: own.length,
    kilobytes: Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1000),
    libraries: Object.entries(LIBRARIES)
      .filter(([, word]) => texts.some((text) => text.includes(word)))
      .map(([library]) => library),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-budget-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function expectWithin(spent: Budget, budget: Budget): void {
  expect(spent.libraries).toEqual(budget.libraries);
  expect(spent.kilobytes, 'thousands of bytes').toBeLessThanOrEqual(budget.kilobytes);
  expect(spent.files, 'files').toBeLessThanOrEqual(budget.files);
}

test.each([
  ['--version', []],
  ['__complete', ['fish', 'devsh user ']],
  ['help', []],
  ['user list', ['--insecure', '--on']],
  ['user list --format csv', ['--insecure', '--on']],
  [
    'user add',
    ['username=eve', 'first_name=E', 'lastname=Eve', 'lang=de', '--yes', '--insecure', '--on'],
  ],
] as const)('%s loads no more than it needs', async (command, more) => {
  const [folder, simulator] = [await makeFolder(), await simulate()];
  const coverage = join(folder, 'coverage');
  const on = more.at(-1) !== '--on' ? [] : [simulator.devices[0]?.address ?? ''];
  const program = startProgram([...command.split(' '), ...more, ...on], folder, '', {
    NODE_V8_COVERAGE: coverage,
  });
  const { code, stderr } = await program.ended;
  expect(code, stderr).toBe(0);
  expectWithin(await loaded(coverage), BUDGET[command]);
});

test('settings and an inventory cost no library once they have been read', async () => {
  const [folder, simulator] = [await makeFolder(), await simulate()];
  const config = join(folder, 'config/devsh');
  await mkdir(config, { recursive: true });
  await writeFile(join(config, 'settings.json'), '{"timeoutMs": 9000, "rememberKeys": false}');
  const device = `{name: fw1, address: "${simulator.devices[0]?.address ?? ''}"}`;
  await writeFile(join(config, 'devices.yaml'), `devices:\n  - ${device}\n`);
  const start = (coverage: string) =>
    startProgram(['user', 'list', '--insecure', '--on', 'fw1'], folder, '', {
      NODE_V8_COVERAGE: coverage,
    }).ended;
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];

  expect(await start(first)).toMatchObject({ code: 0 });
  expect((await loaded(first)).libraries).toEqual(expect.arrayContaining(['yaml', 'zod']));
  expect(await start(second)).toMatchObject({ code: 0 });
  expectWithin(await loaded(second), BUDGET['user list']);
});

/** Computing time, user and system, in multiples of what `node -e 0` takes. */
const COMPUTING = { '--version': 2, 'user list': 7 };

test('a start computes no more than it needs', async () => {
  const [folder, simulator] = [await makeFolder(), await simulate()];
  const [preload, figures] = [join(folder, 'print-cpu.cjs'), join(folder, 'figures')];
  const cpu = 'const { user, system } = process.cpuUsage();';
  const write = `require('node:fs').writeFileSync(${JSON.stringify(figures)}, String(user + system));`;
  await writeFile(preload, `process.on('exit', () => { ${cpu} ${write} });`);
  const env = { ...programEnv(folder), NODE_OPTIONS: `--require ${JSON.stringify(preload)}` };
  const address = simulator.devices[0]?.address ?? '';
  const starts = {
    node: ['-e', '0'],
    '--version': [inject('cli'), '--version'],
    'user list': [inject('cli'), 'user', 'list', '--insecure', '--on', address],
  };
  const least = { node: Infinity, '--version': Infinity, 'user list': Infinity };
  // Others load the machine: in turn, and the least of each, so that both are stretched alike.
  for (let round = 0; round < 9; round += 1) {
    for (const name of ['node', '--version', 'user list'] as const) {
      await promisify(execFile)(process.execPath, starts[name], { env });
      least[name] = Math.min(least[name], Number(await readFile(figures, 'utf8')));
    }
  }
  for (const name of ['--version', 'user list'] as const) {
    expect(least[name] / least.node, name).toBeLessThanOrEqual(COMPUTING[name]);
  }
});

test('the full screen loads no more than it needs', async () => {
  const coverage = join(await makeFolder(), 'coverage');
  const program = await startDevsh([], { env: { NODE_V8_COVERAGE: coverage } });
  await program.waitFor('devsh');
  program.type('quit\r');
  await program.exit;
  expectWithin(await loaded(coverage), BUDGET['full screen']);
});
