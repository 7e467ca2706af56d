// Installs what is missing, then runs Node with these arguments, if any: `node scripts/ensure-installed.js build.js`.
// On Linux with a Node that is too old for devsh, that is another Node from the npm registry (tools/node), once.
// Each script of package.json is run by this one, because a shell keeps the path of the `node` that it found first.
// Node 18 must be able to run this file.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'tools/node');
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const needed = engines.node.replace('>=', '');

const isNewEnough = (version) => version.localeCompare(needed, 'en', { numeric: true }) >= 0;
const modifiedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Installs what the lock file of this folder names, if that is not there yet. Ends this program if it cannot. */
function install(folder, what) {
  const lock = join(folder, 'package-lock.json');
  if (modifiedAt(join(folder, 'node_modules/.package-lock.json')) >= modifiedAt(lock)) return;
  console.error(`Installing ${what} (npm ci) …`);
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  fail(
    `This could not be installed: ${what}. It needs, once: the npm registry (npm ping),`,
    `a cache that npm may write (npm config get cache), and write access to ${folder}`,
  );
}

function fail(...lines) {
  for (const line of lines) console.error(line);
  process.exit(1);
}

/** The path of a Node that is new enough; the programs that this one starts find it, too. */
function ensureNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const isOld = `devsh needs Node.js ${needed} or newer, and this is ${process.versions.node}`;
  if (process.platform !== 'linux') fail(`${isOld}: install a newer one (https://nodejs.org)`);
  install(tools, `Node.js for this folder, because ${isOld}`);
  const folder = join(tools, 'node_modules', `node-linux-${process.arch}`, 'bin');
  const { stdout } = spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' });
  if (!stdout) {
    fail(`${isOld}. The one for ${process.arch} from npm does not run here: install a newer one`);
  }
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
  return join(folder, 'node');
}

/** For `npx`, which puts this folder first, and for programs of the tests. */
function linkNode(node) {
  const link = join(root, 'node_modules/.bin/node');
  const target = node === process.execPath ? undefined : node;
  const found = existsSync(link) ? readlinkSync(link) : undefined;
  if (found === target) return;
  rmSync(link, { force: true });
  if (target !== undefined) symlinkSync(target, link);
}

const node = ensureNode();
install(root, 'packages');
if (!process.execPath.startsWith(tools)) linkNode(node);
if (process.argv.length > 2) run(node, process.argv.slice(2));

/** Ends as that program does. */
function run(node, args) {
  const child = spawn(node, args, { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('close', (status, signal) => {
    if (signal === null) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
