import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Vault } from '../../src/credentials/vault.ts';
import type { SimulatedDevice, SimulatorOptions } from '../simulator/simulator.ts';
import { know, type Run, startFleet, type TestFleet, wordsOf } from '../main/devsh.ts';

export const PASSPHRASE = 'correct horse battery';
export const OLD = 'admin-secret';

/** Devices whose accounts log in with passwords that a write sets, and the admin's login kept in a vault. */
export async function startRotation(
  options: SimulatorOptions = {},
): Promise<TestFleet & { rotate: (line: string, secret?: string) => Promise<Run>; vault: Vault }> {
  const { quirk = [], ...more } = options;
  const fleet = await startFleet({
    users: 4,
    profile: 'drf',
    env: {},
    ...more,
    quirk: [
      ...(more.profile === 'documented' ? [] : ['logins' as const]),
      'locks-accounts',
      ...quirk,
    ],
  });
  const { devsh, devices } = fleet;
  await know(devsh, devices, { profile: 'drf' });
  const vault = new Vault(join(devsh.folder, 'data', 'devsh', 'vault.age'), { workFactor: 1 });
  await vault.create(PASSPHRASE);
  for (const { address } of devices) {
    await vault.store(address, { kind: 'basic', user: 'admin', secret: OLD });
  }
  return {
    ...fleet,
    vault,
    rotate: (line, secret = '') =>
      devsh(
        [
          ...wordsOf(line),
          '--passphrase-stdin',
          ...(/^user list|forget/.test(line) ? [] : ['--yes']),
        ],
        {
          stdin: `${PASSPHRASE}\n${secret}\n`,
        },
      ),
  };
}

/** Whether the account's last login with each of these passwords was accepted, by the device's own log. */
export function lastLogin(
  { logins }: SimulatedDevice,
  username: string,
  password: string,
): boolean | undefined {
  return logins.findLast((one) => one.username === username && one.password === password)
    ?.isAccepted;
}

/** `--escrow` with a key of its own. */
export async function escrowIn(folder: string): Promise<string> {
  const recipient = await identityToRecipient(await generateX25519Identity());
  return `--escrow ${join(folder, 'new.age')} --recipient ${recipient}`;
}

/** The text of all files of devsh. */
export async function allText(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
