import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InventoryDocument } from '../../../src/fleet/inventory-edit.ts';
import { parseDevicesYaml } from '../../../src/fleet/import/device-list.ts';
import type { Findings, FoundDevice } from '../../../src/fleet/import/source.ts';
import { planImport, type ImportPlan } from '../../../src/fleet/import/import-plan.ts';
import { parseInventory, readInventory } from '../../../src/fleet/inventory-text.ts';
import { rounds } from '../../rounds.ts';
import { textOf } from '../../../src/output/sentences.ts';

const FILE = '/etc/devsh/devices.yaml';
const HELD = `# the fleet
devices:
  # first floor
  - name: fw1 # old
    address: 10.0.0.5 # moves
    groups: [berlin] # so far
    jump: gate
  - {name: fw2, address: 10.0.0.6}
groups:
  berlin:
    user: admin # everywhere
    ca: berlin.pem
`;

function found(...devices: Partial<FoundDevice>[]): Findings {
  const defaults = { name: 'x', address: '10.9.9.9', groups: [], settings: {} };
  return {
    devices: devices.map((device, index) => ({ ...defaults, place: `f:${index + 1}`, ...device })),
    groups: [],
    remarks: [],
  };
}

function plan(findings: Findings, text = HELD): ImportPlan {
  return planImport(findings, { ...readInventory(text, FILE), folder: '/etc/devsh' });
}

function carriedOut(findings: Findings, text = HELD): string {
  const document = new InventoryDocument(text, FILE);
  document.applyImport(plan(findings, text));
  return document.edited();
}

test('adds and changes devices in place, keeps comments, and removes nothing', () => {
  const findings = found(
    { name: 'FW1', address: '10.0.0.7', groups: ['Berlin', 'core'], settings: { proxy: 'p:3128' } },
    { name: 'fw3', address: 'fw3.example', groups: ['core'], settings: { read_only: 'true' } },
  );
  expect(carriedOut(findings)).toBe(`# the fleet
devices:
  # first floor
  - name: fw1 # old
    address: 10.0.0.7 # moves
    groups: [berlin, core] # so far
    proxy: http://p:3128
  - {name: fw2, address: 10.0.0.6}
  - name: fw3
    address: fw3.example
    groups: [core]
    read_only: true
groups:
  berlin:
    user: admin # everywhere
    ca: berlin.pem
`);
  expect(plan(findings, carriedOut(findings))).toMatchObject({
    steps: [],
    groups: [],
    unchanged: ['fw1', 'fw3'],
  });
});

test('an inherited value is no change', () => {
  const settings = { user: 'admin', ca: '/etc/devsh/berlin.pem', jump: 'gate' };
  const same = found({ name: 'fw1', address: '10.0.0.5:443', groups: ['berlin'], settings });
  expect(plan(same)).toMatchObject({ steps: [], unchanged: ['fw1'] });
});

test.each([
  [{ name: '' }, 'invalid', 'the device needs a name'],
  [{ name: 'a b' }, 'invalid', 'its name must be letters'],
  [{ address: '' }, 'invalid', 'the device needs an address'],
  [{ address: '{{ ip }}' }, 'invalid', 'a template'],
  [{ address: 'user@x' }, 'invalid', 'must not contain a user or password'],
  [{ name: '10.0.0.1' }, 'invalid', 'cannot have another address'],
  [{ groups: ['all'] }, 'invalid', '"all" means every device'],
  [{ settings: { jump: '-oProxyCommand=id' } }, 'invalid', 'not a jump host'],
  [{ settings: { user: 'a\u202eb' } }, 'invalid', 'invisible characters'],
  [{ settings: { read_only: 'maybe' } }, 'invalid', 'must be true or false'],
  [{ address: '10.0.0.6' }, 'address conflict', '"fw2" already has it'],
] as const)('%j is left out', (device, reason, problem) => {
  const { steps, refused } = plan(found(device));
  expect(steps).toEqual([]);
  expect(refused).toMatchObject([{ reason, place: 'f:1' }]);
  expect(textOf(refused[0]?.problem ?? '')).toContain(problem);
});

test('the first of two devices with one name or address is imported, the second is refused', () => {
  const { steps, refused } = plan(
    found({ name: 'a' }, { name: 'A', address: 'b' }, { name: 'c' }, { name: 'd', address: 'd' }),
  );
  expect(steps).toMatchObject([{ device: { name: 'a' } }, { device: { name: 'd' } }]);
  expect(refused.map(({ place, reason }) => [place, reason])).toEqual([
    ['f:2', 'name conflict'],
    ['f:3', 'address conflict'],
  ]);
});

test('two devices may swap their addresses', () => {
  const swapped = found({ name: 'fw1', address: '10.0.0.6' }, { name: 'fw2', address: '10.0.0.5' });
  expect(plan(swapped).refused).toEqual([]);
  expect(parseInventory(carriedOut(swapped), FILE).find('fw2')?.address).toBe('10.0.0.5');
});

test('a device that must stay where it is keeps others from its address', () => {
  const { steps, refused } = plan(
    found({ name: 'fw1', address: '10.0.0.99' }, { name: 'a', address: '10.0.0.99' }),
  );
  expect(steps).toHaveLength(1);
  expect(refused).toMatchObject([{ name: 'a', reason: 'address conflict' }]);
});

test('groups get children and settings; a group within itself is refused', () => {
  const groups = [{ name: 'germany', children: ['berlin'], settings: { user: 'de' } }];
  const text = carriedOut({ devices: [], groups, remarks: [] });
  expect(parseInventory(text, FILE).find('fw1')?.groups).toEqual(['berlin', 'germany']);
  expect(plan({ devices: [], groups, remarks: [] }, text).groups).toEqual([]);
  const circle = [{ name: 'berlin', children: ['germany'], settings: {} }];
  expect(() => plan({ devices: [], groups: circle, remarks: [] }, text)).toThrow('in itself');
});

const name = fc.stringMatching(/^[a-z_][a-z0-9_.-]{0,8}$/).filter((text) => text !== 'all');
const words = fc
  .string({ minLength: 1, maxLength: 12 })
  .filter((text) => /^[^\p{C}]+$/u.test(text));
const settings = fc.record(
  {
    user: words,
    ca: fc.constantFrom('/x/a.pem', '/y b.pem'),
    read_only: fc.constantFrom('true', 'false'),
    jump: fc.constantFrom('gate', 'ops@gate:22'),
    credential_command: fc.tuple(fc.constantFrom('get', '/bin/get'), words),
  },
  { requiredKeys: [] },
);
const inventory = fc.uniqueArray(
  fc.record({ name, groups: fc.uniqueArray(fc.constantFrom('a', 'b', '1.0')), settings }),
  { maxLength: 8, selector: (device) => device.name },
);

test('an exported inventory is imported without a change', () => {
  fc.assert(
    fc.property(inventory, (drawn) => {
      const devices = drawn.map((device, index) => ({ ...device, address: `10.1.0.${index}` }));
      const findings = {
        ...found(...devices),
        groups: [{ name: 'b', children: ['a'], settings: { user: 'bee' } }],
      };
      const first = carriedOut(findings, '');
      expect(plan(findings, first)).toMatchObject({ steps: [], groups: [], refused: [] });
      const again = carriedOut(parseDevicesYaml(first, FILE), '# kept\n');
      expect(again).toContain('# kept');
      expect(parseInventory(again, FILE)).toEqual(parseInventory(first, FILE));
    }),
    { numRuns: rounds(60) },
  );
});
