import { describe, expect, onTestFinished, test } from 'vitest';
import {
  ENVELOPE_NAMES,
  PROFILE_NAMES,
  type DialectOptions,
} from '../simulator/dialects/dialect.ts';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';
import { ADMIN, know, makeDevsh, trust, type Devsh } from '../main/devsh.ts';

async function start(
  dialect: DialectOptions & { readonly profile: (typeof PROFILE_NAMES)[number] },
): Promise<{ devsh: Devsh; device: SimulatedDevice }> {
  const simulator = await startSimulator({ users: 3, ...dialect });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const devsh = await makeDevsh(ADMIN);
  await know(devsh, [device], dialect);
  await trust(devsh, [device]);
  return { devsh, device };
}

function writes(device: SimulatedDevice): string[] {
  return device.log
    .filter(({ method }) => method !== 'GET' && method !== 'OPTIONS')
    .map(({ method, path }) => `${method} ${path}`);
}

const DIALECTS = PROFILE_NAMES.flatMap((profile) =>
  ENVELOPE_NAMES.map((envelope) => ({ profile, envelope })),
);

test.each(DIALECTS)(
  'one object is shown, changed and undone by $profile with $envelope',
  async ({ profile, envelope }) => {
    const { devsh, device } = await start({ profile, envelope });
    // A form with all fields needs to know how lists are written.
    await devsh('profile set sim1 update.lists=repeated');
    const [before] = device.records('system');
    // Lines have no lists: if all fields have to be sent, the items go back as one text.
    const isJoined = envelope === 'key-value' && !['drf', 'generic-rest'].includes(profile);
    const kept = (record: DeviceRecord = {}): DeviceRecord =>
      isJoined ? { ...record, ntp_servers: ['ntp1.example.net,ntp2.example.net'] } : record;

    const shown = await devsh('system list --on sim1 --json');
    expect(JSON.parse(shown.stdout)).toMatchObject({
      devices: [{ ok: true, records: [{ hostname: 'sim1', location: 'Rack 4' }] }],
    });
    expect((await devsh('system show --on sim1')).stdout).toMatch(/location +Rack 4/i);

    const set = await devsh(['system', 'set', 'location=Rack 5', '--on', 'sim1', '--yes']);
    expect(set.stdout + set.stderr).toContain('✓ system  ');
    expect(set.exitCode).toBe(0);
    expect(device.records('system')).toEqual([{ ...kept(before), location: 'Rack 5' }]);
    expect(writes(device)).toHaveLength(1);

    const undone = await devsh('undo --yes');
    expect(undone.stdout).toContain('✓ system  ');
    expect(device.records('system')).toEqual([kept(before)]);

    const again = await devsh(['system', 'set', 'location=Rack 4', '--on', 'sim1', '--yes']);
    expect(again.stdout).toContain('= system  already so');
    expect(writes(device)).toHaveLength(2);
  },
);

describe('what is sent for one object', () => {
  test.each([
    ['documented', 'POST /api/system/', ['hostname', 'ssh_enabled']],
    ['drf', 'PATCH /api/system/', undefined],
    ['generic-rest', 'PATCH /api/system', undefined],
    ['form-action', 'POST /api/system/', ['action', 'hostname', 'ssh_enabled']],
  ] as const)('follows the profile %s and what the device allows', async (profile, sent, whole) => {
    const { devsh, device } = await start({ profile });
    await devsh(['system', 'set', 'location=Rack 5', '--on', 'sim1', '--yes']);
    expect(writes(device)).toEqual([sent]);
    const body = device.log.findLast(({ method }) => method !== 'GET')?.body ?? '';
    if (whole === undefined) expect(JSON.parse(body)).toEqual({ location: 'Rack 5' });
    else expect([...new URLSearchParams(body).keys()]).toEqual(expect.arrayContaining([...whole]));
  });

  test('is what the device allows, whatever the profile says', async () => {
    const { devsh, device } = await start({ profile: 'drf', quirk: ['no-options'] });
    const line = 'system set location=B --on sim1 --yes --profile documented';
    expect((await devsh(line)).stdout).toContain('✓ system  ');
    expect(writes(device)).toEqual(['PATCH /api/system/']);
  });
});

test('one object is neither added to nor deleted, and has no key', async () => {
  const { devsh, device } = await start({ profile: 'drf' });
  for (const line of ['system add hostname=x', 'system delete', 'system delete sim1']) {
    const { stdout, stderr, exitCode } = await devsh(`${line} --on sim1 --yes`);
    expect(stdout + stderr).toContain('system is one object');
    expect(exitCode).toBe(6);
  }
  const named = await devsh('system set sim1 location=x --on sim1 --yes');
  expect(named.stdout + named.stderr).toContain('change it with "system set field=value"');
  expect(writes(device)).toEqual([]);
});

test('a value that the device does not allow is refused before it is sent', async () => {
  const { devsh, device } = await start({ profile: 'drf' });
  const { stderr, exitCode } = await devsh('system set timezone=Mars --on sim1 --yes');
  expect(stderr).toContain('timezone: not one of UTC');
  expect(exitCode).toBe(2);
  expect(writes(device)).toEqual([]);
});

test('the profile observes, keeps and shows that a resource is one object', async () => {
  const { devsh } = await start({ profile: 'drf' });
  await devsh('system list --on sim1');
  const { stdout } = await devsh('profile sim1 --json');
  const { facts } = JSON.parse(stdout) as { facts: { fact: string }[] };
  expect(facts.find(({ fact }) => fact === 'resources.system.single')).toMatchObject({
    value: true,
    origin: 'observed',
  });
});

test('a list of one record stays a list: its record has a key', async () => {
  const { devsh, device } = await start({ profile: 'drf' });
  for (const record of device.records('interface').slice(1)) {
    await devsh(['interface', 'delete', valueText(record['name']), '--on', 'sim1', '--yes']);
  }
  expect(device.records('interface')).toHaveLength(1);
  const { stderr, exitCode } = await devsh('interface set mtu=1400 --on sim1 --yes');
  expect(stderr).toContain('interface set needs KEY');
  expect(exitCode).toBe(2);
});
