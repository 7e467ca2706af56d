import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { replay } from '../../src/history/replay.ts';
import { startFleet, type TestFleet } from './devsh.ts';
import { programEnv, startProgram, waitUntil } from './process.ts';

const LIST = ['user', 'list', '--on', '@lab'];

/** What is kept of the users of sim1. */
async function kept({ devsh }: TestFleet) {
  const file = join(devsh.folder, 'state/devsh/readings/sim1.jsonl');
  const { periods, damaged } = replay(await readFile(file, 'utf8').catch(() => ''));
  const readings = periods.flatMap(({ resources }) => resources.get('user') ?? []);
  const last = [...(readings.at(-1)?.state.values() ?? [])].map(({ fields }) => fields['lang']);
  return { damaged, readings, last };
}

/** Writes to the devices as another machine does. */
function elsewhere({ devsh }: TestFleet, lang: string) {
  const env = { XDG_STATE_HOME: join(devsh.folder, 'elsewhere') };
  return devsh(`user set viewer lang=${lang} --on @lab --yes`, { env });
}

test(
  'two programs that read the same devices again and again keep a sound history',
  { timeout: 120_000 },
  async () => {
    const fleet = await startFleet({ devices: 3 });
    const { devsh, device } = fleet;
    const worker = async (): Promise<void> => {
      for (let count = 0; count < 6; count += 1) {
        const { code, stderr } = await startProgram(LIST, devsh.folder).ended;
        expect([code, stderr]).toEqual([0, '']);
      }
    };
    const writer = async (): Promise<void> => {
      for (const lang of ['fr', 'it', 'de', 'es']) await elsewhere(fleet, lang);
    };
    await Promise.all([worker(), worker(), writer()]);
    await devsh(LIST);
    const { damaged, readings, last } = await kept(fleet);
    expect(damaged).toBe(0);
    expect(readings.length).toBeGreaterThan(6);
    expect(last).toEqual(device(1).users.map(({ lang }) => lang));
    const order = readings.map(({ from, to }) => [from, to]).flat();
    expect(order).toEqual([...order].sort((a, b) => a - b));
  },
);

test(
  'a program that is killed while it writes the history loses nothing that was kept before',
  { timeout: 120_000 },
  async () => {
    const fleet = await startFleet({ devices: 3 });
    const { devsh, device } = fleet;
    await devsh(LIST);
    const file = join(devsh.folder, 'state/devsh/readings/sim1.jsonl');
    const lock = join(devsh.folder, 'state/devsh/readings/history.lock');
    let count = (await kept(fleet)).readings.length;
    for (let kill = 0; kill < 20; kill += 1) {
      const { size } = statSync(file);
      const program = startProgram(LIST, devsh.folder);
      const isWriting = (): boolean =>
        kill % 2 === 0 ? existsSync(lock) : statSync(file).size !== size;
      await waitUntil(isWriting, program);
      program.child.kill('SIGKILL');
      await program.ended;
      const { damaged, readings } = await kept(fleet);
      expect(damaged).toBe(0);
      expect(readings.length).toBeGreaterThanOrEqual(count);
      count = readings.length;
    }
    await elsewhere(fleet, 'it');
    expect((await devsh(LIST)).stderr).toBe('');
    const { readings, last } = await kept(fleet);
    expect(readings.length).toBe(count + 1);
    expect(last).toEqual(device(1).users.map(({ lang }) => lang));
  },
);

const run = promisify(execFile);

/** No file can be written: as on a full disk, but for this program alone. */
const FULL = `trap '' XFSZ; ulimit -f 0; exec "$@"`;

test('a full disk and a read-only folder cost the history and one warning, not the command', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh } = fleet;
  const folder = join(devsh.folder, 'state/devsh/readings');
  const list = (script: string) =>
    run('sh', ['-c', script, 'sh', process.execPath, inject('cli'), ...LIST], {
      env: programEnv(devsh.folder),
    });
  const sound = await list('exec "$@"');
  const before = await kept(fleet);

  const hindered = [await list(FULL)];
  if (await makeReadOnly(folder)) hindered.push(await list('exec "$@"'));

  for (const { stdout, stderr } of hindered) {
    expect(stdout).toBe(sound.stdout);
    expect(stderr.match(/the history of this reading was not kept/g)).toHaveLength(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
  expect(await kept(fleet)).toEqual(before);
});

/**
 * Also for root, to whom the mode of a folder means nothing. False where root may not do it, as in a container
 * without that capability: the full disk alone shows it there.
 */
async function makeReadOnly(folder: string): Promise<boolean> {
  const isRoot = process.getuid?.() === 0;
  const set = async (isOn: boolean): Promise<unknown> =>
    isRoot ? run('chattr', [isOn ? '+i' : '-i', folder]) : chmod(folder, isOn ? 0o500 : 0o700);
  await rm(join(folder, 'compacted'));
  const isSet = await set(true).then(
    () => true,
    () => false,
  );
  if (isSet) {
    onTestFinished(async () => {
      await set(false);
    });
  }
  return isSet;
}
