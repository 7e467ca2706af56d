import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SettingsError, UsageError } from '../../src/errors.ts';
import { InventoryDocument } from '../../src/fleet/inventory-edit.ts';
import { parseInventory } from '../../src/fleet/inventory-text.ts';
import type { InventoryDevice } from '../../src/fleet/inventory.ts';
import { rounds } from '../rounds.ts';

const TEXT = `# the fleet of Berlin

devices:
  # first floor
  - name: fw1 # the old one
    address: 10.0.0.5
    groups: [berlin, core]

  # second floor
  - name: "1.0"
    address: 10.0.0.6 # moves in March
    user: 'admin'

groups:
  berlin:
    user: admin # everywhere

# the end
`;

function edited(text: string, change: (document: InventoryDocument) => void): string {
  const document = new InventoryDocument(text, 'devices.yaml');
  change(document);
  return document.edited();
}

function addDevice(text: string, device: InventoryDevice): string {
  return edited(text, (document) => document.addDevice(device));
}

function removeDevice(text: string, name: string): string {
  return edited(text, (document) => document.removeDevice(name));
}

function setProfile(text: string, name: string, profile: string): string {
  return edited(text, (document) => document.setProfile(name, profile));
}

function addToGroups(text: string, name: string, groups: readonly string[]): string {
  return edited(text, (document) => document.addToGroups(name, groups));
}

test('adds a device at the end of the list and changes nothing else', () => {
  const edited = addDevice(TEXT, {
    name: 'fw3',
    address: '[fe80::1]:8443',
    groups: ['berlin', '1.10'],
    user: 'root',
    insecure: true,
    readOnly: false,
  });
  expect(edited).toBe(
    TEXT.replace(
      "    user: 'admin'\n",
      `    user: 'admin'
  - name: fw3
    address: "[fe80::1]:8443"
    groups: [berlin, 1.10]
    user: root
    insecure: true
    read_only: false
`,
    ),
  );
  expect(parseInventory(edited, 'f').devices.at(-1)).toMatchObject({ groups: ['berlin', '1.10'] });
});

test('removes a device and keeps the comments above it', () => {
  expect(removeDevice(TEXT, 'FW1')).toBe(TEXT.replace(/ {2}- name: fw1[^]*?\n\n/, '\n'));
  const none = removeDevice(removeDevice(TEXT, 'fw1'), '1.0');
  for (const comment of [
    '# the fleet',
    '# first floor',
    '# second floor',
    '# everywhere',
    '# the end',
  ]) {
    expect(none).toContain(comment);
  }
  expect(parseInventory(none, 'f').devices).toEqual([]);
});

test('starts a file that explains itself', () => {
  const text = addDevice('', { name: 'fw1', address: '10.0.0.5', groups: [] });
  expect(text)
    .toBe(`# Devices that devsh knows by name. Edit this file as you like, or use "devsh device add" and
# "devsh device remove", which keep your comments.

devices:
  - name: fw1
    address: 10.0.0.5
`);
});

test.each([
  'devices: []\n',
  'devices:\n',
  'groups:\n  a:\n    user: x\n',
  '# mine\n',
  'devices:\n- name: a\n  address: 10.0.0.1\n',
  'devices: [ { name: a, address: 10.0.0.1 } ]\n',
  'devices:\r\n  - name: a\r\n    address: 10.0.0.1\r\n',
])('adds to %j and keeps its style', (text) => {
  const before = parseInventory(text, 'f').devices;
  const edited = addDevice(text, { name: 'fw9', address: '10.0.0.9', groups: [] });
  expect(parseInventory(edited, 'f').devices).toEqual([
    ...before,
    { name: 'fw9', address: '10.0.0.9', groups: [] },
  ]);
  expect(removeDevice(edited, 'fw9').includes('\r\n')).toBe(text.includes('\r\n'));
  if (before.length > 0) expect(removeDevice(edited, 'fw9')).toBe(text);
});

test('refuses a name or an address that is taken, and a name that is no name', () => {
  const add = (name: string, address: string) => () =>
    addDevice(TEXT, { name, address, groups: [] });
  expect(add('FW1', '10.0.0.9')).toThrow('there is already a device "FW1" in devices.yaml');
  expect(add('x', '10.0.0.5:443')).toThrow('10.0.0.5:443 is already in devices.yaml, as "fw1"');
  expect(add('a b', '10.0.0.9')).toThrow(UsageError);
  expect(add('x', '10.0.0.900')).toThrow(UsageError);
});

test('an edit that nobody could read again is refused, whoever makes it', () => {
  expect(() => addToGroups(TEXT, 'fw1', ['@muc'])).toThrow(
    'groups must be letters, digits, "_", "-" and ".", and not start with "-" or "."',
  );
  const anchored =
    'devices:\n  - {name: a, address: &x h1, user: u}\n  - {name: b, address: h2, user: *x}\n';
  expect(() => removeDevice(anchored, 'a')).toThrow();
});

test('suggests a device when there is none of that name', () => {
  expect(() => removeDevice(TEXT, 'wf1')).toThrow(
    expect.objectContaining({ message: 'no device "wf1" in devices.yaml', suggestions: ['fw1'] }),
  );
});

test('refuses a text that is no inventory', () => {
  expect(() => removeDevice('devices: {', 'fw1')).toThrow(SettingsError);
  expect(() => addDevice('devices: {', { name: 'a', address: 'x', groups: [] })).toThrow(
    SettingsError,
  );
});

const fields = fc.record(
  {
    groups: fc.uniqueArray(fc.constantFrom('berlin', 'core', '1.0', 'yes'), { maxLength: 3 }),
    user: fc.string({ minLength: 1, unit: 'grapheme' }).filter((user) => !/\p{Cc}/u.test(user)),
    insecure: fc.boolean(),
    readOnly: fc.boolean(),
  },
  { requiredKeys: ['groups'] },
);
const device = fc.record({ fields, comment: fc.stringMatching(/^[a-z ]{1,20}$/) });

test('adding and removing in any order keeps all other devices and all comments', () => {
  fc.assert(
    fc.property(
      fc.array(device, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(9), { maxLength: 6 }),
      (drawn, removals) => {
        let text = drawn
          .map(
            ({ comment, fields: { groups } }, index) =>
              `  # c${index} ${comment}\n  - name: d${index} # t${index}\n    address: 10.0.0.${index}\n    groups: [${groups.join(', ')}]\n`,
          )
          .reduce((sum, part) => sum + part, 'devices:\n');
        let expected = [...parseInventory(text, 'f').devices];
        for (const [index, { fields }] of drawn.entries()) {
          const added = { name: `n${index}`, address: `10.1.0.${index}`, ...fields };
          text = addDevice(text, added);
          expected.push(added);
        }
        for (const index of removals) {
          const target = expected[index];
          if (!target) continue;
          text = removeDevice(text, target.name);
          expected = expected.filter((other) => other !== target);
          expect(parseInventory(text, 'f').devices).toEqual(expected);
        }
        for (const index of drawn.keys()) {
          expect(text).toContain(`# c${index} `);
          const isThere = expected.some(({ name }) => name === `d${index}`);
          expect(text.includes(`# t${index}`)).toBe(isThere);
        }
      },
    ),
    { numRuns: rounds(100) },
  );
});

test.each([
  [{ kind: 'proxy', proxy: 'http://proxy:3128' }, 'proxy: http://proxy:3128'],
  [{ kind: 'jump', jump: 'admin@bastion' }, 'jump: admin@bastion'],
  [{ kind: 'direct' }, 'proxy: none'],
] as const)('the way %j is written as "%s"', (route, line) => {
  const text = addDevice('', { name: 'fw1', address: '10.0.0.5', groups: [], route });
  expect(text).toContain(`    ${line}\n`);
  expect(parseInventory(text, 'devices.yaml').devices[0]?.route).toEqual(route);
});

test('a profile that other devices share by an anchor is not changed', () => {
  const shared =
    'devices:\n' +
    '  - {name: fw1, address: 10.0.0.1, profile: &own drf}\n' +
    '  - {name: fw2, address: 10.0.0.2, profile: *own}\n';
  expect(() => setProfile(shared, 'fw1', 'form-action')).toThrow(
    'profile is an anchor (&own) that other entries use (*own): edit the inventory file itself',
  );
  expect(setProfile(shared, 'fw2', 'form-action')).toBe(shared.replace('*own', 'form-action'));
  const alone = shared.replace('*own', 'drf');
  expect(setProfile(alone, 'fw1', 'form-action')).toBe(alone.replace('drf', 'form-action'));
});

test('a device that is put into a group keeps the groups that it only inherits out of its own', () => {
  const text =
    'groups:\n  eu:\n    children: [berlin]\ndevices:\n  - name: fw1\n    address: 10.0.0.5\n    groups: [berlin]\n';
  expect(addToGroups(text, 'fw1', ['rack'])).toContain('groups: [berlin, rack]');
  expect(addToGroups(text, 'FW1', ['berlin'])).toContain('groups: [berlin]\n');
});
