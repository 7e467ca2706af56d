import { expect, test } from 'vitest';
import type { FaultName } from '../simulator/faults.ts';
import { makeDevsh, startFleet } from './devsh.ts';

interface Case {
  readonly line: string;
  /** Fault of sim1, or of both devices. */
  readonly faults?: Readonly<Record<string, FaultName>>;
  readonly code: number;
}

test.each<Case>([
  { line: 'user list --on @lab', code: 0 },
  { line: 'user add username=zoe --on @lab --yes', code: 0 },
  { line: 'user delete nobody --on @lab --yes', code: 1 },
  { line: 'help', code: 0 },
  { line: '--version', code: 0 },
  { line: 'user set nobody lang=de --on sim1 --yes', code: 1 },
  { line: 'user list --on sim1', faults: { sim1: 'html-page' }, code: 1 },
  { line: 'user add username=zoe --on sim1 --yes', faults: { sim1: 'accept-and-forget' }, code: 1 },
  { line: 'user add username=zoe --on sim1 --yes', faults: { sim1: 'store-altered' }, code: 1 },
  { line: 'user frobnicate=1 --on', code: 2 },
  { line: 'user list --format toml --on sim1', code: 2 },
  { line: 'user list', code: 2 },
  { line: 'user list --on @lab', faults: { sim1: 'refuse' }, code: 3 },
  { line: 'user add username=zoe --on @lab --yes', faults: { sim2: 'refuse' }, code: 3 },
  { line: 'user list --on sim1', faults: { sim1: '401' }, code: 4 },
  { line: 'user list --on sim1', faults: { sim1: '403' }, code: 4 },
  { line: 'get /api/user/ --on sim1', faults: { sim1: '403' }, code: 4 },
  { line: 'user list --on @lab', faults: { sim1: 'refuse', sim2: 'refuse' }, code: 5 },
  { line: 'user list --on sim1 --timeout 0.3', faults: { sim1: 'silence' }, code: 5 },
  { line: 'user list --on sim1', faults: { sim1: 'certificate-change' }, code: 5 },
  { line: 'user add username=zoe --on sim1', code: 6 },
  { line: 'user add username=zoe --on sim1 --yes --read-only', code: 6 },
  { line: 'user delete admin --on sim1 --yes', code: 6 },
])('"$line" with $faults ends with $code', async ({ line, faults = {}, code }) => {
  const { devsh, devices } = await startFleet({ devices: 2 });
  for (const [name, fault] of Object.entries(faults)) {
    devices.find((device) => device.name === name)?.setFault(fault);
  }
  const { exitCode, stderr } = await devsh(line);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: code });
});

test('a missing credential ends with 4 and names the ways to give one', async () => {
  const { devsh } = await startFleet({ env: {} });
  const { exitCode, stderr } = await devsh('user list --on sim1');
  expect(exitCode).toBe(4);
  expect(stderr).toContain('DEVSH_TOKEN');
  expect(stderr).toContain('--password-stdin');
});

test('an error of devsh’s own files is no bug: it names the file and keeps it', async () => {
  const devsh = await makeDevsh();
  await devsh('device add fw1 10.0.0.5');
  const { writeFile, readFile } = await import('node:fs/promises');
  const file = `${devsh.folder}/config/devsh/devices.yaml`;
  await writeFile(file, 'devices: [');
  const { exitCode, stderr } = await devsh('device list');
  expect(exitCode).toBe(1);
  expect(stderr).toContain(file);
  expect(await readFile(file, 'utf8')).toBe('devices: [');
});

test('unreadable settings are a JSON document, too, with --json', async () => {
  const devsh = await makeDevsh();
  const { mkdir, writeFile } = await import('node:fs/promises');
  await mkdir(`${devsh.folder}/config/devsh`, { recursive: true });
  await writeFile(`${devsh.folder}/config/devsh/settings.json`, 'x{');
  const { exitCode, stdout } = await devsh('device list --json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ schema: 'devsh/1', error: { code: 'settings' } });
});
