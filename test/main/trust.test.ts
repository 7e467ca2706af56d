import { readFile, stat } from 'node:fs/promises';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, startFleet } from './devsh.ts';

const OTHER = Array.from({ length: 32 }, () => 'AB').join(':');

test('an unknown certificate ends with 5, shows its fingerprint, and gets no request', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const { stderr, exitCode } = await devsh('user list --on sim1');
  expect(exitCode).toBe(5);
  expect(stderr).toContain(device(1).fingerprint);
  expect(stderr).toContain('trust accept');
  expect(device(1).log).toEqual([]);
});

test('a changed certificate ends with 5, shows both fingerprints, and gets no request', async () => {
  const { devsh, device } = await startFleet();
  const before = device(1).fingerprint;
  device(1).setFault('certificate-change');
  const { stderr, exitCode } = await devsh('user add username=zoe --on sim1 --yes');
  expect(exitCode).toBe(5);
  expect(stderr).toContain(before);
  expect(stderr).toContain(device(1).fingerprint);
  expect(stderr).toContain('trust replace');
  expect(device(1).log).toEqual([]);
});

test('a changed certificate cannot be accepted, only replaced', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('certificate-change');
  const accepted = await devsh(`trust accept sim1 --fingerprint ${device(1).fingerprint}`);
  expect(accepted.exitCode).toBe(6);
  expect(accepted.stderr).toContain('trust replace sim1');
  const replaced = await devsh(`trust replace sim1 --fingerprint ${device(1).fingerprint}`);
  expect(replaced.exitCode).toBe(0);
  expect((await devsh('user list --on sim1')).exitCode).toBe(0);
});

test('a wrong pin is refused even when the system would trust, and with --ca, too', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const ca = join(devsh.folder, 'ca.pem');
  await writeFile(ca, device(1).certificate);
  expect((await devsh(`user list --on sim1 --ca ${ca}`)).exitCode).toBe(0);
  await devsh(`trust accept sim1 --fingerprint ${OTHER}`);
  const requests = device(1).log.length;
  const { exitCode, stderr } = await devsh(`user list --on sim1 --ca ${ca}`);
  expect(exitCode).toBe(5);
  expect(stderr).toContain(OTHER);
  expect(device(1).log).toHaveLength(requests);
});

test('a fingerprint may be written without colons and in small letters', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const plain = device(1).fingerprint.replaceAll(':', '').toLowerCase();
  expect((await devsh(`trust accept ${device(1).address} --fingerprint ${plain}`)).exitCode).toBe(
    0,
  );
  expect((await devsh('user list --on sim1')).exitCode).toBe(0);
});

test.each(['', 'abc', `${OTHER}:AB`, OTHER.replace('AB', 'GH')])(
  'the fingerprint "%s" is a usage error',
  async (fingerprint) => {
    const devsh = await makeDevsh();
    const { exitCode } = await devsh(['trust', 'accept', '10.0.0.5', '--fingerprint', fingerprint]);
    expect(exitCode).toBe(2);
    expect((await devsh('trust list')).stdout.trimEnd().split('\n')).toHaveLength(1);
  },
);

test('without a fingerprint and nobody to ask, the certificate is shown and not pinned', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const { stderr, exitCode } = await devsh('trust accept sim1');
  expect(exitCode).toBe(6);
  expect(stderr).toContain(device(1).fingerprint);
  expect((await devsh('user list --on sim1')).exitCode).toBe(5);
});

test('on a terminal the fingerprint is shown once, and pinned after yes', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const { stderr, exitCode } = await devsh('user list --on sim1', { tty: ['yes'] });
  expect(stderr).toContain(device(1).fingerprint);
  expect(exitCode).toBe(0);
  const again = await devsh('user list --on sim1');
  expect(again).toMatchObject({ stderr: '', exitCode: 0 });
});

test('on a terminal anything but yes sends nothing', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const { exitCode } = await devsh('user list --on sim1', { tty: ['y'] });
  expect(exitCode).toBe(5);
  expect(device(1).log).toEqual([]);
});

test('several unknown certificates are one question', async () => {
  const { devsh, devices } = await startFleet({ devices: 3, isPinned: false });
  const { stderr, exitCode } = await devsh('user list --on @lab', { tty: ['yes'] });
  expect(exitCode).toBe(0);
  for (const { fingerprint } of devices) expect(stderr).toContain(fingerprint);
});

test('--insecure is for one call, and said in words where the device is shown', async () => {
  const { devsh } = await startFleet({ isPinned: false });
  const { stdout, exitCode } = await devsh('connect sim1 --insecure --json');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('NOT CHECKED');
  expect((await devsh('user list --on sim1 --insecure')).exitCode).toBe(0);
  expect((await devsh('user list --on sim1')).exitCode).toBe(5);
});

test('trust forget takes the pin away', async () => {
  const { devsh } = await startFleet();
  expect((await devsh('trust forget sim1')).exitCode).toBe(0);
  expect((await devsh('user list --on sim1')).exitCode).toBe(5);
});

test('pins are kept in a file of the user alone, without any secret', async () => {
  const { devsh, device } = await startFleet();
  await devsh('user list --on sim1');
  const file = join(devsh.folder, 'data', 'devsh', 'known-devices');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, 'utf8');
  expect(text).toContain(`${device(1).address} sha256:${device(1).fingerprint}`);
});

test('a CA file without a certificate is named, instead of blaming the device', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const file = join(devsh.folder, 'no.pem');
  await writeFile(file, 'nothing of the kind');
  const { exitCode, stderr } = await devsh(`user list --on sim1 --ca ${file}`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${file} holds no certificate`);
  expect(device(1).log).toHaveLength(0);
});
