import { cp, mkdir, readlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nodeBinary } from '../package/node-binary.ts';
import { makeFolder, ROOT, run } from '../package/programs.ts';

const PRINTS_VERSION = ['-p', 'process.versions.node'];
const FILES = [
  'scripts/ensure-installed.js',
  'tools/node/package.json',
  'tools/node/package-lock.json',
  '.npmrc',
];

/** What a fresh clone has, with one package to install that is in it. */
async function cloneOf(engine: string): Promise<string> {
  const folder = await makeFolder(onTestFinished);
  for (const file of FILES) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(ROOT, file), join(folder, file));
  }
  const one = { name: 'one', version: '1.0.0', bin: { one: 'one.js' } };
  const manifest = {
    ...{ name: 'clone', version: '1.0.0', type: 'module', engines: { node: engine } },
    dependencies: { one: 'file:one' },
  };
  const packages = { '': manifest, 'node_modules/one': { resolved: 'one', link: true }, one };
  await mkdir(join(folder, 'one'));
  await writeFile(join(folder, 'one/one.js'), '');
  await writeFile(join(folder, 'one/package.json'), JSON.stringify(one));
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const lock = { name: 'clone', version: '1.0.0', lockfileVersion: 3, packages };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  return folder;
}

const OLD = await Promise.all(
  ['18.20.8', '20.20.2'].map(async (version) => ({ version, ...(await nodeBinary(version)) })),
);

test.skipIf(process.platform !== 'linux').each(OLD)(
  'Node $version fetches a newer one once, and every program of the clone runs on that',
  async (old) => {
    if (!('path' in old)) return expect(old.missing).toBe('downloaded');
    const folder = await cloneOf('>=22.19.0');
    const start = (env = {}) =>
      run(old.path, ['scripts/ensure-installed.js', ...PRINTS_VERSION], {
        cwd: folder,
        env: { ...process.env, npm_config_prefer_offline: 'true', ...env },
      });

    const first = await start();
    expect(first.stdout, first.stderr).toMatch(/^24\.\d+\.\d+\n$/);
    expect(first.stderr).toContain(
      `because devsh needs Node.js 22.19.0 or newer, and this is ${old.version} (npm ci) …`,
    );
    expect(await readlink(join(folder, 'node_modules/.bin/node'))).toContain('tools/node');
    expect(await start({ npm_config_offline: 'true', npm_config_cache: folder })).toEqual({
      code: 0,
      stdout: first.stdout,
      stderr: '',
    });
    const npx = await run('npm', ['exec', '--', 'node', ...PRINTS_VERSION], { cwd: folder });
    expect(npx.stdout).toBe(first.stdout);
  },
);

test('a Node that is new enough fetches none, and ends as its program does', async () => {
  const folder = await cloneOf('>=22.19.0');
  const start = (...args: readonly string[]) =>
    run(process.execPath, ['scripts/ensure-installed.js', ...args], { cwd: folder });
  expect((await start(...PRINTS_VERSION)).stdout.trim()).toBe(process.versions.node);
  expect(await start('-e', 'process.exit(3)')).toMatchObject({ code: 3, stderr: '' });
  await expect(readlink(join(folder, 'node_modules/.bin/node'))).rejects.toThrow('ENOENT');
});

test('says which registry, cache and folder an installation needs', async () => {
  const folder = await cloneOf('>=22.19.0');
  await writeFile(
    join(folder, 'package.json'),
    '{"engines": {"node": ">=22"}, "dependencies": {"two": "1"}}',
  );
  const { code, stderr } = await run(
    process.execPath,
    ['scripts/ensure-installed.js', ...PRINTS_VERSION],
    { cwd: folder },
  );
  expect(code).toBe(1);
  expect(stderr).toContain(
    'This could not be installed: packages. It needs, once: the npm registry',
  );
});
