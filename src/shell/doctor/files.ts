import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DevshError } from '../../errors.ts';
import { errorCode, fileError } from '../../settings/files.ts';
import { doubtsText } from '../access/certificates.ts';
import { loadRun } from '../writing/run-store.ts';
import type { Services } from '../session.ts';
import type { Finding } from './finding.ts';

/** The folders and files of devsh: whether they can be used, by whom, and whether they are whole. */
export async function* fileFindings(services: Services): AsyncGenerator<Finding> {
  const { paths, inventory, knownDevices, history, runs, vault } = services;
  for (const [name, path] of Object.entries<string>({ ...paths })) {
    const { state, problem } = await checkFolder(path);
    yield {
      area: 'files',
      what: `folder ${name}`,
      state: state === 'not usable' ? 'failed' : 'ok',
      detail: problem ?? (state === 'absent' ? `${path}: will be made when needed` : path),
    };
  }
  yield await fileFinding('settings', services.settings.path, async () => {
    // One-shot commands have no keys; who opens the screen next is to find them right.
    if (services.settings.get('keys') !== undefined) await services.keys();
    return 'understood';
  });
  yield await fileFinding('inventory', inventory.path, async () => {
    const { devices } = await inventory.load();
    return countOf(devices.length, 'device');
  });
  yield await fileFinding('pins', knownDevices.path, async () => {
    const pins = await knownDevices.all();
    const doubts = await doubtsText(knownDevices);
    return { detail: countOf(pins.length, 'pin'), warning: doubts };
  });
  yield await fileFinding('history', history.path, async () =>
    countOf((await history.load()).length, 'line'),
  );
  yield await fileFinding('runs', runs.folder, async () => {
    const ids = await runs.ids();
    const broken: string[] = [];
    for (const id of ids) {
      await loadRun(services, id).catch((error: unknown) => {
        if (!(error instanceof DevshError)) throw error;
        broken.push(error.message);
      });
    }
    return { detail: countOf(ids.length, 'run'), warning: broken[0] };
  });
  yield await fileFinding('vault', vault.path, () => Promise.resolve('there is a vault'));
}

type Held = string | { readonly detail: string; readonly warning: string | undefined };

async function fileFinding(
  what: string,
  path: string,
  read: () => Promise<Held>,
): Promise<Finding> {
  const about = { area: 'files', what } as const;
  const check = await checkFile(path);
  if (check.state === 'absent') return { ...about, state: 'not used', detail: `no ${path}` };
  try {
    const held = await read();
    const { detail, warning } = typeof held === 'string' ? { detail: held } : held;
    const problem = warning ?? problemOf(check);
    return {
      ...about,
      state: problem === undefined ? 'ok' : 'warning',
      detail: problem ?? `${path}: ${detail}`,
    };
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    return { ...about, state: 'failed', detail: error.message, error };
  }
}

function problemOf({ path, state, mode = '', problem }: FileCheck): string | undefined {
  if (state !== 'open to others') return problem;
  return `${path} can be read by others (mode ${mode}); chmod go= ${path}`;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What is to be said about a file or folder of ours, before anything is read from it. */
interface FileCheck {
  readonly path: string;
  readonly state: 'absent' | 'fine' | 'open to others' | 'not usable';
  /** The permissions as four octal digits; absent where the system has none. */
  readonly mode?: string;
  readonly problem?: string;
}

/** Looks whether a file or folder can be used, and by whom; makes nothing. */
async function checkFile(path: string): Promise<FileCheck> {
  try {
    const found = await stat(path);
    await access(path, constants.R_OK | constants.W_OK);
    if (process.platform === 'win32') return { path, state: 'fine' };
    const bits = found.mode & 0o777;
    const mode = bits.toString(8).padStart(4, '0');
    return { path, mode, state: (bits & 0o077) === 0 ? 'fine' : 'open to others' };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { path, state: 'absent' };
    return { path, state: 'not usable', problem: fileError('use', path, error).message };
  }
}

/** Whether a folder can be written to, or made: the nearest one that exists decides. */
async function checkFolder(path: string): Promise<FileCheck> {
  const check = await checkFile(path);
  if (check.state !== 'absent' || dirname(path) === path) return check;
  const above = await checkFolder(dirname(path));
  return above.state === 'not usable' ? { ...above, path } : { path, state: 'absent' };
}
