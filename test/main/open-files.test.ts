import { chmod, chown, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCertificate } from '../../src/simulator/certificate.ts';
import { makeDevsh, startFleet } from './devsh.ts';

const NOBODY = 65_534;

test.each(['devices.yaml', 'settings.json'])(
  '%s is refused while others may write it',
  async (name) => {
    const devsh = await makeDevsh();
    const folder = join(devsh.folder, 'config/devsh');
    const file = join(folder, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, name === 'devices.yaml' ? 'devices: []\n' : '{}\n');
    expect((await devsh('device list')).exitCode).toBe(0);
    await chmod(file, 0o666);
    const open = await devsh('device list');
    expect(open.stderr).toContain(`${file} can be written by others (mode 666)`);
    expect(open.stderr).toContain(`chmod go-w ${file}`);
    expect(open.exitCode).toBe(1);
    await chmod(file, 0o600);
    expect((await devsh('device list')).exitCode).toBe(0);
    if (process.getuid?.() !== 0) return;
    await chown(file, NOBODY, NOBODY);
    const foreign = await devsh('device list');
    expect(foreign.stderr).toContain(`${file} belongs to another user`);
    expect(foreign.exitCode).toBe(1);
  },
);

test('pins and profiles that others may write are refused, and a link in the state folder is not followed', async () => {
  const { devsh } = await startFleet();
  const at = (...names: string[]): string => join(devsh.folder, ...names);
  const pins = at('data/devsh/known-devices');
  await chmod(pins, 0o666);
  const open = await devsh('user list --on sim1');
  expect(open.stderr).toContain(`${pins} can be written by others (mode 666)`);
  expect(open.exitCode).not.toBe(0);
  await chmod(pins, 0o600);
  await mkdir(at('config/devsh/profiles'), { recursive: true });
  const profile = at('config/devsh/profiles/own.yaml');
  await writeFile(profile, 'extends: drf\n');
  await chmod(profile, 0o622);
  const named = await devsh('user list --on sim1 --profile own');
  expect(named.stderr).toContain(`${profile} can be written by others (mode 622)`);
  await chmod(profile, 0o600);
  expect((await devsh('user list --on sim1 --profile own')).exitCode).toBe(0);
  await devsh('user set viewer lang=fr --on sim1 --yes');
  const [index, target] = [at('state/devsh/runs/pending.index'), at('mine')];
  await writeFile(target, 'mine');
  await rm(index, { force: true });
  await symlink(target, index);
  for (const line of ['pending', 'runs', 'resume --yes', 'user set viewer lang=it --on sim1 --yes'])
    await devsh(line);
  expect(await readFile(target, 'utf8')).toBe('mine');
});

test('--ca that cannot be used is an error for a pinned device, too', async () => {
  const { devsh, device } = await startFleet();
  const place = (name: string): string => join(devsh.folder, name);
  await writeFile(place('own.pem'), device(1).certificate);
  await writeFile(place('none.pem'), 'no certificate\n');
  const { cert } = createCertificate({
    commonName: 'other',
    addresses: ['127.0.0.1'],
    hostNames: [],
  });
  await writeFile(place('other.pem'), cert);
  const list = (name: string) => devsh(`user list --on sim1 --ca ${place(name)}`);
  expect((await list('own.pem')).exitCode).toBe(0);
  const requests = device(1).log.length;
  const [missing, none, other] = [
    await list('x.pem'),
    await list('none.pem'),
    await list('other.pem'),
  ];
  expect(missing.stderr).toContain('the file does not exist');
  expect(missing.exitCode).toBe(2);
  expect(none.stderr).toContain('contains no certificate in PEM form');
  expect(none.exitCode).toBe(2);
  expect(other.stderr).toContain('the certificate does not pass');
  expect(other.exitCode).toBe(5);
  expect(device(1).log).toHaveLength(requests);
});
