import {
  type ImportWorld,
  type Machine,
  Notices,
  type RunningSimulator,
  type Services,
  type SimulatorSpec,
} from './shell/session.ts';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { homedir, release, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { openInBrowser } from './os/browser.ts';
import { operatorName, sessionName } from './os/process.ts';
import { runProgram } from './os/program.ts';
import { OsKeychain } from './credentials/keychain.ts';
import { Credentials } from './credentials/sources.ts';
import { Vault } from './credentials/vault.ts';
import { parseAddress } from './device/address.ts';
import { chooseRoute, environmentProxy, noProxyOf } from './device/route/choose-route.ts';
import { GoodCopy } from './settings/good-copy.ts';
import { ColumnMemory, type Settings } from './settings/settings.ts';
import { HistoryFile } from './settings/history-file.ts';
import { KnownDevices } from './settings/known-devices.ts';
import { fileExists, readText, writeNewText, writeTextAtomically } from './os/files.ts';
import { holdFile, withWriteLock } from './os/lock.ts';
import { openInventory } from './settings/inventory-file.ts';
import { ProfileFiles } from './settings/profile-files.ts';
import { RunFiles } from './settings/run-files.ts';
import { type Paths, resolvePaths } from './os/paths.ts';
import { SeenKeys } from './settings/seen-keys.ts';
import { readUserFile } from './os/user-file.ts';
import { UsageError } from './errors.ts';
import { matchesGlob } from './text/glob.ts';

interface ServiceOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly paths: Paths;
  readonly settings: Settings;
  readonly readStdin: () => Promise<string>;
  /** Where the output goes. */
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
}

/** The real world outside: files, keychain, standard input, simulator. Nothing is opened yet. */
export function createServices(options: ServiceOptions): Services {
  const { env, paths, settings, version, readStdin, stdout } = options;
  const sources = new Map<string, Credentials>();
  const vault = new Vault(join(paths.data, 'vault.age'));
  let keychain: OsKeychain | undefined;
  const notices = new Notices();
  if (settings.remark !== undefined) notices.add(settings.remark);
  const goodCopy = (name: string): GoodCopy => new GoodCopy(join(paths.state, 'good-copies', name));
  return {
    version,
    machine: machineOf(env, stdout),
    paths,
    notices,
    settings,
    inventory: openInventory(paths, settings, (notice) => {
      notices.add(notice);
    }),
    knownDevices: new KnownDevices(join(paths.data, 'known-devices'), goodCopy('known-devices')),
    history: new HistoryFile(join(paths.state, 'history'), settings.get('historySize')),
    columns: new ColumnMemory(settings),
    theme: {
      get: () => settings.get('theme'),
      set: (name) => settings.set('theme', name),
    },
    profiles: new ProfileFiles(join(paths.config, 'profiles'), join(paths.cache, 'learned')),
    seenKeys: new SeenKeys(join(paths.cache, 'seen'), settings.get('rememberKeys')),
    runs: new RunFiles(join(paths.state, 'runs')),
    operator: operatorName(),
    terminalSession: sessionName(env),
    exclusive: (address, work, waiting) => withWriteLock(paths.state, address, work, waiting),
    offersToSave: settings.get('saveCredentials') === 'ask',
    vault,
    credentials({ tokenStdin, passwordStdin, passphraseStdin, user }) {
      // One object per choice of sources: standard input and the keychain are read once.
      const key = JSON.stringify([tokenStdin, passwordStdin, passphraseStdin, user]);
      const known = sources.get(key);
      if (known !== undefined) return known;
      const kind = tokenStdin ? 'token' : passwordStdin ? 'password' : undefined;
      const credentials = new Credentials({
        env,
        user,
        keychain: () => (keychain ??= new OsKeychain({ env })),
        vault,
        // Behind the secret, when that comes from there, too.
        passphrase: passphraseStdin
          ? async () => lineOf(await readStdin(), kind === undefined ? 0 : 1)
          : undefined,
        stdin: kind && { kind, read: readStdin },
      });
      sources.set(key, credentials);
      return credentials;
    },
    route: (address, configured) => chooseRoute(parseAddress(address), configured, env),
    environmentProxy() {
      const asked = environmentProxy(env);
      if (asked === undefined) return undefined;
      const { proxy, variable } = asked;
      return { url: proxy.url, variable, noProxy: noProxyOf(env) };
    },
    environment: (name) => env[name],
    readFile: readUserFile,
    importing: createImportWorld(env),
    readIfThere: readText,
    writeFile: writeTextAtomically,
    writeNewFile: writeNewText,
    fileExists,
    async render(format, outputs) {
      const { renderedText } = await import('./output/quick-writer.ts');
      return renderedText(format, outputs);
    },
    holdFile: (path) => holdFile(paths.state, path),
    startSimulator,
    async keys() {
      const { effectiveKeymap, keyTable } = await import('./tui/keys/own-keys.ts');
      return keyTable(effectiveKeymap(settings.get('keys') ?? {}, settings.path));
    },
    async faults() {
      const { FAULTS } = await import('./simulator/faults.ts');
      return FAULTS.map(({ name, stage, summary }) => ({ name, stage, summary }));
    },
    openInBrowser: (url) => openInBrowser(url, env),
    async quirks() {
      const { QUIRKS } = await import('./simulator/dialects/dialect.ts');
      return QUIRKS.map(({ name, summary }) => ({ name, summary }));
    },
    now: () => new Date(),
  };
}

function machineOf(env: NodeJS.ProcessEnv, stdout: ServiceOptions['stdout']): Machine {
  const { isTTY = false } = stdout;
  const [columns, rows] = [stdout.columns || 80, stdout.rows || 24];
  return {
    node: process.version,
    system: `${process.platform} ${release()} (${process.arch})`,
    terminal: { isTty: isTTY, type: env['TERM'] ?? 'unknown', columns, rows },
    locale: env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '',
  };
}

/** Where settings, pins and history live; for the demo in a folder of its own that is removed again. */
export async function choosePaths(
  env: NodeJS.ProcessEnv,
  isDemo: boolean,
): Promise<{ paths: Paths; cleanUp: () => void }> {
  if (!isDemo) return { paths: resolvePaths(env), cleanUp: () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'devsh-demo-'));
  const own = (name: string): string => join(folder, name);
  return {
    paths: { config: own('config'), data: own('data'), state: own('state'), cache: own('cache') },
    // At once: a signal leaves no time to wait.
    cleanUp: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function lineOf(text: string, index: number): string {
  return text.split(/\r?\n/)[index] ?? '';
}

/** Loaded only when asked for: no other command needs it. */
async function startSimulator(spec: SimulatorSpec): Promise<RunningSimulator> {
  const { applyFault, startSimulator: start } = await import('./simulator/simulator.ts');
  const { parseFaultOption } = await import('./simulator/faults.ts');
  const { parseDialectOptions } = await import('./simulator/dialects/dialect.ts');
  const { devices, users, latencyMs, seed, port } = spec;
  const faults = spec.faults.map(parseFaultOption);
  const dialect = parseDialectOptions(spec);
  const simulator = await start({ devices, users, latencyMs, seed, port, ...dialect });
  try {
    for (const fault of faults) applyFault(simulator, fault);
  } catch (error) {
    await simulator.close();
    throw error;
  }
  return simulator;
}

/** Ansible asks clouds and runs scripts; more than this is no answer. */
const ANSIBLE_LIMIT_MS = 180_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** What `device import` needs of the machine. Nothing is done yet. */
function createImportWorld(env: NodeJS.ProcessEnv): ImportWorld {
  const home = env['HOME'] ?? homedir();
  return {
    home,
    netBoxToken: () => env['NETBOX_TOKEN'] || undefined,
    async isFolder(path) {
      return stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      );
    },
    async readIncluded(pattern) {
      const path = resolve(join(home, '.ssh'), pattern.replace(/^~(?=\/)/, home));
      const files = await matching(path);
      return Promise.all(files.map(async (file) => ({ file, text: await readUserFile(file) })));
    },
    async ansibleInventory(path, signal) {
      const end = await runProgram({
        argv: ['ansible-inventory', '-i', resolve(path), '--list'],
        env,
        limitMs: ANSIBLE_LIMIT_MS,
        maxBytes: MAX_BYTES,
        signal,
      });
      if (end.kind === 'ended' && end.status === 0) return end.stdout;
      if (end.kind === 'not started') {
        throw new UsageError(
          `ansible-inventory cannot be started: ${end.reason}; install Ansible, or import the JSON ` +
            'that "ansible-inventory --list" prints elsewhere',
        );
      }
      const said = end.stderr.trim().split('\n').slice(-3).join('\n');
      const why = end.kind === 'ended' ? `ended with ${end.status}` : `was ended (${end.kind})`;
      throw new UsageError(`ansible-inventory ${why} for ${path}: ${said.slice(0, 1000)}`);
    },
  };
}

/** The files that a path with `*` and `?` in its last part names, sorted; none where there is none. */
async function matching(path: string): Promise<string[]> {
  const pattern = basename(path);
  const folder = dirname(path);
  if (!/[*?]/.test(pattern)) {
    return (await isFile(path)) ? [path] : [];
  }
  const names = await readdir(folder).catch(() => []);
  const fitting = names
    .filter((name) => !name.startsWith('.') && matchesGlob(name, pattern))
    .sort();
  const paths = fitting.map((name) => join(folder, name));
  const areFiles = await Promise.all(paths.map(isFile));
  return paths.filter((_path, index) => areFiles[index]);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
