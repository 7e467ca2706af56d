import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from './errors.ts';
import type { ImportWorld } from './shell/devices/import-source.ts';
import { readUserFile } from './user-file.ts';

/** Ansible asks clouds and runs scripts; more than this is no answer. */
const ANSIBLE_LIMIT_MS = 180_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** What `device import` needs of the machine. Nothing is done yet. */
export function createImportWorld(env: NodeJS.ProcessEnv): ImportWorld {
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
      const { runProgram } = await import('./credentials/run-program.ts');
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
  const source = pattern
    .replace(/[\\^$+.()|{}[\]]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, 'u');
  const names = await readdir(folder).catch(() => []);
  const fitting = names.filter((name) => !name.startsWith('.') && expression.test(name)).sort();
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
