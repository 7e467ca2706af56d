import { hideArguments } from '../../src/shell/grammar/hide-secrets.ts';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet } from '../main/devsh.ts';

const PASSWORD = 'Hunter2-of-an-address';
const LOGIN = `root:${PASSWORD}@`;

/** Each way to give an address, with a login in it, which is never allowed. */
const LINES: readonly (readonly string[])[] = [
  ['connect', `https://${LOGIN}127.0.0.1`],
  ['connect', `${LOGIN}127.0.0.1`],
  ['use', `https://${LOGIN}127.0.0.1`],
  ['user', 'list', '--on', `https://${LOGIN}127.0.0.1`],
  ['user', 'list', '--proxy', `http://${LOGIN}127.0.0.1:3128`],
  ['user', 'list', `--proxy=${LOGIN}127.0.0.1:3128`],
  ['user', 'list', '--jump', `${LOGIN}bastion`],
  ['user', 'list', `https://${LOGIN}127.0.0.1`],
  ['user', 'show', `https://${LOGIN}127.0.0.1`],
  ['user', 'delete', `https://${LOGIN}127.0.0.1`, '--yes'],
  ['user', 'set', 'nobody', `lang=https://${LOGIN}127.0.0.1`, '--yes'],
  ['device', 'add', 'fw9', `https://${LOGIN}127.0.0.1`],
  ['device', 'add', 'fw9', `${LOGIN}127.0.0.1`],
  ['device', 'add', `https://${LOGIN}127.0.0.1`],
  ['device', 'add', 'fw9', '127.0.0.9', '--proxy', `http://${LOGIN}127.0.0.1`],
  ['device', 'remove', `https://${LOGIN}127.0.0.1`],
  ['device', 'import', `https://${LOGIN}inventory.invalid/devices/`],
  ['device', 'import', 'devices.csv'],
  ['device', 'import', 'devices.yaml'],
  ['device', 'import', 'list.json'],
  ['device', 'import', 'inventory.json'],
  ['trust', 'accept', `https://${LOGIN}127.0.0.1`],
  ['trust', 'scan', `https://${LOGIN}127.0.0.1`],
  ['login', `https://${LOGIN}127.0.0.1`],
  ['open', `https://${LOGIN}127.0.0.1`],
  ['get', `https://${LOGIN}127.0.0.1/api/user/`],
  ['config', 'set', 'proxy', `http://${LOGIN}127.0.0.1`],
  ['config', 'set', `proxy=http://${LOGIN}127.0.0.1`],
  [`https://${LOGIN}127.0.0.1`],
  ['alias', 'set', 'prod', `connect https://${LOGIN}127.0.0.1`],
];

test.each([[], ['--json']])('no password in an address is printed or kept (%s)', async (...end) => {
  const { devsh } = await startFleet({ users: 2 });
  const { folder } = devsh;
  const files = {
    'devices.csv': `name,address\nfw9,https://${LOGIN}127.0.0.1\n`,
    'devices.yaml': `devices:\n  - name: fw9\n    address: https://${LOGIN}127.0.0.1\n    proxy: http://${LOGIN}h\n`,
    'list.json': JSON.stringify([{ name: 'fw9', address: `https://${LOGIN}127.0.0.1` }]),
    'inventory.json': JSON.stringify({
      _meta: {
        hostvars: {
          fw9: { devsh_address: `https://${LOGIN}127.0.0.1`, devsh_proxy: `http://${LOGIN}h` },
        },
      },
    }),
    ssh_config: `Host fw9\n  HostName https://${LOGIN}127.0.0.1\n  ProxyJump ${LOGIN}bastion\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const leaks: string[] = [];
  const lines = LINES.map((line) =>
    line.map((word) => (word in files ? join(folder, word) : word)),
  );
  for (const line of lines) {
    const output = JSON.stringify(await devsh([...line, ...end]));
    if (output.includes(PASSWORD)) leaks.push(`${line.join(' ')}: ${output}`);
    const piped = await devsh(['run', '-'], {
      stdin: `${line.join(' ')} ${end.join(' ')}\n`,
    });
    if (JSON.stringify(piped).includes(PASSWORD))
      leaks.push(`run - ${line.join(' ')}: ${JSON.stringify(piped)}`);
  }
  const typed = lines.map((line) => line.join(' '));
  const asked = await devsh(['--plain'], { tty: [...typed, 'exit'] });
  expect(asked.stderr + asked.stdout).toContain('root:');
  // The terminal echoes typed text.
  const answered = `${asked.stdout}\n${asked.stderr}`
    .split('\n')
    .filter((line) => !/devsh> /.test(line));
  if (answered.join().includes(PASSWORD)) leaks.push(`prompt: ${answered.join('\n')}`);
  const inventory = join(folder, 'config/devsh/devices.yaml');
  const settings = join(folder, 'config/devsh/settings.json');
  for (const [path, text] of [
    [inventory, files['devices.yaml']],
    [settings, JSON.stringify({ concurrency: `https://${LOGIN}h`, [`https://${LOGIN}h`]: 1 })],
  ] as const) {
    await writeFile(path, text);
    const output = JSON.stringify(await devsh(['device', 'list', ...end]));
    if (output.includes(PASSWORD)) leaks.push(`${path}: ${output}`);
    await rm(path);
  }
  for (const name of Object.keys(files)) await writeFile(join(folder, name), '');
  for (const name of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const text = await readFile(join(name.parentPath, name.name), 'utf8');
    if (text.includes(PASSWORD)) leaks.push(`${name.name}: ${text}`);
  }
  expect(leaks).toEqual([]);
});

const SHOWN = LINES.map((line) => line.join(' ')).filter((line) => line.includes(LOGIN));

test.each(SHOWN)('the title of the process hides it: %s', (line) => {
  const { title } = process;
  hideArguments(line.split(' '));
  const shown = process.title;
  process.title = title;
  expect(shown).toContain('root:••••');
  expect(shown).not.toContain(PASSWORD);
});
