// npm run bench: how quick devsh is, each figure beside a floor or a rival in the same rounds.
// Loopback only. --json prints data, --rounds N overrules how often, --only TEXT picks rows by their names.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startFleet } from './fleet.js';
import { firstPrompt } from './first-prompt.js';
import { inTurn, median, ratioOf, run } from './rounds.js';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    devices: { type: 'string', default: '1000' },
  },
});
const root = join(import.meta.dirname, '../..');
// Below node_modules, where it finds its packages.
const built = join(root, 'node_modules/.cache/devsh-bench');
execFileSync(process.execPath, ['build.js', built], { cwd: root, stdio: 'inherit' });
const cli = join(built, 'cli.js');
const folder = mkdtempSync(join(tmpdir(), 'devsh-bench-'));

const node = ['node', '-e', '0'];
const rival = join(import.meta.dirname, 'plain-undici.js');
const rows = [];
const notes = [];

function has(program) {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `over`: what is compared is the time on top of the other; `ratio`: the one by the other. */
async function row(name, { goal, kind, own, other, against, rounds }) {
  if (!name.includes(values.only)) return;
  const [ours, theirs] = await inTurn([own, other], Number(values.rounds ?? rounds));
  const ratio = ratioOf(ours, theirs);
  const over = median(ours.map((figure, round) => figure - theirs[round]));
  rows.push({
    name,
    goal,
    against,
    kind,
    ownMs: median(ours),
    otherMs: median(theirs),
    ratio,
    over,
  });
  if (!values.json) console.log(textOf(rows.at(-1)));
}

function textOf({ name, goal, against, kind, ownMs, otherMs, ratio, over }) {
  const figure = kind === 'over' ? `+${over.toFixed(0)} ms` : `${ratio.toFixed(2)}x`;
  // On a machine that is slow or busy, only how it compares with node itself says something.
  const more = kind === 'over' ? ` (${ratio.toFixed(2)}x)` : '';
  const times = `${ownMs.toFixed(0)} ms beside ${otherMs.toFixed(0)} ms${more}`;
  return [name.padEnd(46), figure.padStart(9), goal.padStart(9), ` ${against}: ${times}`].join(' ');
}

async function startRows() {
  const fleet = await startFleet(cli, { devices: 1 });
  const [address] = fleet.addresses;
  writeFileSync(join(folder, 'one'), address);
  const { env } = fleet;
  const list = () => run([process.execPath, cli, 'user', 'list', '--on', address], { env });
  const overNode = { kind: 'over', against: 'node -e 0', other: () => run(node), rounds: 11 };
  try {
    const version = () => run([process.execPath, cli, '--version']);
    await row('devsh --version', { ...overNode, goal: '+10 ms', own: version });
    await row('list of one device', { ...overNode, goal: '+55 ms', own: list });
    await row('list of one device, by a plain script', {
      goal: '0.45x',
      kind: 'ratio',
      against: 'undici as documented',
      own: list,
      other: () =>
        run([process.execPath, rival, 'list', '1'], { env: { ADDRESSES: join(folder, 'one') } }),
      rounds: 11,
    });
    const prompt = () => firstPrompt(cli, env);
    await row('first prompt of the full screen', { ...overNode, goal: '+90 ms', own: prompt });
  } finally {
    fleet.close();
  }
}

async function fleetRows(latencyMs, goal) {
  const devices = Number(values.devices);
  const fleet = await startFleet(cli, { devices, latencyMs });
  const { env } = fleet;
  const addresses = join(folder, 'all');
  writeFileSync(addresses, fleet.addresses.join('\n'));
  const name = `list of ${devices} devices, ${latencyMs} ms away`;
  const own = () => run([process.execPath, cli, 'user', 'list', '--on', '@fleet'], { env });
  const script = (what, width, more = {}) =>
    run([process.execPath, rival, what, width], { env: { ADDRESSES: addresses, ...more } });
  try {
    const shared = { kind: 'ratio', own, rounds: 5 };
    const plain = { against: 'undici, 64 at a time', other: () => script('list', '64') };
    await row(name, { ...shared, ...plain, goal: goal.undici });
    if (has('curl')) {
      const config = join(folder, 'curl');
      const urls = fleet.addresses.map(
        (one) => `url = "https://${one}/api/user/"\noutput = "/dev/null"\n`,
      );
      writeFileSync(config, `insecure\nsilent\nuser = "admin:admin-secret"\n${urls.join('')}`);
      const other = () => run(['curl', '-Z', '--parallel-max', '300', '-K', config]);
      await row(name, { ...shared, against: 'curl -Z', other, goal: goal.curl });
    } else {
      notes.push('curl is not installed: its row is left out');
    }
    if (latencyMs > 0) return;
    let added = 0;
    const add = () => {
      added += 1;
      const fields = [`username=own${added}`, 'first_name=B', 'lastname=C', 'lang=de'];
      const options = ['--on', '@fleet', '--yes', '--concurrency', '128'];
      return run([process.execPath, cli, 'user', 'add', ...fields, ...options], { env });
    };
    await row(`add a user on ${devices} devices, read back`, {
      goal: '3x',
      kind: 'ratio',
      against: 'undici, one POST each',
      own: add,
      other: () => script('add', '64', { USERNAME_TO_ADD: `other${(added += 1)}` }),
      rounds: 5,
    });
  } finally {
    fleet.close();
  }
}

/** What one more device costs, as there are more of them. */
async function growthRow() {
  if (!'growth'.includes(values.only)) return;
  const perDevice = [];
  for (const devices of [10, 100, 1000]) {
    const fleet = await startFleet(cli, { devices });
    const own = () =>
      run([process.execPath, cli, 'user', 'list', '--on', '@fleet'], { env: fleet.env });
    const [ours, theirs] = await inTurn([own, () => run(node)], Number(values.rounds ?? 3));
    fleet.close();
    perDevice.push({
      devices,
      msPerDevice: median(ours.map((ms, at) => ms - theirs[at])) / devices,
    });
  }
  const texts = perDevice.map(
    ({ devices, msPerDevice }) => `${devices}: ${msPerDevice.toFixed(2)} ms`,
  );
  notes.push(`time for each device of a list, as the fleet grows: ${texts.join(', ')}`);
}

try {
  await startRows();
  await fleetRows(0, { undici: '0.85x', curl: '1.7x' });
  await fleetRows(20, { undici: '0.85x', curl: '1.7x' });
  await growthRow();
  if (values.json) console.log(JSON.stringify({ rows, notes }, null, 2));
  else for (const note of notes) console.log(note);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
