import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../package/programs.ts';
import { ADMIN, simulate } from '../pty/devsh.ts';
import { IS_ROOT, startAsUid } from './no-account.ts';

const UID = 10001;

async function start() {
  const folder = await makeFolder(onTestFinished);
  const { devices } = await simulate({ devices: 2 });
  await mkdir(join(folder, '.config/devsh'), { recursive: true });
  await writeFile(
    join(folder, '.config/devsh/devices.yaml'),
    `devices:\n${devices.map(({ name, address }) => `  - {name: ${name}, address: ${address}, insecure: true}\n`).join('')}`,
  );
  await writeFile(join(folder, 'more.csv'), 'name,address\nfw9,10.0.0.9\n');
  const asUid = await startAsUid(UID, folder);
  const devsh = (line: string, env: NodeJS.ProcessEnv = {}) =>
    asUid(['devsh', ...line.split(' ')], { HOME: folder, ...ADMIN, ...env });
  /** Who started each run. */
  const operators = async () => {
    const runs = join(folder, '.local/state/devsh/runs');
    const names = (await readdir(runs)).filter((name) => name.endsWith('.jsonl')).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(runs, name), 'utf8')));
    return texts.map((text) => /"by":"([^"@]*)@/.exec(text)?.[1]);
  };
  return { devices, devsh, operators };
}

// Only root may start a program as somebody else.
describe.skipIf(!IS_ROOT)('as a uid without an account', () => {
  test('every kind of command works', async () => {
    const { devsh } = await start();
    for (const line of [
      '--help',
      '--version',
      'info',
      'doctor',
      'device list',
      'device import ~/more.csv --yes',
      'user list --on sim1,sim2',
      'login --check --on sim1,sim2',
      'user add username=zoe lang=de --on sim1,sim2 --yes --canary 1',
      'runs',
      'undo --yes',
      'report',
      'demo',
      '__complete fish devsh user ',
    ]) {
      const { code, stderr } = await devsh(line);
      expect([line, code], stderr).toEqual([line, 0]);
      expect(stderr).not.toContain('this is a bug');
    }
  });

  test('the journal names $LOGNAME, then $USER, then the uid', async () => {
    const { devsh, operators } = await start();
    const line = 'user add username=zoe lang=de --on sim1 --yes';
    await devsh(line, { LOGNAME: 'ada', USER: 'bob' });
    await devsh(line.replace('zoe', 'yve'), { LOGNAME: '', USER: 'bob' });
    await devsh(line.replace('zoe', 'xia'));
    expect((await operators()).sort()).toEqual(['ada', 'bob', `uid${UID}`]);
  });
});
