import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  ENVELOPE_NAMES,
  type EnvelopeName,
  PAGING_NAMES,
  type PagingName,
  PROFILE_NAMES,
  type ProfileName,
  type QuirkName,
} from '../simulator/dialects/dialect.ts';
import { ADMIN, know, makeDevsh, startFleet, trust, type Devsh } from '../main/devsh.ts';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { isLong } from '../rounds.ts';

interface Dialect {
  readonly profile: ProfileName;
  readonly envelope: EnvelopeName;
  readonly paging: PagingName;
  readonly quirk?: readonly QuirkName[];
}

const USERS = 12;
const PAGE_SIZE = 5;
/** The requests for a list of 12 to 13 users. */
const PAGES = 3;

/** Envelopes that can report a page. */
const PAGED: readonly EnvelopeName[] = ['results', 'data', 'rows', 'records', 'user'];

/** Every envelope without paging, and every paging in every envelope that can report it. */
const SHAPES = PAGING_NAMES.flatMap((paging) =>
  (paging === 'none' ? ENVELOPE_NAMES : PAGED).map((envelope) => ({ envelope, paging })),
);

/**
 * In `npm test` each shape of a list with one profile, in turn; in `npm run test:long` with all. Each envelope of each
 * profile is in single.test.ts.
 */
const DIALECTS: readonly Dialect[] = PROFILE_NAMES.flatMap((profile, column) =>
  SHAPES.filter((_, row) => isLong || row % PROFILE_NAMES.length === column).map((shape) => ({
    profile,
    ...shape,
  })),
);

async function start(
  dialect: Dialect,
): Promise<{ devsh: Devsh & { folder: string }; device: SimulatedDevice }> {
  const simulator = await startSimulator({ users: USERS, pageSize: PAGE_SIZE, ...dialect });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const devsh = await makeDevsh(ADMIN);
  await know(devsh, [device], dialect);
  await trust(devsh, [device]);
  return { devsh, device };
}

/** The stored user; undefined if there is none. */
function storedUser(
  device: SimulatedDevice,
  username: string,
): Record<string, unknown> | undefined {
  return device.users.find((user) => user.username === username);
}

/** A user as the device's list shows it. */
function shown(device: SimulatedDevice, username: string): DeviceRecord | undefined {
  return device.records('user').find((user) => user['username'] === username);
}

function requests(device: SimulatedDevice, from: number, isWrite: boolean): string[] {
  return device.log
    .slice(from)
    .filter(({ method }) => (method === 'GET') !== isWrite && method !== 'OPTIONS')
    .map(({ method, path }) => `${method} ${path}`);
}

/** list, add, set, delete, undo: checks the output, the records and the requests. */
async function roundTrip({ profile, paging, ...dialect }: Dialect): Promise<void> {
  const { devsh, device } = await start({ profile, paging, ...dialect });
  // A response that names a page on a device with offsets costs one request to find out.
  const isMisleading = paging === 'offset' && dialect.envelope === 'rows';
  const pages = (paging === 'none' ? 1 : PAGES) + (isMisleading ? 1 : 0);
  let at = device.log.length;
  const run = async (line: string): Promise<string> => {
    at = device.log.length;
    const { stdout, stderr, exitCode } = await devsh(line);
    expect({ line, exitCode, text: exitCode === 0 ? '' : stdout + stderr }).toEqual({
      line,
      exitCode: 0,
      text: '',
    });
    return stdout;
  };

  const listed = JSON.parse(await run('user list --on sim1 --json')) as unknown;
  expect(JSON.stringify(listed)).toContain(device.users.at(-1)?.username);
  expect(requests(device, at, false)).toHaveLength(pages);

  const add = 'user add username=zoe first_name=Zoe lastname=Zimmer lang=de';
  expect(await run(`${add} --on sim1 --yes`)).toContain('✓ zoe  added');
  expect(requests(device, at, true)).toHaveLength(1);
  expect(storedUser(device, 'zoe')).toMatchObject({ first_name: 'Zoe', lang: 'de' });
  expect(device.users).toHaveLength(USERS + 1);
  const whole = storedUser(device, 'zoe');

  expect(await run('user set zoe lang=fr --on sim1 --yes')).toContain('✓ zoe  lang ');
  expect(requests(device, at, true)).toHaveLength(1);
  const { lang, ...others } = storedUser(device, 'zoe') ?? {};
  expect(lang).toBe('fr');
  expect(whole).toMatchObject(withoutTimes(others));
  const shownBefore = shown(device, 'zoe');

  expect(await run('user delete zoe --on sim1 --yes')).toContain('✓ zoe  deleted');
  expect(requests(device, at, true)).toHaveLength(1);
  expect(device.users).toHaveLength(USERS);

  // The account comes back without its password, and with another id if the device assigns it.
  const undone = await devsh('undo --yes --allow loss');
  const after = shown(device, 'zoe');
  const lost = ['uuid', 'id', 'modified'].filter(
    (field) => valueText(shownBefore?.[field]) !== valueText(after?.[field]),
  );
  expect(undone.stdout).toContain('✓ zoe  added');
  for (const field of lost) {
    expect(undone.stdout).toMatch(new RegExp(`new from the device: .*\\b${field}\\b`));
  }
  expect(undone.exitCode).toBe(0);
  expect(storedUser(device, 'zoe')).toMatchObject({ first_name: 'Zoe', lang: 'fr' });
}

function withoutTimes(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([field]) => field !== 'modified'));
}

describe.each(PROFILE_NAMES)('a device that speaks %s', (profile) => {
  test.each(DIALECTS.filter((dialect) => dialect.profile === profile))(
    'is read, written to and undone with $envelope and paging $paging',
    roundTrip,
  );
});

test.each<Dialect>([
  { profile: 'drf', envelope: 'results', paging: 'next', quirk: ['http-next', 'strings'] },
  { profile: 'drf', envelope: 'array', paging: 'none', quirk: ['html-errors', 'no-options'] },
  { profile: 'generic-rest', envelope: 'data', paging: 'page', quirk: ['strings', 'trims'] },
  { profile: 'generic-rest', envelope: 'records', paging: 'none', quirk: ['positional-ids'] },
  { profile: 'form-action', envelope: 'keyed', paging: 'none', quirk: ['strings', 'trims'] },
  { profile: 'documented', envelope: 'user', paging: 'offset', quirk: ['status-200-errors'] },
])('the habits $quirk of $profile are survived', roundTrip);

describe.each(PROFILE_NAMES)('what a device that speaks %s refuses', (profile) => {
  // A device that reports its choices never gets a wrong one.
  const quirks: readonly (readonly QuirkName[])[] =
    profile === 'form-action'
      ? [['no-options']]
      : [['no-options'], ['no-options', 'status-200-errors']];
  test.each(quirks.map((quirk) => ({ quirk })))(
    'fails with the text for its field, with $quirk',
    async ({ quirk }) => {
      const { devsh, device } = await start({ profile, envelope: 'array', paging: 'none', quirk });
      const add = 'user add username=zoe first_name=Zoe lastname=Zimmer lang=klingon';
      const { stdout, exitCode } = await devsh(`${add} --on sim1 --yes`);
      expect(stdout).toMatch(/failed - .*lang: .*klingon/);
      expect(exitCode).toBe(1);
      expect(device.users).toHaveLength(USERS);
      const name = device.users.at(-1)?.username ?? '';
      const set = await devsh(`user set ${name} lang=klingon --on sim1 --yes`);
      expect(set.stdout).toMatch(/failed - .*lang: .*klingon/);
    },
  );
});

describe('a boolean that a form leaves out would be stored as false', () => {
  const forms = {
    PUT: 'update:\n  method: PUT\n  encoding: form\n  record: whole\n',
    PATCH: 'update:\n  method: PATCH\n  encoding: form\n  record: changes\n',
  };
  test.each(Object.entries(forms))('so it is sent along, with %s', async (method, update) => {
    const { devsh, device } = await start({ profile: 'drf', envelope: 'array', paging: 'none' });
    const folder = join(devsh.folder, 'config', 'devsh', 'profiles');
    await mkdir(folder, { recursive: true });
    const facts = `extends: drf\ncreate:\n  encoding: form\n${update}`;
    await writeFile(join(folder, 'forms.yaml'), facts);
    const add = 'user add username=zoe first_name=Zoe lastname=Zimmer lang=de is_active=true';
    const added = await devsh(`${add} --on sim1 --yes --profile forms`);
    expect(added.stdout).toContain('✓ zoe  added');
    expect(shown(device, 'zoe')).toMatchObject({ is_active: true });
    const set = await devsh('user set zoe lang=fr --on sim1 --yes --profile forms');
    expect(set.stdout).toContain('✓ zoe  lang ');
    expect(shown(device, 'zoe')).toMatchObject({ is_active: true, lang: 'fr' });
    expect(device.log.filter((request) => request.method === method)).toHaveLength(1);
  });
});

test('a new record in JSON has the numbers and booleans of the device', async () => {
  const { devsh, device } = await start({
    profile: 'generic-rest',
    envelope: 'array',
    paging: 'none',
  });
  const add = await devsh('interface add name=eth9 mtu=1400 enabled=true --on sim1 --yes');
  expect(add.stdout).toContain('✓ interface eth9  added');
  const write = device.log.findLast(({ method }) => method === 'POST');
  expect(JSON.parse(write?.body ?? '')).toMatchObject({ name: 'eth9', mtu: 1400, enabled: true });
});

test('another resource has the same verbs, and numbers stay numbers', async () => {
  for (const profile of ['drf', 'generic-rest', 'form-action'] as const) {
    const { devsh, device } = await start({ profile, envelope: 'array', paging: 'none' });
    const [first] = device.records('interface');
    const { mtu } = first ?? {};
    const name = valueText(first?.['name']);
    const set = await devsh(`interface set ${name} mtu=1400 --on sim1 --yes`);
    expect(set.stdout).toContain(`✓ interface ${name}  `);
    expect(device.records('interface')[0]).toEqual({ ...first, mtu: 1400 });
    const undone = await devsh('undo --yes');
    expect(undone.exitCode).toBe(0);
    expect(device.records('interface')[0]?.['mtu']).toBe(mtu);
  }
});

test('after learn, the profile shows the paging of a list as observed', async () => {
  const { devsh } = await start({ profile: 'drf', envelope: 'data', paging: 'page' });
  expect((await devsh('learn sim1')).exitCode).toBe(0);
  const { stdout } = await devsh('profile sim1 --json');
  const { facts } = JSON.parse(stdout) as { facts: { fact: string }[] };
  const fact = (name: string): unknown => facts.find((known) => known.fact === name);
  expect(fact('resources.user.list.paging')).toMatchObject({
    value: 'page current rowCount',
    origin: 'observed',
  });
  expect(fact('list.paging')).toMatchObject({ value: 'auto', origin: 'assumed' });
});

test('after learn, a DRF device is changed by PATCH with what changes, whatever the profile', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', users: 6 });
  expect((await devsh('learn sim1')).exitCode).toBe(0);
  const name = device(1).users.at(-1)?.username ?? '';
  const { exitCode } = await devsh(`user set ${name} lang=ja --on sim1 --yes`);
  expect(exitCode).toBe(0);
  const write = device(1).log.findLast(({ method }) => method === 'PATCH');
  expect(JSON.parse(write?.body ?? '')).toEqual({ lang: 'ja' });
});
