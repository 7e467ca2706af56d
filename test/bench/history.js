// What was read of a fleet in the past: its size on disk, and how soon `changes` says what changed.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOMES } from './builds.js';
import { whenEnding } from './cleanup.js';
import { bundleParts } from './parts.js';
import { run } from './rounds.js';

const READINGS = 100;
const EVERY_MS = 6 * 3_600_000;
const USERS = 25;

export async function historyRows(bench) {
  const { report, devices } = bench;
  const name = `changes of a day, ${devices} devices read ${READINGS} times`;
  if (!report.wants(name)) return;
  const home = mkdtempSync(HOMES);
  const remove = whenEnding(() => rmSync(home, { recursive: true, force: true }));
  try {
    const env = await readPast(await bundleParts(bench.built), home, devices);
    const bytes = sizeOf(join(home, 'state/devsh/readings'));
    report.note(`${READINGS} readings of ${devices} devices take ${Math.round(bytes / 1e6)} MB`);
    await report.compare(name, {
      kind: 'over',
      goal: 1000,
      own: ({ command }) =>
        run([...command, 'changes', '--since', '1d', '--on', '@fleet'], { env }),
      against: 'node -e 0',
      other: () => run([process.execPath, '-e', '0']),
      rounds: 7,
    });
  } finally {
    remove();
  }
}

/** Keeps readings of each device; from one to the next, one device in a hundred has changed. */
async function readPast({ HistoryFiles, HistoryWriter }, home, devices) {
  const folder = join(home, 'state/devsh/readings');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(join(home, 'config/devsh'), { recursive: true, mode: 0o700 });
  const fleet = Array.from({ length: devices }, (_, index) => ({
    name: `d${index}`,
    address: `127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}:8443`,
    records: Array.from({ length: USERS }, (_, user) => record(user)),
  }));
  const lines = fleet.map(
    ({ name, address }) => `  - {name: ${name}, address: "${address}", groups: [fleet]}\n`,
  );
  writeFileSync(join(home, 'config/devsh/devices.yaml'), `devices:\n${lines.join('')}`, {
    mode: 0o600,
  });
  const files = new HistoryFiles(folder);
  const begin = Date.now() - READINGS * EVERY_MS;
  for (let reading = 0; reading < READINGS; reading += 1) {
    const from = begin + reading * EVERY_MS;
    // A process of its own, as with a list every six hours.
    const writer = new HistoryWriter(files);
    const observed = fleet.map((device, index) => {
      if ((index * 7 + reading * 13) % 100 === 0) {
        const [first, ...rest] = device.records;
        device.records = [...rest, { ...first, lang: `x${reading}` }];
      }
      return {
        ...{ ...device, session: device, pin: 'AB:CD', redact: (text) => text },
        ...{ resource: 'user', keyField: 'username', moving: [], from, to: from + 1000 },
      };
    });
    const problems = { onError: fail, onTooLarge: fail };
    await writer.write(observed, { days: 90, megabytes: 200 }, problems);
    await writer.close();
  }
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
  };
}

function record(user) {
  return {
    username: `user${user}`,
    first_name: 'First',
    lastname: `Last ${user}`,
    lang: 'de',
    is_active: true,
    uuid: `00000000-0000-4000-8000-${String(user).padStart(12, '0')}`,
  };
}

function fail(problem) {
  throw problem instanceof Error ? problem : new Error('a reading was not kept');
}

function sizeOf(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
