import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, startFleet, trust } from './devsh.ts';

const OTHER = Array.from({ length: 32 }, () => 'AB').join(':');

test('an unknown certificate ends with 5, says where its fingerprint is, and gets no request', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const { stderr, exitCode } = await devsh('user list --on sim1');
  expect(exitCode).toBe(5);
  expect(stderr).toContain('"trust scan sim1" shows it to compare, "trust accept sim1" pins it');
  expect((await devsh('trust scan sim1')).stdout).toContain(device(1).fingerprint);
  expect(device(1).log).toEqual([]);
});

test('a changed certificate ends with 5, says where both fingerprints are, and gets no request', async () => {
  const { devsh, device } = await startFleet();
  const before = device(1).fingerprint;
  device(1).setFault('certificate-change');
  const added = await devsh('user add username=zoe --on sim1 --yes');
  expect(added.exitCode).toBe(5);
  expect(added.stdout).toContain('THE CERTIFICATE HAS CHANGED');
  expect(added.stdout).toContain('"trust scan sim1" shows both');
  expect(added.stdout).toContain('"trust replace sim1"');
  const { stdout } = await devsh('trust scan sim1');
  expect(stdout).toContain(before);
  expect(stdout).toContain(device(1).fingerprint);
  expect(device(1).log).toEqual([]);
});

test('what is wrong with certificates is one line of a plan, without a fingerprint', async () => {
  const { devsh, device } = await startFleet({ devices: 4 });
  for (const number of [2, 3]) device(number).setFault('certificate-change');
  const { stdout } = await devsh('user add username=zoe --on @lab --dry-run');
  const output = stdout.split('\n').filter((line) => line.includes('CERTIFICATE HAS CHANGED'));
  expect(output).toEqual([
    expect.stringMatching(/^certificate CHANGED: sim2, sim3 - .*"trust scan DEVICE"/),
  ]);
  expect(stdout).not.toMatch(/[0-9A-F]{2}(:[0-9A-F]{2}){8}/);
  expect(stdout).toContain('2 certificate CHANGED');
});

test('a changed certificate is called changed wherever trust is shown', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const before = device(1).fingerprint;
  device(1).setFault('certificate-change');
  const output = await devsh('devices --on @lab --json');
  expect(JSON.parse(output.stdout)).toMatchObject({
    inventory: [
      {
        name: 'sim1',
        state: 'untrusted',
        trust: 'CHANGED',
        since: expect.stringMatching(/^20\d\d-/) as string,
        reason: expect.stringMatching(/^THE CERTIFICATE HAS CHANGED/) as string,
      },
      { name: 'sim2', state: 'connected', trust: 'pinned', since: null, reason: null },
    ],
  });
  const stdin = 'user list --on sim1 --format jsonl\ntrust list --format jsonl\n';
  const { stdout } = await devsh('run - --keep-going', { stdin });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(rows).toContainEqual(
    expect.objectContaining({ fingerprint: before, changedTo: device(1).fingerprint }),
  );
  expect(rows).toContainEqual(expect.objectContaining({ device: 'sim2', changedTo: null }));
});

test('devices that fail for the same cause are reported in one line', async () => {
  const { devsh, devices } = await startFleet({ devices: 3 });
  for (const device of devices.slice(1)) device.setFault('refuse');
  for (const line of ['user list --on @lab', 'connect @lab', 'devices --on @lab']) {
    const { stderr } = await devsh(line);
    const output = stderr.split('\n').filter((text) => text.startsWith('✗'));
    expect(output, line).toEqual([
      expect.stringMatching(/^✗ sim2, sim3: the device refuses the connection/),
    ]);
  }
});

test('of many devices that fail one after the other for the same cause, some are named', async () => {
  const { devsh, devices } = await startFleet({ devices: 9 });
  for (const device of devices.slice(1)) device.setFault('refuse');
  const line = 'user list --on @lab --concurrency 1';
  const failures = ({ stderr }: { stderr: string }): string[] => stderr.split('\n').slice(0, -1);
  expect(failures(await devsh(line))).toEqual([
    expect.stringMatching(/^✗ sim2, sim3, sim4 \+5: the device refuses the connection/),
    '--verbose or --json names all',
  ]);
  expect(failures(await devsh(`${line} --verbose`))).toContainEqual(
    expect.stringMatching(/^✗ sim2, sim3, sim4, sim5, sim6, sim7, sim8, sim9: the device refuses/),
  );
  const set = 'user set viewer lang=fr --on @lab --yes';
  const { stdout } = await devsh(set);
  expect(stdout.split('\n').filter((text) => text.startsWith('✗'))).toEqual([
    expect.stringMatching(/^✗ not reached: the device refuses.* sim2 sim3 .* sim8 sim9$/),
  ]);
});

test('a declined question is reported, but not as an error', async () => {
  const { devsh, device } = await startFleet();
  const { stderr, exitCode } = await devsh('user delete viewer --on sim1', { tty: ['n'] });
  expect(stderr).toContain('you did not confirm: nothing was sent');
  expect(stderr).not.toContain('error:');
  expect(exitCode).toBe(6);
  expect(device(1).log.map(({ method }) => method)).not.toContain('DELETE');
});

test('a changed certificate cannot be accepted, only replaced', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('certificate-change');
  const accepted = await devsh(`trust accept sim1 --fingerprint ${device(1).fingerprint}`);
  expect(accepted.exitCode).toBe(6);
  const { pins } = JSON.parse((await devsh('trust list --json')).stdout) as { pins: unknown[] };
  expect(pins).toContainEqual(expect.objectContaining({ validTo: null, expires: 'not known' }));
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
  expect(stderr).toContain('THE CERTIFICATE HAS CHANGED');
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

test('without a fingerprint or a terminal the certificate is shown and not pinned', async () => {
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

test('a plan reports many unknown certificates once', async () => {
  const { devsh } = await startFleet({ devices: 3, isPinned: false });
  const { stdout, exitCode } = await devsh('user add username=zoe --on @lab --yes');
  expect(exitCode).toBe(5);
  expect(stdout).toContain(
    '✗ not trusted: the certificate is not trusted: it is self-signed. Nothing was sent. ' +
      '"trust scan DEVICE" shows it to compare, "trust accept DEVICE" pins it  sim1 sim2 sim3\n',
  );
});

test('--insecure applies to one call and is shown with the device', async () => {
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
  expect(stderr).toContain(`${file} contains no certificate`);
  expect(device(1).log).toHaveLength(0);
});

test('trust scan tells known, changed and new certificates apart, and sends no request', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  const pinnedTo = device(2).fingerprint;
  device(2).setFault('certificate-change');
  await devsh('trust forget sim3');
  const { stdout, stderr, exitCode } = await devsh('trust scan @lab --json');
  expect(exitCode).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    certificates: [
      { device: 'sim1', state: 'known', fingerprint: device(1).fingerprint },
      { device: 'sim2', state: 'CHANGED', fingerprint: device(2).fingerprint },
      { device: 'sim3', state: 'new', fingerprint: device(3).fingerprint },
    ],
    errors: [{ device: 'sim2', error: { code: 'untrusted' } }],
  });
  expect(stderr).toContain('1 known, 1 CHANGED, 1 new');
  expect(stdout).toContain(pinnedTo);
  expect([1, 2, 3].flatMap((number) => device(number).log)).toEqual([]);
});

test('trust scan names unreachable devices and continues', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse');
  const { stdout, stderr, exitCode } = await devsh('trust scan sim1 sim2');
  expect(exitCode).toBe(3);
  expect(stdout).toContain('known');
  expect(stderr).toContain('sim2');
  expect(stderr).toContain('1 known, 1 not seen');
});

test('trust accept takes a whole group after one question, and refuses what has changed', async () => {
  const { devsh, device } = await startFleet({ devices: 4 });
  await devsh('trust forget sim1');
  await devsh('trust forget sim2');
  device(3).setFault('certificate-change');
  const { stderr, exitCode } = await devsh('trust accept @lab', { tty: ['yes'] });
  expect(stderr).toContain('Type yes to trust and pin 2 certificates');
  expect(stderr).toContain('sim4 is pinned already');
  expect(stderr).toContain('THE CERTIFICATE HAS CHANGED');
  expect(exitCode).toBe(5);
  expect((await devsh('user list --on sim1 --on sim2 --on sim4')).exitCode).toBe(0);
  expect((await devsh('user list --on sim3')).exitCode).toBe(5);
});

test('trust list says which device a pin belongs to and when its certificate ends', async () => {
  const { devsh } = await startFleet({ isPinned: false });
  await devsh('trust accept sim1', { tty: ['yes'] });
  const { stdout } = await devsh('trust list --json');
  expect(JSON.parse(stdout)).toMatchObject({ pins: [{ device: 'sim1' }] });
  expect(stdout).toMatch(/"expires":\s*"in \d+ (days|years)"/);
});

test('pins that were removed outside of devsh are reported and can be restored', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  const file = join(devsh.folder, 'data', 'devsh', 'known-devices');
  const intact = await readFile(file, 'utf8');
  await writeFile(file, intact.split('\n').slice(0, 2).join('\n') + '\n');
  const { stderr, exitCode } = await devsh('user list --on sim2');
  expect(exitCode).toBe(5);
  expect(stderr).toContain(`1 gone (${device(2).address})`);
  expect(stderr).toContain('trust restore');
  expect(device(2).log).toEqual([]);
  expect((await devsh('trust restore')).exitCode).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(intact);
  expect((await devsh('user list --on sim2')).exitCode).toBe(0);
});

test('--insecure is shown in the plan, the question and the journal', async () => {
  const { devsh } = await startFleet({ isPinned: false });
  const add = 'user add username=zoe first_name=Z lastname=Z lang=de --on sim1 --insecure';
  const words = 'the certificate is NOT CHECKED (--insecure) on sim1';
  expect((await devsh(`${add} --dry-run`)).stdout).toContain(words);
  const asked = await devsh(add, { tty: ['y'] });
  expect(asked.stderr).toContain(words);
  expect(asked.exitCode).toBe(0);
  const folder = join(devsh.folder, 'state/devsh/runs');
  const [journal = ''] = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  expect(await readFile(join(folder, journal), 'utf8')).toContain('"isUnchecked":true');
});

test('many devices are pinned from the output of a scan, except changed ones', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 4, isPinned: false });
  const { stdout } = await devsh('trust scan @lab');
  const file = join(devsh.folder, 'seen.tsv');
  await writeFile(file, stdout.split('\n').slice(0, 4).join('\n'));
  await devsh(`trust accept sim2 --fingerprint ${OTHER}`);
  await devsh(`trust accept sim3 --fingerprint ${device(3).fingerprint}`);
  const { stderr, exitCode } = await devsh(`trust accept @lab --fingerprints ${file}`);
  expect(stderr).toContain(`sim1 is pinned to ${device(1).fingerprint}`);
  expect(stderr).toContain('sim2 is pinned to AB:AB');
  expect(stderr).toContain('"trust replace sim2" replaces the pin');
  expect(stderr).toContain('sim3 is pinned already');
  expect(stderr).toContain(`sim4: ${file} has no SHA-256 fingerprint for it`);
  expect(exitCode).toBe(6);
  expect((await devsh('user list --on sim1,sim3')).exitCode).toBe(0);
  expect(devices.map(({ log }) => log.length > 0)).toEqual([true, false, true, false]);
});

test('a list of fingerprints is taken from standard input, too, by name or address', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 2, isPinned: false });
  const plain = device(1).fingerprint.replaceAll(':', '').toLowerCase();
  const stdin = `# by hand\nsim1,${plain}\n${device(2).address}  SHA256:${device(2).fingerprint}\r\n`;
  expect(await devsh('trust accept @lab --fingerprints -', { stdin })).toMatchObject({
    exitCode: 0,
  });
  expect((await devsh('user list --on @lab')).exitCode).toBe(0);
  expect(devices).toHaveLength(2);
});

test.each([
  ['two for one device', (own: string) => `sim1 ${own}\nSIM1 ${OTHER}`, 'several fingerprints'],
  [
    'another one by its address',
    (own: string, address: string) => `sim1 ${own}\n${address} ${OTHER}`,
    'several fingerprints',
  ],
  ['one that is cut', (own: string) => `sim1 ${own.slice(3)}`, 'no SHA-256 fingerprint for it'],
  [
    'only what another device says of itself',
    (own: string) => `sim2 ${OTHER} CN=sim1 ${own}`,
    'no SHA-256 fingerprint for it',
  ],
  [
    'a cell that goes on in the next line',
    (own: string) => `sim2,${OTHER},"CN=x\nsim1,${own}"`,
    ':1: a quotation mark is not closed in its line',
  ],
  ['what is no device', (own: string) => `https:// ${own}`, ':1: the address of a device'],
  ['JSON in it', (own: string) => `[{"device":"sim1","fingerprint":"${own}"}]`, 'is JSON'],
])('a list with %s pins nothing', async (_what, textOf, reason) => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const file = join(devsh.folder, 'list');
  await writeFile(file, textOf(device(1).fingerprint, device(1).address));
  const { stderr, exitCode } = await devsh(`trust accept sim1 --fingerprints ${file}`);
  expect(stderr).toContain(reason);
  expect(exitCode).not.toBe(0);
  expect((await devsh('user list --on sim1')).exitCode).toBe(5);
});

test('a list of fingerprints may have IPv6 addresses, and lines of openssl', async () => {
  const devsh = await makeDevsh();
  const stdin = `10.0.0.5 sha256 Fingerprint=${OTHER}\n[2001:db8::1] ${OTHER}\n`;
  const run = await devsh('trust accept 10.0.0.5 2001:db8::1 --fingerprints -', { stdin });
  expect(run).toMatchObject({ exitCode: 0 });
  const { stdout } = await devsh('trust list --json');
  expect(stdout).toContain('"10.0.0.5:443"');
  expect(stdout).toContain('"[2001:db8::1]:443"');
});

test('fingerprints, devices, runs and verdicts are whole on a terminal of 80 columns', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('user add username=zoe --on sim1,sim2 --yes');
  const run = (await devsh('runs --json')).stdout;
  const id = (JSON.parse(run) as { runs: readonly { run: string }[] }).runs[0]?.run ?? '';
  const screen = { tty: [], columns: 80, env: { NO_COLOR: '1' } };
  const runs = await devsh('runs', screen);
  expect(runs.stdout).toContain(id);
  expect(runs.stdout).toContain('2 done');
  expect(runs.stdout).toMatch(/\nno room for BY\n/);
  for (const line of ['trust', 'trust scan sim1 sim2']) {
    const { stdout } = await devsh(line, screen);
    // A fingerprint is wrapped over several lines.
    const digits = stdout
      .match(/(?:[\dA-F]{2}:){3,}(?:[\dA-F]{2})?|^ +[\dA-F:]+$/gm)
      ?.join('')
      .replaceAll(' ', '');
    expect(digits).toContain(device(1).fingerprint);
    expect(stdout).toContain('sim1');
    for (const text of stdout.split('\n')) expect(text.length).toBeLessThanOrEqual(80);
  }
});

test.each([
  ['a terminal that does not know its size', 'trust', 0],
  ['one who has it read aloud', 'trust --plain', 80],
])('%s gets whole values', async (_who, line, columns) => {
  const { devsh, device } = await startFleet();
  const { stdout } = await devsh(line, { tty: [], columns, env: { NO_COLOR: '1' } });
  expect(stdout).toContain(device(1).address);
  expect(stdout).toContain(device(1).fingerprint.slice(0, 20));
  if (columns === 0) return;
  expect(stdout).toContain(device(1).fingerprint);
  expect(stdout).not.toContain('…');
});

test('many changed certificates are replaced only by a list of fingerprints or by their CA', async () => {
  const { devsh, device } = await startFleet({ devices: 4 });
  for (const number of [1, 2, 3]) device(number).setFault('certificate-change');
  const refused = await devsh('trust replace @lab', { tty: ['yes'] });
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(refused.stderr).toContain('names 4 devices: name one, or give --fingerprints FILE');

  const list = join(devsh.folder, 'seen.tsv');
  await writeFile(list, `sim1 ${device(1).fingerprint}\nsim4 ${device(4).fingerprint}\n`);
  const listed = await devsh(`trust replace sim1 sim3 sim4 --fingerprints ${list}`);
  expect(listed.stderr).toContain(`sim1 is pinned to ${device(1).fingerprint}`);
  expect(listed.stderr).toContain(`sim3: ${list} has no SHA-256 fingerprint for it`);
  expect(listed.stderr).toContain('sim4 is pinned already');

  const ca = join(devsh.folder, 'ca.pem');
  await writeFile(ca, device(2).certificate);
  const signed = await devsh(`trust replace @lab --ca ${ca}`);
  expect(signed.stderr).toContain(`sim2 is pinned to ${device(2).fingerprint}`);
  expect(signed.stderr).toMatch(/sim3\b.*the certificate does not pass/);
  expect(device(3).log).toEqual([]);
  const { stdout } = await devsh('trust scan @lab --json');
  expect(JSON.parse(stdout)).toMatchObject({
    certificates: ['known', 'known', 'CHANGED', 'known'].map((state) => ({ state })),
  });
});

test('questions lists what devices wait for without asking; accept skips changed ones', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  await devsh('trust forget sim1');
  device(2).setFault('certificate-change');
  const env = { DEVSH_USER: '', DEVSH_PASSWORD: '' };
  const { stdout, exitCode } = await devsh('questions --on @lab --json', { env, tty: ['yes'] });
  expect(JSON.parse(stdout)).toMatchObject({
    questions: [
      { device: 'sim2', question: 'changed', fingerprint: device(2).fingerprint },
      { device: 'sim1', question: 'certificate', fingerprint: device(1).fingerprint, pinned: null },
      { device: 'sim3', question: 'login', fingerprint: null },
    ],
  });
  expect(exitCode).toBe(0);
  expect([device(1).log, device(2).log]).toEqual([[], []]);

  const script = 'questions --on sim1,sim2\nquestions accept\nuser list --on sim1\n';
  const alone = await devsh('run -', { stdin: script });
  expect(alone.stderr).toContain(`sim1 presents ${device(1).fingerprint}; devsh cannot ask here`);
  expect(alone.exitCode).toBe(6);
  const named = await devsh('run -', {
    stdin: 'questions --on @lab\nquestions accept sim1 sim2\n',
  });
  expect(named.stderr).toContain('sim2: accept a changed certificate alone');
  expect([device(1).log, device(2).log]).toEqual([[], []]);

  const list = join(devsh.folder, 'seen.tsv');
  await writeFile(list, [1, 2].map((n) => `sim${n} ${device(n).fingerprint}\n`).join(''));
  const proved = `questions --on @lab\nquestions accept --fingerprints '${list}'\nquestions\n`;
  const { stderr } = await devsh('run -', { stdin: proved });
  expect(stderr).toContain(`sim2 is pinned to ${device(2).fingerprint}`);
  expect(stderr).toContain('no question is open');
  expect((await devsh('user list --on @lab')).exitCode).toBe(0);
});

test('a fingerprint that a file vouches for is pinned with the date of the certificate that the device presented', async () => {
  const { devsh, devices, device } = await startFleet({ devices: 2, isPinned: false });
  const file = join(devsh.folder, 'seen.tsv');
  const lines = devices.map(({ address, fingerprint }) => `${address} ${fingerprint}\n`);
  await writeFile(file, lines.join(''));
  await devsh('run - --keep-going', {
    stdin: `user list --on sim1\ntrust accept sim1 sim2 --fingerprints '${file}'\n`,
  });
  const { pins } = JSON.parse((await devsh('trust list --json')).stdout) as { pins: unknown[] };
  expect(pins).toEqual([
    expect.objectContaining({
      address: device(1).address,
      subject: 'CN=sim1',
      expires: expect.stringMatching(/^in \d+ days$/) as string,
    }),
    expect.objectContaining({ address: device(2).address, expires: 'not known' }),
  ]);
});

test('a fingerprint of the inventory counts while devsh keeps no pin, and never in a file that a variable names', async () => {
  const { devsh, devices } = await startFleet({ devices: 2, isPinned: false });
  const inventory = join(devsh.folder, 'config/devsh/devices.yaml');
  const [first, second] = devices;
  if (first === undefined || second === undefined) throw new RangeError('no devices');
  const vouch = async (fingerprint: string, of = first): Promise<void> => {
    const text = (await readFile(inventory, 'utf8')).replaceAll(/ {4}fingerprint: .*\n/g, '');
    const at = `    address: ${of.address}\n`;
    await writeFile(inventory, text.replace(at, `${at}    fingerprint: ${fingerprint}\n`));
  };
  const list = (name: string, env: NodeJS.ProcessEnv = {}) =>
    devsh(`user list --on ${name}`, { env });
  await vouch(first.fingerprint.replaceAll(':', '').toLowerCase());
  expect((await list('sim1')).exitCode).toBe(0);
  expect((await list('sim2')).exitCode).toBe(5);
  expect((await devsh('trust list --json')).stdout).not.toContain(first.fingerprint);
  expect((await devsh('trust scan @lab')).stderr).toContain('1 known, 1 new');
  const checkout = join(devsh.folder, 'checkout.yaml');
  await copyFile(inventory, checkout);
  expect((await list('sim1', { DEVSH_INVENTORY: checkout })).exitCode).toBe(5);

  await vouch(second.fingerprint);
  const before = first.log.length;
  const refused = await list('sim1');
  expect([refused.exitCode, first.log.length]).toEqual([5, before]);
  expect(refused.stderr).toContain('THE CERTIFICATE HAS CHANGED');
  const other = await devsh(`trust accept sim1 --fingerprint ${first.fingerprint}`);
  expect(other.stderr).toContain('by the inventory');
  expect(other.exitCode).toBe(6);
  // A pin that devsh keeps comes first.
  await trust(devsh, [first]);
  expect((await list('sim1')).exitCode).toBe(0);

  await vouch('AB:CD');
  const wrong = await list('sim1');
  expect(wrong.stderr).toMatch(/devices\.yaml:\d+:\d+: fingerprint must be a SHA-256 fingerprint/);
});
