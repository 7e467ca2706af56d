import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type SimulatedDevice, type Simulator } from './simulator.ts';
import { userNamed } from './ask.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe.skipIf(!hasCurl)(`curl${hasCurl ? '' : ' (skipped: there is no curl here)'}`, () => {
  let simulator: Simulator;
  let device: SimulatedDevice;
  let folder: string;

  beforeAll(async () => {
    simulator = await startSimulator();
    const [first] = simulator.devices;
    if (first === undefined) throw new Error('no device');
    device = first;
    folder = await mkdtemp(join(tmpdir(), 'devsh-curl-'));
    await writeFile(join(folder, 'ca.pem'), device.certificate);
  });
  afterAll(async () => {
    await simulator.close();
    await rm(folder, { recursive: true });
  });

  /** Verifies the certificate: no `-k` anywhere. */
  function curl(...args: readonly string[]): Promise<{ exitCode: number; stdout: string }> {
    const common = ['-q', '-sS', '--noproxy', '*', '--cacert', join(folder, 'ca.pem')];
    return new Promise((resolve) => {
      execFile('curl', [...common, ...args], (error, stdout) => {
        resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout });
      });
    });
  }

  test('trusts the certificate as its own CA, and reads with Basic', async () => {
    const list = `${device.url}/api/user/`;
    const { exitCode, stdout } = await curl('-u', 'admin:admin-secret', list);

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual(device.users);
  });

  test('sends the documented example and deletes what came of it', async () => {
    const auth = ['-H', `Authorization: Token ${device.accounts.admin.token}`];
    const form = 'uuid=null&first_name=Max&lastname=M%C3%BCller&username=mm&lang=de';

    const created = await curl(...auth, '-d', form, `${device.url}/api/user/`);
    const uuid = userNamed(device, 'mm')?.uuid ?? '';
    const again = await curl(
      ...[...auth, '-w', '%{http_code}', '-o', '-'],
      ...['-X', 'DELETE', `${device.url}/api/user/${uuid}/`],
    );

    expect(JSON.parse(created.stdout)).toEqual({
      uuid,
      first_name: 'Max',
      lastname: 'Müller',
      username: 'mm',
      lang: 'de',
    });
    expect(again.stdout).toBe('204');
    expect(userNamed(device, 'mm')).toBeUndefined();
  });

  test('reuses its connection', async () => {
    const list = `${device.url}/api/user/`;
    const { stdout } = await curl(
      '-w',
      '%{num_connects}\n',
      '-o',
      '/dev/null',
      list,
      '-o',
      '/dev/null',
      list,
    );

    expect(stdout).toBe('1\n0\n');
  });

  // curl tells apart what Node calls by one name.
  test.each([
    ['refuse', 7, 'cannot connect'],
    ['silence', 28, 'time is up'],
    ['slow-body', 28, 'time is up'],
    ['reset', 56, 'reset by the peer'],
    ['truncated-body', 18, 'part of the file'],
    ['certificate-change', 60, 'not trusted'],
    ['endless-body', 28, 'time is up'],
  ] as const)('%s ends with its code %i (%s)', async (name, code, meaning) => {
    device.setFault(name);
    const auth = ['-u', 'admin:admin-secret', '-o', '/dev/null'];
    const seconds = code === 28 ? '0.7' : '20';
    const { exitCode } = await curl(...auth, '--max-time', seconds, `${device.url}/api/user/`);
    device.clearFaults();

    expect(exitCode, meaning).toBe(code);
  });

  test('store-and-drop is an empty reply (52)', async () => {
    device.setFault('store-and-drop');
    const auth = ['-u', 'admin:admin-secret'];
    const form = 'uuid=null&first_name=&lastname=&username=lost&lang=de';
    const { exitCode } = await curl(...auth, '-d', form, `${device.url}/api/user/`);
    device.clearFaults();

    expect([52, 56]).toContain(exitCode);
    expect(userNamed(device, 'lost')).toBeDefined();
  });
});
