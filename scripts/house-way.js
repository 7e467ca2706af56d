// The files and functions of src that a write runs through, by V8 coverage.
import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const ADD = 'user add username=bob first_name=Bob lastname=Be lang=de --yes'.split(' ');
const SET = 'user set bob lang=en --yes'.split(' ');

/**
 * Runs `user set bob lang=en --yes` on three trusted simulated devices, as a one-shot and optionally on the full
 * screen. Translates each file of `src` separately, so that coverage is by file.
 */
export async function walkTheWay(root, isScreenToo, print) {
  // Below node_modules, so that the files find their packages.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const built = realpathSync(mkdtempSync(join(cache, 'devsh-house-')));
  try {
    await translate(root, built);
    print('one command', await ranIn(built, runLine));
    if (isScreenToo) print('full screen', await ranIn(built, typeOnScreen));
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

async function translate(root, built) {
  const source = join(root, 'src');
  const names = readdirSync(source, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: names.map((name) => join(source, name)),
    outbase: source,
    outdir: built,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    jsx: 'automatic',
    loader: { '.md': 'text' },
    logLevel: 'warning',
    define: { DEVSH_VERSION: '"0.0.0"', DEVSH_NODE: '"0.0"' },
    plugins: [fileByFile],
  });
  writeFileSync(join(built, 'package.json'), '{"type": "module"}');
}

/** Bundles only imported texts. */
const fileByFile = {
  name: 'file-by-file',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'entry-point' || path.endsWith('.md')
        ? undefined
        : { path: path.replace(/(?<=^\..*)\.tsx?$/, '.js'), external: true },
    );
  },
};

/** The functions that ran, by file of `src`; loading a file does not count. */
async function ranIn(built, run) {
  const home = mkdtempSync(join(tmpdir(), 'devsh-house-'));
  const { startSimulator } = await import(pathToFileURL(join(built, 'simulator/simulator.js')));
  const simulator = await startSimulator({ devices: 3 });
  try {
    pin(home, simulator.devices);
    const addresses = simulator.devices.map(({ address }) => address);
    const env = environment(home);
    await runLine(built, ADD, addresses, env);
    const coverage = join(home, 'coverage');
    await run(built, SET, addresses, { ...env, NODE_V8_COVERAGE: coverage });
    return readCoverage(built, coverage);
  } finally {
    await simulator.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function pin(home, devices) {
  const pins = devices.map(
    ({ address, fingerprint }) => `${address} sha256:${fingerprint} first-seen=2026-01-02\n`,
  );
  mkdirSync(join(home, 'data/devsh'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'data/devsh/known-devices'), pins.join(''), { mode: 0o600 });
}

function environment(home) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    DEVSH_USER: 'admin',
    DEVSH_PASSWORD: 'admin-secret',
  };
}

function readCoverage(built, folder) {
  const ran = new Map();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of result) {
      if (!url.startsWith(pathToFileURL(built).href)) continue;
      // The first one is the file itself, which runs when it is loaded.
      const names = functions
        .slice(1)
        // Names in < > are V8's, for the fields of a class.
        .filter(({ functionName, ranges }) => ranges[0].count > 0 && !functionName.startsWith('<'))
        .map(({ functionName }) => functionName);
      ran.set(relative(built, fileURLToPath(url)).replace(/\.js$/, ''), names);
    }
  }
  return new Map([...ran].filter(([, names]) => names.length > 0).sort());
}

function runLine(built, line, addresses, env) {
  const argv = [...line, ...addresses.flatMap((address) => ['--on', address])];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(built, 'cli.js'), ...argv], { env });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(said))));
  });
}

async function typeOnScreen(built, line, addresses, env) {
  const [{ spawn: spawnInPty }, { default: headless }] = await Promise.all([
    import('@lydell/node-pty'),
    import('@xterm/headless'),
  ]);
  const size = { cols: 100, rows: 30 };
  const terminal = new headless.Terminal({ ...size, allowProposedApi: true });
  const args = [join(built, 'cli.js'), 'connect', ...addresses];
  const program = spawnInPty(process.execPath, args, { ...size, env: { ...env, TERM: 'xterm' } });
  const ended = new Promise((resolve) => program.onExit(resolve));
  program.onData((data) => terminal.write(data));
  terminal.onData((data) => program.write(data));
  const shows = (text) =>
    Array.from({ length: size.rows }, (_, y) => terminal.buffer.active.getLine(y))
      .map((line) => line?.translateToString() ?? '')
      .join('\n')
      .includes(text);
  try {
    await until(() => shows('connected to'), 'connected');
    program.write(`${line.join(' ')}\r`);
    await until(() => shows('✓ bob  '), 'done');
    program.write('quit\r');
    await ended;
  } finally {
    program.kill();
  }
}

async function until(isSo, what) {
  for (const endsAt = Date.now() + 20_000; !isSo();) {
    if (Date.now() > endsAt) throw new Error(`the screen never said: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
