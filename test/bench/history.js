// What was read of a fleet in the past: its size on disk, and how soon `changes` says what changed.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { HOMES } from './builds.js';
import { whenEnding } from './cleanup.js';
import { bundleParts } from './parts.js';
import { run } from './rounds.js';

/** What is kept of all devices. */
const SIZES = [24e6, 65e6, 200e6];
const EVERY_MS = 6 * 3_600_000;
const A_DAY = 4;
const USERS = 25;

export async function historyRows(bench) {
  const { report, devices } = bench;
  const nameOf = (bytes) => `changes of a day, ${devices} devices, ${bytes / 1e6} MB kept`;
  if (!report.wants(...SIZES.map(nameOf))) return;
  const home = mkdtempSync(HOMES);
  const remove = whenEnding(() => rmSync(home, { recursive: true, force: true }));
  try {
    const parts = await bundleParts(bench.built);
    const changes = ({ command }, env) =>
      run([...command, 'changes', '--since', '1d', '--on', '@fleet'], { env });
    const [least, ...more] = SIZES;
    const leastEnv = await readPast(parts, join(home, 'least'), devices, least);
    await report.compare(nameOf(least), {
      kind: 'over',
      goal: 1000,
      own: (build) => changes(build, leastEnv),
      against: 'node -e 0',
      other: () => run([process.execPath, '-e', '0']),
      rounds: 7,
    });
    for (const bytes of more) {
      if (!report.wants(nameOf(bytes))) continue;
      const env = await readPast(parts, join(home, String(bytes)), devices, bytes);
      await report.compare(nameOf(bytes), {
        kind: 'ratio',
        goal: 1.2,
        own: (build) => changes(build, env),
        against: nameOf(least),
        other: () => changes(bench.built, leastEnv),
        rounds: 7,
      });
    }
  } finally {
    remove();
  }
}

/**
 * Keeps readings of two devices, each of which shows another change, until they take their share of so many bytes; on
 * the last day, only one of them has changed. All others have shown the same as one of them.
 */
async function readPast({ HistoryFiles, HistoryWriter }, home, devices, bytes) {
  const folder = join(home, 'state/devsh/readings');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(join(home, 'config/devsh'), { recursive: true, mode: 0o700 });
  const lines = Array.from(
    { length: devices },
    (_, index) => `  - {name: d${index}, address: "127.1.2.3:${index + 1}", groups: [fleet]}\n`,
  );
  writeFileSync(join(home, 'config/devsh/devices.yaml'), `devices:\n${lines.join('')}`, {
    mode: 0o600,
  });
  const read = ['d0', 'd1'].map((name) => ({
    ...{ name, session: {}, address: '127.1.2.3:1', pin: 'AB:CD', redact: (text) => text },
    ...{ resource: 'user', keyField: 'username', idFields: [], moving: [] },
    records: Array.from({ length: USERS }, (_, user) => record(user)),
  }));
  const files = new HistoryFiles(folder);
  const keep = async (from, hasChanged) => {
    // A process of its own, as with a list every six hours.
    const writer = new HistoryWriter(files);
    for (const device of read.filter(hasChanged)) {
      const [first, ...rest] = device.records;
      device.records = [...rest, { ...first, lang: `x${from}` }];
    }
    const problems = { onError: fail, onTooLarge: fail, onSetBack: () => undefined };
    const observed = read.map((device) => ({ ...device, from, to: from + 1000 }));
    await writer.write(observed, { days: 3650, megabytes: 1000 }, problems);
  };
  const end = Date.now();
  const share = (bytes / devices) * read.length;
  let at = end - 1000 * EVERY_MS;
  for (; sizeOf(folder) < share; at += EVERY_MS) await keep(at, () => true);
  for (let left = A_DAY; left > 0; left -= 1) {
    await keep(end - left * (EVERY_MS - 60_000), ({ name }) => name === 'd1');
  }
  for (let index = read.length; index < devices; index += 1) {
    copyFileSync(files.path(index % 100 === 1 ? 'd1' : 'd0'), files.path(`d${index}`));
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
