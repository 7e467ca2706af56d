import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { parseLine } from '../../src/text/words.ts';
import type { FaultName } from '../simulator/faults.ts';
import { ADMIN, know, startFleet, type TestFleet } from '../main/devsh.ts';
import { startRotation } from '../rotation/fleet.ts';
import type { Entry, Setup } from './transcript.ts';

/** The simulated devices of a story, and a devsh with its own files. */
export async function startStory({
  devices,
  users,
  isListed,
  isPinned,
  isLoggedIn,
  hasSessions,
  hasHashes,
  hasLogins,
}: Setup): Promise<TestFleet> {
  const env = isLoggedIn ? ADMIN : {};
  const fleet = { devices, users, seed: 1, isListed, isPinned, env };
  if (hasLogins) return startRotation({ devices, users, seed: 1 });
  if (hasHashes) {
    const started = await startFleet({ ...fleet, profile: REST, quirk: ['password-hash'] });
    await know(started.devsh, started.devices, { profile: REST });
    return started;
  }
  if (!hasSessions) return startFleet(fleet);
  const started = await startFleet({ ...fleet, profile: REST, quirk: ['sessions'] });
  const folder = join(started.devsh.folder, 'config/devsh/profiles');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'fleet.yaml'), WITH_SESSIONS);
  await know(started.devsh, started.devices, { profile: 'fleet' });
  return started;
}

const REST = 'generic-rest';

const WITH_SESSIONS = `extends: generic-rest
resources:
  session: {account_field: username, key_field: name}
  token: {account_field: username, key_field: name}
`;

/** Runs an entry and returns it as text of a transcript. */
export async function play(entry: Entry, fleet: TestFleet): Promise<string> {
  if (entry.kind === 'note') return entry.text;
  if (entry.kind === 'fault') {
    const device = fleet.devices.find((one) => one.name === entry.device);
    if (entry.fault === 'from-backup') device?.restoreLogins();
    else device?.setFault(entry.fault as FaultName, entry.isOn);
    return entry.text;
  }
  const { stdout, stderr, exitCode } = await fleet.devsh(
    parseLine(entry.command).words.map(({ text }) => filled(text, fleet)),
    {
      stdin: filled(entry.stdin.map((text) => `${text}\n`).join(''), fleet),
      env: entry.env,
    },
  );
  const lines = [
    `$ ${entry.source}`,
    ...entry.stdin.map((text) => `> ${text}`),
    ...output(stdout, fleet),
    ...output(stderr, fleet).map((text) => `! ${text}`),
    `[exit ${exitCode}]`,
    '',
  ];
  return lines.join('\n');
}

function output(text: string, fleet: TestFleet): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => masked(line, fleet));
}

/**
 * `{sim1}` is the address of a device, `{sim1.pin}` its fingerprint, `{sim1.token}` the admin's token,
 * `{home}` the folder of this story, `{run}` its newest run.
 */
function filled(text: string, { devices, devsh }: TestFleet): string {
  return devices.reduce(
    (line, { name, address, fingerprint, accounts }) =>
      line
        .replaceAll(`{${name}}`, address)
        .replaceAll(`{${name}.pin}`, fingerprint)
        .replaceAll(`{${name}.token}`, accounts.admin.token),
    text.replaceAll('{home}', devsh.folder).replaceAll('{run}', () => newestRun(devsh.folder)),
  );
}

function newestRun(folder: string): string {
  const names = readdirSync(join(folder, 'state/devsh/runs')).sort();
  return (names.findLast((name) => name.endsWith('.jsonl')) ?? '').replace('.jsonl', '');
}

/** The reverse of `filled`; `{run}`, `{uuid}`, `{date}`, `{clock}` and `{ms}` stand for varying values. */
function masked(text: string, { devices, devsh }: TestFleet): string {
  return devices
    .reduce(
      (line, { name, address, fingerprint }) =>
        line.replaceAll(address, `{${name}}`).replaceAll(fingerprint, `{${name}.pin}`),
      text,
    )
    .replaceAll(devsh.folder, '{home}')
    .replaceAll(`${userInfo().username}@${hostname()}`, '{operator}')
    .replaceAll(`${userInfo().username}&#64;${hostname()}`, '{operator}')
    .replaceAll(/\d{8}-\d{6}-[a-z0-9]{6}/g, '{run}')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{uuid}')
    .replaceAll(/(?:[0-9A-F]{2}:){31}[0-9A-F]{2}/g, '{pin}')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '{time}')
    .replaceAll(/\d{4}-\d\d-\d\d/g, '{date}')
    .replaceAll(
      /(?:yesterday )?(?<![\w:])\d\d:\d\d(?::\d\d)?(?![\w:])(?: UTC(?:[+-]\d\d:\d\d)?)?/g,
      '{clock}',
    )
    .replaceAll(/last read between .* and \{clock\}/g, 'last read {clock}')
    .replaceAll(/times are UTC(?:[+-]\{clock\})?/g, 'times are {zone}')
    .replaceAll(/\b\d+ ms\b/g, '{ms}');
}
