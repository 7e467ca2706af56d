// Many devices: how soon all are read or written, compared with scripts and other tools.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFleet } from './fleet.js';
import { conversation } from './conversation.js';
import { has, run } from './rounds.js';

const RIVALS = join(import.meta.dirname, 'rivals');
const LATENCIES_MS = [0, 20];
/** The devices for programs that start a process per device. */
const FEWER = 100;

/** The Python that has aiohttp: another one may hide Debian's. */
const python = ['python3', '/usr/bin/python3'].find((one) => has(one, '-c', 'import aiohttp'));

export async function fleetRows(bench) {
  const { report } = bench;
  for (const latencyMs of LATENCIES_MS) {
    await report.attempt(`lists, ${latencyMs} ms away`, () => listRows(bench, latencyMs));
  }
  await report.attempt('lists by other tools', () => toolRows(bench));
  await report.attempt('second list', () => againRow(bench));
  await report.attempt('history', () => historyRow(bench));
  for (const devices of new Set([FEWER, bench.devices])) {
    await report.attempt('add', () => addRows({ ...bench, devices }));
  }
}

/** A fleet, and its addresses in the formats of the rivals. */
async function fleetWithFiles(bench, options) {
  const fleet = await startFleet(bench, options);
  const addresses = join(bench.folder, 'addresses');
  const curlConfig = join(bench.folder, 'curl');
  const urls = fleet.addresses.map((one) => `https://${one}/api/user/`);
  const entries = urls.map((url) => `url = "${url}"\noutput = "/dev/null"\n`);
  writeFileSync(addresses, `${fleet.addresses.join('\n')}\n`);
  writeFileSync(curlConfig, `insecure\nsilent\nuser = "admin:admin-secret"\n${entries.join('')}`);
  return { ...fleet, addresses, curlConfig, urls };
}

const list = ({ command }, { env }) => run([...command, 'user', 'list', '--on', '@fleet'], { env });

async function listRows(bench, latencyMs) {
  const { report, devices } = bench;
  const name = `list of ${devices} devices, ${latencyMs} ms away`;
  const firstName = `first answer of ${devices} devices, ${latencyMs} ms away`;
  if (!report.wants(name, firstName)) return;
  const fleet = await fleetWithFiles(bench, { devices, latencyMs });
  const env = { ADDRESSES: fleet.addresses };
  const script = (file, ...args) => [process.execPath, join(RIVALS, file), ...args];
  const rivals = [
    ['undici, 64 at a time', 1.25, script('plain-undici.js', 'list', '64')],
    ['bare TLS, 64 at a time', undefined, script('bare-tls.js')],
    [
      'curl -Z',
      undefined,
      has('curl') && ['curl', '-Z', '--parallel-max', '300', '-K', fleet.curlConfig],
    ],
    ['aiohttp, 100 at a time', undefined, python && [python, join(RIVALS, 'list_aiohttp.py')]],
  ];
  try {
    for (const [against, goal, command] of rivals) {
      if (!command) {
        report.note(`${against}: not installed, "${name}" is left out`);
        continue;
      }
      await report.compare(name, {
        ...{ kind: 'ratio', goal, against, rounds: 5 },
        own: (build) => list(build, fleet),
        other: () => run(command, { env }),
      });
    }
    await firstAnswerRow(firstName, { report, fleet });
  } finally {
    fleet.close();
  }
}

/** The delay of the first record compared with one device. */
async function firstAnswerRow(name, { report, fleet }) {
  const first = async ({ command }, selector) => {
    let firstMs;
    const line = ['user', 'list', '--on', selector, '--format', 'jsonl'];
    await run([...command, ...line], {
      env: fleet.env,
      onOutput: (ms) => (firstMs ??= ms),
    });
    return firstMs;
  };
  await report.measure(name, {
    kind: 'over',
    goal: 150,
    own: async (build) => (await first(build, '@fleet')) - (await first(build, 'd0')),
    against: 'the first answer of one device',
    rounds: 5,
  });
}

/** What it costs to keep what a list shows, if nothing has changed; to the end of the process. */
async function historyRow(bench) {
  const { report, devices } = bench;
  const name = `list of ${devices} devices, nothing changed, with history`;
  if (!report.wants(name)) return;
  const fleet = await startFleet(bench, { devices });
  const settings = join(fleet.env.XDG_CONFIG_HOME, 'devsh', 'settings.json');
  const listWith = (build, historyDays) => {
    writeFileSync(settings, JSON.stringify({ historyDays }));
    return list(build, fleet);
  };
  try {
    await listWith(bench.built, 90);
    await report.compare(name, {
      kind: 'ratio',
      goal: 1.05,
      against: 'the same without history',
      own: (build) => listWith(build, 90),
      other: () => listWith(bench.built, 0),
      rounds: 9,
    });
  } finally {
    fleet.close();
  }
}

/** Tools that start processes per device. */
async function toolRows(bench) {
  const { report } = bench;
  const name = `list of ${FEWER} devices`;
  if (!report.wants(name)) return;
  const fleet = await fleetWithFiles(bench, { devices: FEWER });
  const own = (build) => list(build, fleet);
  try {
    if (has('ansible-playbook')) {
      await report.compare(name, {
        kind: 'faster',
        goal: 70,
        against: 'Ansible uri, 50 forks',
        own,
        other: () => run(ansible(bench, fleet), { env: { ANSIBLE_LOCALHOST_WARNING: 'False' } }),
        rounds: 2,
      });
    } else report.note(`Ansible is not installed: its row is left out`);
    if (has('parallel') && has('curl')) {
      const curl = 'curl -sku admin:admin-secret https://{}/api/user/';
      const parallel = ['parallel', '--will-cite', '-j', '64', '-a', fleet.addresses, curl];
      await report.compare(name, {
        kind: 'faster',
        against: 'GNU parallel with curl, 64 jobs',
        own,
        other: () => run(parallel),
        rounds: 5,
      });
    } else report.note('GNU parallel or curl is not installed: its row is left out');
  } finally {
    fleet.close();
  }
}

function ansible({ folder }, { urls }) {
  const inventory = join(folder, 'inventory.ini');
  const hosts = urls.map((url, index) => `d${index} ansible_connection=local url=${url}\n`);
  writeFileSync(inventory, hosts.join(''));
  return ['ansible-playbook', '-f', '50', '-i', inventory, join(RIVALS, 'list-ansible.yaml')];
}

/** The same line again while the connections are still open. */
async function againRow(bench) {
  const { report } = bench;
  const name = `second list of ${FEWER} devices at one prompt`;
  if (!report.wants(name)) return;
  const fleet = await startFleet(bench, { devices: FEWER });
  const line = 'user list --on @fleet --json';
  try {
    await report.measure(name, {
      kind: 'ratio',
      goal: 0.25,
      own: async ({ command }) => {
        const prompt = conversation([...command, '--plain'], fleet.env);
        const [first, second] = [await prompt.type(line), await prompt.type(line)];
        await prompt.close();
        return second / first;
      },
      against: 'the first',
      rounds: 5,
    });
  } finally {
    fleet.close();
  }
}

async function addRows(bench) {
  const { report, devices } = bench;
  const name = `add a user on ${devices} devices, read back`;
  const widths = [
    [name, undefined, []],
    [`${name}, --concurrency 64`, 2.2, ['--concurrency', '64']],
  ];
  if (!report.wants(...widths.map(([row]) => row))) return;
  const fleet = await fleetWithFiles(bench, { devices });
  let added = 0;
  const username = (who) => `${who}${(added += 1)}`;
  const plain = [process.execPath, join(RIVALS, 'plain-undici.js'), 'add', '64'];
  try {
    for (const [row, goal, options] of widths) {
      await report.compare(row, {
        ...{ kind: 'ratio', goal, against: 'undici: list, POST, list, 64 at a time' },
        rounds: devices > FEWER ? 3 : 5,
        own: ({ command }) => {
          const fields = [`username=${username('own')}`, 'first_name=B', 'lastname=C', 'lang=de'];
          const line = ['user', 'add', ...fields, '--on', '@fleet', '--yes', ...options];
          return run([...command, ...line], fleet);
        },
        other: () =>
          run(plain, {
            env: { ADDRESSES: fleet.addresses, USERNAME_TO_ADD: username('other') },
          }),
      });
    }
  } finally {
    fleet.close();
  }
}
