import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { simulate } from '../pty/devsh.ts';
import { nodeBinary } from './node-binary.ts';
import { makeFolder, ROOT, run } from './programs.ts';

/** Two builds whose compiled code V8 takes for its own and cannot run, and one that is unlike them. */
const VERSIONS = ['22.20.0', '22.23.5', '24.1.0'];
const nodes = new Map<string, string>();
const missing: string[] = [];
for (const version of VERSIONS) {
  const binary = await nodeBinary(version);
  if ('path' in binary) nodes.set(version, binary.path);
  else missing.push(binary.missing);
}

/** Dozens of starts. */
const LONG = { timeout: 120_000 };

/** A folder that only root and this user can replace; tests have none in the folder for temporary files. */
const safe = [join(ROOT, 'node_modules/.cache'), userInfo().homedir].find(isProtected);

function isProtected(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const isOwn = [0, process.getuid?.()].includes(uid) && (mode & 0o022) === 0;
  return isOwn && (dirname(folder) === folder || isProtected(dirname(folder)));
}

async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(safe ?? '', '.devsh-test-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

function startWith(version: string, home: string, args: readonly string[], env = {}) {
  const own = { PATH: process.env['PATH'], HOME: home, DEVSH_USER: 'admin', ...env };
  return run(nodes.get(version) ?? '', [inject('cli'), ...args], { env: own });
}

/** The folder that Node uses for compiled code, as the program ends. */
async function usedFolder(version: string, home: string, env: NodeJS.ProcessEnv = {}) {
  const folder = await makeFolder(onTestFinished);
  const [preload, answer] = [join(folder, 'preload.cjs'), join(folder, 'answer')];
  const program = `
    const { getCompileCacheDir } = require('node:module');
    process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(answer)}, String(getCompileCacheDir?.())));`;
  await writeFile(preload, program);
  const more = { ...env, NODE_OPTIONS: `--require ${JSON.stringify(preload)}` };
  const { code, stderr } = await startWith(version, home, ['device', 'list'], more);
  expect(code, stderr).toBe(0);
  return readFile(answer, 'utf8');
}

/** All files below a folder, with their contents. */
async function contentsOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, 'latin1')] as const)),
  );
}

const reason = [...missing, ...(safe === undefined ? ['no folder that is safe'] : [])].join('; ');
const title = reason === '' ? 'compiled code' : `compiled code (${reason})`;
describe.skipIf(reason !== '' || process.platform === 'win32')(title, () => {
  test('three builds of Node in turn on one home: each command ends well', LONG, async () => {
    const home = await makeHome();
    const { devices } = await simulate();
    const on = ['--insecure', '--on', devices[0]?.address ?? ''];
    const commands = [
      ['help'],
      ['device', 'list'],
      ['user', 'list', ...on],
      ['user', 'set', 'viewer', 'lang=fr', '--yes', ...on],
      ['__complete', 'fish', 'devsh user '],
    ];
    // The first ones also find what the others have left.
    for (const command of commands) {
      for (const version of [...VERSIONS, ...VERSIONS.slice(0, -1)]) {
        const env = { DEVSH_PASSWORD: 'admin-secret' };
        const { code, stderr } = await startWith(version, home, command, env);
        expect([version, command, code], stderr).toEqual([version, command, 0]);
      }
    }
    const folder = join(home, '.cache/devsh/compiled');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const kept = await readdir(folder);
    expect(kept.map((name) => name.split('-')[0]).sort()).toEqual(VERSIONS.map((one) => `v${one}`));
    for (const name of kept) expect(await readdir(join(folder, name))).not.toEqual([]);
  });

  test.each(VERSIONS)(
    'what Node %s keeps may be damaged, or a file in its place',
    async (version) => {
      const home = await makeHome();
      const help = await startWith(version, home, ['help']);
      expect(help).toMatchObject({ code: 0, stderr: '' });
      const folder = join(home, '.cache/devsh/compiled');
      const kept = [...(await contentsOf(folder)).keys()];
      expect(kept).not.toEqual([]);
      for (const path of kept) await writeFile(path, 'damaged '.repeat(1000));
      expect(await startWith(version, home, ['help'])).toEqual(help);
      await rm(folder, { recursive: true });
      await writeFile(folder, 'no folder');
      expect(await startWith(version, home, ['help'])).toEqual(help);
    },
  );

  test.each(VERSIONS)(
    'NODE_COMPILE_CACHE is for Node %s alone, and an old file there stays',
    async (version) => {
      const [home, other] = [await makeHome(), await makeFolder(onTestFinished)];
      const foreign = join(other, 'foreign.bin');
      await writeFile(foreign, 'of somebody else');
      const yearsAgo = Date.now() / 1000 - 900 * 86_400;
      await utimes(foreign, yearsAgo, yearsAgo);
      const env = { NODE_COMPILE_CACHE: other };
      for (let round = 0; round < 2; round += 1) {
        expect((await startWith(version, home, ['help'], env)).code).toBe(0);
      }
      expect(await readFile(foreign, 'utf8')).toBe('of somebody else');
      expect((await readdir(other)).length).toBe(2);
      const own = join(home, '.cache/devsh/compiled');
      expect(await contentsOf(dirname(own)).catch(() => new Map())).toEqual(new Map());

      const none = { NODE_DISABLE_COMPILE_CACHE: '1' };
      expect(await usedFolder(version, home, none)).toBe('undefined');
    },
  );

  const [version = ''] = VERSIONS;

  test('the folder is one that only its user can write to, whatever the path', async () => {
    const home = await makeHome();
    expect(await usedFolder(version, home)).toContain(join(home, '.cache/devsh/compiled'));
    const linked = join(home, 'linked');
    await symlink(join(home, '.cache'), linked);
    const env = { XDG_CACHE_HOME: linked };
    expect(await usedFolder(version, home, env)).toContain(join(home, '.cache/devsh/compiled'));
  });

  test.each<[string, (home: string) => Promise<string>]>([
    ['a shared sticky folder', (home) => makeShared(home, 0o1777)],
    ['a folder that its group may write to', (home) => makeShared(home, 0o770)],
    [
      'a folder below a shared one',
      async (home) => {
        const below = join(await makeShared(home, 0o1777), 'below');
        await mkdir(join(below, 'devsh/compiled'), { recursive: true, mode: 0o700 });
        return below;
      },
    ],
    [
      'a link to a shared folder',
      async (home) => {
        await symlink(await makeShared(home, 0o1777), join(home, 'link'));
        return join(home, 'link');
      },
    ],
    [
      'a folder where others may write to the last part',
      async (home) => {
        await mkdir(join(home, 'open/devsh/compiled'), { recursive: true });
        await chmod(join(home, 'open/devsh/compiled'), 0o777);
        return join(home, 'open');
      },
    ],
  ])('keeps nothing in %s', async (_what, arrange) => {
    const home = await makeHome();
    expect(await usedFolder(version, home, { XDG_CACHE_HOME: await arrange(home) })).toBe(
      'undefined',
    );
  });

  test.skipIf(process.getuid?.() !== 0)('keeps nothing in a folder of another user', async () => {
    const home = await makeHome();
    const folder = join(home, '.cache/devsh/compiled');
    await mkdir(folder, { recursive: true, mode: 0o755 });
    for (const one of [folder, dirname(folder)]) {
      await chown(one, 10001, 10001);
      expect(await usedFolder(version, home)).toBe('undefined');
      await chown(one, 0, 0);
    }
    expect(await usedFolder(version, home)).not.toBe('undefined');
  });

  test('code that somebody else put into a shared folder does not run', async () => {
    const home = await makeHome();
    const shared = await makeShared(home, 0o1777);
    const folder = join(shared, 'devsh/compiled');
    const { cli, says } = await plantCode(home, folder);
    const start = (env: NodeJS.ProcessEnv) =>
      run(nodes.get(version) ?? '', [cli, 'help'], { env: { HOME: home, ...env } });
    // Node itself would run it: the test has planted code that works.
    expect((await start({ NODE_COMPILE_CACHE: folder })).stdout).toContain(says);
    const before = await contentsOf(folder);
    const { code, stdout } = await start({ XDG_CACHE_HOME: shared });
    expect(code).toBe(0);
    expect(stdout).not.toContain(says);
    expect(await contentsOf(folder)).toEqual(before);
  });

  async function makeShared(home: string, mode: number): Promise<string> {
    const folder = join(home, 'shared');
    await mkdir(folder);
    await chmod(folder, mode);
    return folder;
  }

  /** Keeps compiled code of another source for a copy of the program, and gives it the checksum of the right one. */
  async function plantCode(home: string, folder: string) {
    const program = join(home, 'program');
    await cp(dirname(inject('cli')), program, { recursive: true });
    const cli = join(program, 'cli.js');
    const [right, says] = ['Connect to devices', 'Code of a stranger'];
    const changed = [...(await contentsOf(join(program, 'chunks')))].filter(([, text]) =>
      text.includes(right),
    );
    expect(changed).not.toEqual([]);
    for (const [path, text] of changed) {
      await writeFile(path, text.replaceAll(right, says), 'latin1');
    }
    const env = { HOME: home, NODE_COMPILE_CACHE: folder };
    await run(nodes.get(version) ?? '', [cli, 'help'], { env });
    const sums = new Map<number, number>();
    for (const [path, text] of changed) {
      sums.set(crc32(await readFile(path)), crc32(Buffer.from(text, 'latin1')));
      await writeFile(path, text, 'latin1');
    }
    for (const path of (await contentsOf(folder)).keys()) {
      const bytes = await readFile(path);
      const sum = sums.get(bytes.readUInt32LE(12));
      if (sum === undefined) continue;
      bytes.writeUInt32LE(sum, 12);
      await writeFile(path, bytes);
    }
    return { cli, says };
  }
});
