import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { startHttpProxy, type TestProxy } from '../device/route/proxies.ts';
import { makeDevsh, type Devsh } from '../main/devsh.ts';
import { Canaries } from './canaries.ts';
import { startEcho } from './echo-device.ts';

/**
 * Two devices, `sim1` and `sim2`, with their own passwords; `echo`, which repeats what it gets; a proxy
 * with a login. Every secret is a canary.
 */
export interface CanaryFleet {
  readonly canaries: Canaries;
  readonly devsh: Devsh & { readonly folder: string };
  /** The environment of devsh: folders, proxy, external programs. */
  readonly env: Readonly<Record<string, string>>;
  readonly devices: readonly SimulatedDevice[];
  readonly proxy: TestProxy;
  /** The folder of the user's files, secrets included; devsh writes nothing here. */
  readonly inputs: string;
  /** The file with arguments and environment of the programs that devsh started. */
  readonly seenByPrograms: string;
  /** All output. */
  readonly shown: string[];
  readonly secrets: {
    readonly newUser: string;
    readonly passphrase: string;
    readonly login: string;
  };
}

/** Prints the login of a device, and records its arguments and environment. */
const PROGRAM = `#!/bin/sh
tr '\\0' '\\n' < /proc/$$/environ >> "$(dirname "$0")/../seen"
tr '\\0' '\\n' < /proc/$$/cmdline >> "$(dirname "$0")/../seen"
if [ -f "$(dirname "$0")/$1" ]; then cat "$(dirname "$0")/$1"; fi
`;

export async function startCanaryFleet(): Promise<CanaryFleet> {
  const canaries = new Canaries();
  const passwords = [canaries.make('password of sim1'), canaries.make('password of sim2')];
  const simulator = await startSimulator({ devices: 2, users: 6, passwords });
  onTestFinished(() => simulator.close());
  const [sim1, sim2] = simulator.devices;
  if (sim1 === undefined || sim2 === undefined) throw new Error('no devices');
  for (const { name, accounts } of [sim1, sim2]) {
    canaries.know(`token of ${name}`, accounts.admin.token);
  }
  const proxyPassword = canaries.makePlain('password of the proxy');
  const proxy = await startHttpProxy({ login: { user: 'me', password: proxyPassword } });
  const echo = await startEcho(canaries.make('password that echo holds'));

  const inputs = await mkdtemp(join(tmpdir(), 'devsh-inputs-'));
  onTestFinished(() => rm(inputs, { recursive: true, force: true }));
  await mkdir(join(inputs, 'programs'));
  const program = join(inputs, 'programs/login');
  await writeFile(program, PROGRAM);
  await chmod(program, 0o700);
  const seenByPrograms = join(inputs, 'seen');
  await writeFile(seenByPrograms, '');
  const logins = {
    sim1: `username=admin\npassword=${passwords[0] ?? ''}\n`,
    sim2: `username=admin\npassword=${passwords[1] ?? ''}\n`,
    echo: `username=admin\npassword=${canaries.make('password of echo')}\n`,
  };
  for (const [name, text] of Object.entries(logins)) {
    await writeFile(join(inputs, 'programs', name), text);
  }

  const newUser = canaries.make('password of a new user');
  await writeInputs(inputs, newUser, canaries.make('password in an inventory of Ansible'));

  const env = {
    // Other variables of the machine may contain secrets, too.
    DEVSH_NO_SUCH_SETTING: canaries.make('a variable of devsh'),
    EDITOR: 'true',
    PATH: process.env['PATH'] ?? '',
  };
  const devsh = await makeDevsh(env);
  const targets = [
    { name: 'sim1', address: sim1.address, fingerprint: sim1.fingerprint },
    { name: 'sim2', address: sim2.address, fingerprint: sim2.fingerprint },
    { name: 'echo', address: `127.0.0.1:${echo.port}`, fingerprint: echo.certificate.fingerprint },
  ];
  for (const { name, address, fingerprint } of targets) {
    await devsh(['device', 'add', name, address, '--group', 'all-of-them']);
    await devsh(['trust', 'accept', address, '--fingerprint', fingerprint]);
  }
  const command = `groups:\n  all-of-them:\n    credential_command: [${program}, "{device}"]\n`;
  await appendFile(join(devsh.folder, 'config/devsh/devices.yaml'), command);
  return {
    canaries,
    devsh,
    env: { ...env, ...homeOf(devsh.folder), HTTPS_PROXY: proxyUrl(proxy, `me:${proxyPassword}@`) },
    devices: [sim1, sim2],
    proxy,
    inputs,
    seenByPrograms,
    shown: [],
    secrets: {
      newUser,
      passphrase: canaries.make('passphrase of the vault'),
      login: passwords[0] ?? '',
    },
  };
}

/** Files of a user, with secrets in them. */
async function writeInputs(folder: string, newUser: string, ansible: string): Promise<void> {
  const password = JSON.stringify(newUser);
  const ivy = 'username: ivy, first_name: Ivy, lastname: I, lang: de';
  const host = { ansible_host: '10.9.9.8', ansible_user: 'admin', ansible_password: ansible };
  const files = {
    'change.yaml': `- add: user\n  fields: {${ivy}, password: ${password}}\n`,
    'users.csv': `username,first_name,lastname,lang,password\njim,Jim,J,de,"${newUser.replaceAll('"', '""')}"\n`,
    'router.yaml': 'extends: drf\nbase_path: /api/\n',
    'ansible.json': JSON.stringify({
      all: { hosts: ['core1'] },
      _meta: { hostvars: { core1: host } },
    }),
    'set.devsh': 'user set sim "${password}"\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

export function proxyUrl({ port }: TestProxy, login = ''): string {
  return `http://${login}127.0.0.1:${port}`;
}

function homeOf(folder: string): Record<string, string> {
  return {
    HOME: folder,
    TMPDIR: folder,
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_DATA_HOME: `${folder}/data`,
    XDG_STATE_HOME: `${folder}/state`,
    XDG_CACHE_HOME: `${folder}/cache`,
  };
}
