import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { FIRST_READING, makeFolder, ROOT, run, succeed } from './programs.ts';

/** All files that may be in the package. */
const ALLOWED = [
  /^(package\.json|LICENSE|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md)$/,
  /^(docs\/[\w-]+\.md|pictures\/[\w-]+\.svg|profiles\/[\w-]+\.yaml|recipes\/[\w.-]+)$/,
  /^dist\/man\/[\w-]+\.1$/,
  /^dist\/(cli\.js|package\.json)$/,
  /^dist\/chunks\/[\w-]+\.js$/,
  /^dist\/profiles\/[\w-]+\.yaml$/,
  /^dist\/(THIRD-PARTY-NOTICES\.txt|sbom\.cdx\.json)$/,
];
const MOST_BYTES = 8_500_000;

/** npm, two compilers and 100 MB of Node take seconds each on an idle machine. */
const LONG = { timeout: 120_000 };

interface Component {
  readonly name: string;
  readonly version: string;
  readonly scope: 'required' | 'optional';
  readonly hashes: readonly unknown[];
}

let folder: string;
let tarball: string;
/** The package, unpacked. */
let unpacked: string;

beforeAll(async () => {
  folder = await makeFolder(afterAll);
  tarball = (await succeed(process.execPath, ['scripts/pack.js', folder])).trim();
  await succeed('tar', ['-xzf', tarball, '-C', folder]);
  unpacked = join(folder, 'package');
}, 120_000);

async function simulate(): Promise<SimulatedDevice> {
  const simulator = await startSimulator({ users: 5 });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new RangeError('no device');
  return device;
}

/** An environment with only the cache and settings of npm. */
function npmEnvironment(home: string): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home };
}

async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** In blocks of 4 KiB, like `du`. */
async function bytesOnDisk(path: string): Promise<number> {
  const blocks = (await filesIn(path)).map(async (file) =>
    Math.ceil((await stat(file)).size / 4096),
  );
  return 4096 * (await Promise.all(blocks)).reduce((sum, count) => sum + count, 0);
}

async function componentsOf(path: string): Promise<readonly Component[]> {
  const { components } = JSON.parse(await readFile(path, 'utf8')) as {
    components: readonly Component[];
  };
  return components;
}

test('the package contains only the program and its required files', async () => {
  const files = (await filesIn(unpacked)).map((file) => file.slice(unpacked.length + 1));
  expect(files.filter((file) => !ALLOWED.some((pattern) => pattern.test(file)))).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/cli.js',
      'dist/THIRD-PARTY-NOTICES.txt',
      'dist/profiles/netbox.yaml',
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
    ]),
  );
});

test('the links of the pages lead to files of the package', async () => {
  const pages = (await filesIn(unpacked)).filter((file) => file.endsWith('.md'));
  const dead = await Promise.all(
    pages.map(async (page) => {
      const links = (await readFile(page, 'utf8')).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g);
      return Array.from(links, ([, to = '']) => join(page, '..', to)).filter(
        (to) => !existsSync(to),
      );
    }),
  );
  // A promise is proven by its test, which only the repository has.
  const missing = dead.flat().map((path) => path.slice(unpacked.length + 1));
  expect(missing.filter((path) => !path.startsWith('test/'))).toEqual([]);
});

test('nothing but the keychain is installed beside the bundle', async () => {
  const manifest = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8')) as object;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('peerDependencies');
  expect(manifest).toHaveProperty('optionalDependencies', {
    '@napi-rs/keyring': expect.any(String) as string,
  });
});

test('the bill of materials lists what is in the bundle, as npm knows it', async () => {
  const components = await componentsOf(join(unpacked, 'dist/sbom.cdx.json'));
  const sbom = JSON.parse(await succeed('npm', ['sbom', '--sbom-format', 'cyclonedx'])) as {
    components: readonly Component[];
  };
  const known = new Set(sbom.components.map(({ name, version }) => `${name} ${version}`));

  expect(components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['undici', 'ink', 'react', 'yaml', 'zod', '@napi-rs/keyring']),
  );
  expect(components.map(({ name }) => name)).not.toContain('vitest');
  expect(
    components.filter(({ name, version }) => !known.has(`${name} ${version}`)),
    'not installed',
  ).toEqual([]);
  expect(components.filter(({ hashes }) => hashes.length !== 1)).toEqual([]);
});

test('the bill of materials has a serial number and names its tools', async () => {
  const text = await readFile(join(unpacked, 'dist/sbom.cdx.json'), 'utf8');
  const bom = JSON.parse(text) as {
    serialNumber: string;
    metadata: { tools: { components: readonly { name: string }[] } };
  };
  expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(bom.metadata.tools.components.map(({ name }) => name)).toEqual(['esbuild', 'devsh']);
});

test('every package in the bundle runs on the oldest Node that the package names', async () => {
  const { engines } = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const semver = createRequire(import.meta.url)('semver') as {
    subset: (range: string, of: string) => boolean;
  };
  const components = await componentsOf(join(unpacked, 'dist/sbom.cdx.json'));
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { version: string; engines?: { node?: string } }>>;
  };
  const needs = components.map(({ name, version }) => {
    const locked = Object.entries(packages).find(
      ([path, one]) => path.endsWith(`node_modules/${name}`) && one.version === version,
    );
    expect(locked, name).toBeDefined();
    return { name, node: locked?.[1].engines?.node ?? '*' };
  });
  expect(needs.filter(({ node }) => !semver.subset(engines.node, node))).toEqual([]);
  // The least that serves.
  expect(engines.node).toBe('>=22.19.0');
});

test('the licence of each package in the bundle is shipped', async () => {
  const text = await readFile(join(unpacked, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const components = await componentsOf(join(unpacked, 'dist/sbom.cdx.json'));
  for (const { name, version, scope } of components) {
    if (scope === 'required') expect(text).toContain(`\n${name} ${version} (`);
  }
  expect(text.match(/Copyright|copyright/g)?.length).toBeGreaterThan(components.length - 5);
});

test('a package without the text of its licence cannot be built in', async () => {
  const bare = await makeFolder(onTestFinished);
  const program = `
    import { notices } from './scripts/third-party.js';
    notices([{ name: 'bare', version: '1.0.0', license: 'MIT', folder: process.argv[1] }]);`;
  const { code, stderr } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    program,
    bare,
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('bare 1.0.0 comes without the text of its licence');
});

test('installs into an empty prefix, and runs there', LONG, async ({ skip }) => {
  const device = await simulate();
  const prefix = await makeFolder(onTestFinished);
  const env = npmEnvironment(prefix);
  const installed = await run(
    'npm',
    [
      'install',
      '--global',
      '--prefix',
      prefix,
      '--prefer-offline',
      '--fetch-retries=0',
      '--no-audit',
      '--no-fund',
      tarball,
    ],
    { cwd: prefix, env },
  );
  expect(installed.code, installed.stderr).toBe(0);
  const home = join(prefix, 'lib/node_modules/devsh');
  const devsh = (...args: readonly string[]) =>
    run(join(prefix, 'bin/devsh'), args, {
      cwd: prefix,
      env: { ...env, DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' },
    });

  expect(await readFile(join(prefix, 'share/man/man1/devsh.1'), 'utf8')).toMatch(/^\.TH DEVSH 1/m);
  expect(await devsh('--version')).toMatchObject({ code: 0, stderr: '' });
  expect((await devsh('help')).stdout).toContain('connect TARGET');
  const { address, fingerprint } = device;
  await devsh('trust', 'accept', address, '--fingerprint', fingerprint);
  const listed = await devsh('user', 'list', '--on', address, '--json');
  expect(listed.code).toBe(0);
  expect(listed.stderr).toMatch(FIRST_READING);
  expect(listed.stdout).toContain('"admin"');
  const isFetched = existsSync(join(home, 'node_modules/@napi-rs/keyring'));
  const registry = ['view', '@napi-rs/keyring', 'version', '--fetch-retries=0'];
  skip(!isFetched && (await run('npm', registry)).code !== 0, 'the keychain needs a registry');
  const keychain = createRequire(join(home, 'package.json'))('@napi-rs/keyring') as object;
  expect(keychain).toHaveProperty('Entry');
  expect(await bytesOnDisk(prefix)).toBeLessThan(MOST_BYTES);
});

/** What the package with Node needs of a system: sh, what the launcher calls, and the libraries that `ldd` names. */
const PROGRAMS = ['/bin/sh', '/usr/bin/dirname', '/usr/bin/readlink'];

test(
  'the package with Node runs where there are only the C and C++ libraries and sh',
  LONG,
  async ({ skip }) => {
    const scratch = await makeFolder(onTestFinished);
    const root = join(scratch, 'root');
    const made = await succeed(process.execPath, [
      ...['scripts/package.js', '--tarball', tarball, '--output', scratch],
    ]);
    expect(made.trim()).toMatch(/devsh-\d[\w.-]*-(linux|darwin)-(x64|arm64)\.tar\.gz$/);
    await succeed('tar', ['-xzf', made.trim(), '-C', scratch]);
    const name = made.trim().slice(scratch.length + 1, -'.tar.gz'.length);
    expect(await readdir(join(scratch, name))).toEqual(['LICENSE', 'bin', 'lib']);
    expect(await readdir(join(scratch, name, 'lib'))).toEqual(['LICENSE.node', 'devsh', 'node']);
    const node = join(scratch, name, 'lib/node');
    for (const program of [...PROGRAMS, node]) {
      const { stdout } = await run('ldd', [program]);
      const libraries = Array.from(stdout.matchAll(/(\/\S+) \(0x/g), ([, library = '']) => library);
      for (const file of program === node ? libraries : [program, ...libraries]) {
        await mkdir(dirname(join(root, file)), { recursive: true });
        await copyFile(file, join(root, file));
      }
    }
    await rename(join(scratch, name), join(root, 'devsh'));
    // A link in the PATH; nothing else of a system but a folder for temporary files.
    await symlink('../devsh/bin/devsh', join(root, 'bin/devsh'));
    await mkdir(join(root, 'tmp'));
    const env = { PATH: '/bin:/usr/bin', HOME: '/home' };
    const inRoot = (...line: readonly string[]) =>
      process.getuid?.() === 0
        ? run('/usr/sbin/chroot', [root, ...line], { env })
        : run('unshare', ['--map-root-user', '/usr/sbin/chroot', root, ...line], { env });
    const devsh = (...args: readonly string[]) => inRoot('/bin/devsh', ...args);
    skip((await inRoot('/bin/sh', '-c', 'exit 0')).code !== 0, 'this machine permits no chroot');

    expect((await inRoot('/bin/sh', '-c', 'node --version')).code).toBe(127);
    expect(await devsh('--version')).toMatchObject({ code: 0, stderr: '' });
    const tour = await devsh('demo');
    expect(tour, tour.stderr).toMatchObject({ code: 0 });
    expect(tour.stdout).toContain('alice');
    await rm(join(root, 'tmp'), { recursive: true });
    expect(await devsh('demo')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot create a folder in /tmp') as string,
    });
    const sbom = join(root, 'devsh/lib/devsh/dist/sbom.cdx.json');
    expect(await componentsOf(sbom)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'node', version: process.versions.node }),
        expect.objectContaining({ name: 'openssl', version: process.versions.openssl }),
      ]),
    );
    const keyring = join(root, 'devsh/lib/devsh/package.json');
    expect(createRequire(keyring)('@napi-rs/keyring')).toHaveProperty('Entry');
  },
);
