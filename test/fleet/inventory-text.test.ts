import { expect, test } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { parseInventory, readInventory } from '../../src/fleet/inventory-text.ts';

const FILE = '/etc/devsh/devices.yaml';
const parse = (text: string) => parseInventory(text, FILE);

test('reads devices with the settings inherited from their groups', () => {
  const inventory = parse(`
devices:
  - name: fw1
    address: 10.0.0.5
    groups: [berlin, core]
    read_only: true
  - name: fw2
    address: fw2.example.net:8443
    groups: [core, berlin]
    user: root
    insecure: false
groups:
  berlin: { user: admin, ca: certs/berlin.pem, insecure: true }
  core:
    ca: /etc/ssl/core.pem
`);
  expect(inventory.devices).toEqual([
    {
      name: 'fw1',
      address: '10.0.0.5',
      groups: ['berlin', 'core'],
      user: 'admin',
      ca: '/etc/devsh/certs/berlin.pem',
      insecure: true,
      readOnly: true,
    },
    {
      name: 'fw2',
      address: 'fw2.example.net:8443',
      groups: ['core', 'berlin'],
      user: 'root',
      ca: '/etc/ssl/core.pem',
      insecure: false,
    },
  ]);
  expect(inventory.groups()).toEqual(['berlin', 'core']);
  expect(inventory.find('FW2')?.name).toBe('fw2');
  expect(inventory.findByAddress('10.0.0.5:443')?.name).toBe('fw1');
});

test.each(['', '# nothing yet\n', 'devices:\n', 'devices: []\n', 'groups:\n'])(
  'an inventory without devices: %j',
  (text) => {
    expect(parse(text).devices).toEqual([]);
  },
);

test('keeps names as written, also those that YAML would read as numbers or booleans', () => {
  const text = ['1.0', 'no', '007', '0x10', 'null', '1e3']
    .map((name, index) => `- {name: ${name}, address: 10.0.0.${index}, groups: [1.10]}`)
    .join('\n');
  const { devices } = parse(`devices:\n${text}\n`);
  expect(devices.map(({ name }) => name)).toEqual(['1.0', 'no', '007', '0x10', 'null', '1e3']);
  expect(devices[0]?.groups).toEqual(['1.10']);
});

test.each([
  ['devices:\n  - name: a\n    adress: x', '3:5: unknown key "adress", did you mean "address"?'],
  ['device: []', '1:1: unknown key "device", did you mean "devices"?'],
  ['groups: {a: {usr: x}}', '1:14: unknown key "usr", did you mean "user"?'],
  ['groups: {all: {user: x}}', '1:10: group name "all" means every device'],
  ['devices:\n  - name: a', '2:5: the device needs an address'],
  ['devices:\n  - address: 10.0.0.1', '2:5: the device needs a name'],
  ['devices:\n  - name: a b\n    address: x', '2:11: name must be letters'],
  ['devices:\n  - name: a\n    address: 10.0.0.300', '3:14: "10.0.0.300" is not an IPv4 address'],
  ['devices:\n  - {name: 10.0.0.1, address: 10.0.0.2}', 'a device named 10.0.0.1 cannot have'],
  ['devices:\n  - {name: a, address: x, insecure: 1}', '2:37: insecure must be true or false'],
  [
    'devices:\n  - {name: a, address: x, groups: berlin}',
    '2:35: groups must be a list of group names',
  ],
  ['devices: 5', '1:10: devices must be a list of devices'],
  ['- a', '1:1: the file must contain "devices:" and "groups:"'],
  ['devices: [', ':11: '],
  ['a: 1\na: 2', '2:1: Map keys must be unique'],
  [
    'devices:\n  - {name: a, address: x}\n  - {name: A, address: y}',
    '3:12: there is already a device "A" (first in line 2)',
  ],
  [
    'devices:\n  - {name: a, address: x}\n  - {name: b, address: "X:443"}',
    '3:24: there is already a device at x:443 (first in line 2)',
  ],
])('%j is refused with its place', (text, message) => {
  expect(() => parse(text)).toThrow(SettingsError);
  expect(() => parse(text)).toThrow(message);
  expect(() => parse(text)).toThrow(`${FILE}:`);
});

test('aliases that multiply without end are refused', () => {
  const lines = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (let index = 1; index < 9; index += 1) {
    const [own, before] = ['abcdefghij'[index], 'abcdefghij'[index - 1]];
    lines.push(`${own}: &${own} [${Array(9).fill(`*${before}`).join(',')}]`);
  }
  expect(() => parse(lines.join('\n'))).toThrow(SettingsError);
});

test('a route is inherited as one setting: the nearest of proxy and jump', () => {
  const { devices } = parse(`
devices:
  - {name: a, address: 10.0.0.1, groups: [far]}
  - {name: b, address: 10.0.0.2, groups: [far], proxy: "Socks5h://proxy"}
  - {name: c, address: 10.0.0.3, groups: [far], proxy: none}
  - {name: d, address: 10.0.0.4, groups: [near, far]}
  - {name: e, address: 10.0.0.5}
groups:
  far: {jump: admin@bastion}
  near: {proxy: proxy:3128}
`);
  expect(devices.map(({ route }) => route)).toEqual([
    { kind: 'jump', jump: 'admin@bastion' },
    { kind: 'proxy', proxy: 'socks5h://proxy:1080' },
    { kind: 'direct' },
    { kind: 'proxy', proxy: 'http://proxy:3128' },
    undefined,
  ]);
});

test.each([
  [
    'devices:\n  - {name: a, address: x, jump: -oProxyCommand=id}',
    '2:33: jump: this is not a jump host',
  ],
  [
    'devices:\n  - {name: a, address: x, proxy: "ftp://p"}',
    '2:34: proxy: the address of a proxy starts with http://',
  ],
  [
    'devices:\n  - {name: a, address: x, proxy: p, jump: j}',
    '2:43: a device has either a proxy or',
  ],
  ['groups: {a: {jump: a b}}', '1:20: jump: this is not a jump host'],
  [
    'groups: {a: {proxy: "http://u:secret1@p"}}',
    '1:21: proxy: the inventory keeps no login of a proxy',
  ],
])('an invalid route is refused: %j', (text, message) => {
  const reading = (): unknown => parse(text);
  expect(reading).toThrow(SettingsError);
  expect(reading).toThrow(`${FILE}:${message}`);
  expect(reading).not.toThrow('secret1');
});

test('reads the credential sources of a device or group', () => {
  const { devices } = parseInventory(
    `devices:
  - name: fw1
    address: 10.0.0.1
    groups: [lab]
  - name: fw2
    address: 10.0.0.2
    groups: [lab]
    credential_command: [./get, '{host}']
groups:
  lab:
    credential_command: [vault-get, '{device}']
`,
    '/etc/devsh/devices.yaml',
  );
  expect(devices).toMatchObject([
    { credentialCommand: ['vault-get', '{device}'] },
    { credentialCommand: ['/etc/devsh/get', '{host}'] },
  ]);
});

test.each([
  ['credential_command: get {host}', 'credential_command must be a list: the program'],
  ['credential_command: []', 'credential_command is empty'],
  ["credential_command: ['{host}']", 'credential_command must begin with a program'],
  ['credential_command: [-c, x]', 'credential_command must begin with a program'],
  ['git_credential: default', 'unknown key "git_credential"; keep the login with "devsh login"'],
  ['netrc: true', 'unknown key "netrc"; keep the login with "devsh login"'],
])('refuses %s', (line, message) => {
  const text = `devices:\n  - name: fw1\n    address: 10.0.0.1\n    ${line}\n`;
  expect(() => parseInventory(text, 'devices.yaml')).toThrow(message);
});

const NESTED = `
devices:
  - {name: fw1, address: 10.0.0.1, groups: [berlin]}
  - {name: fw2, address: 10.0.0.2, groups: [core, berlin]}
groups:
  europe: {children: [germany], user: eu, profile: drf, jump: gate}
  Germany: {children: [Berlin, munich], user: de}
  berlin: {ca: /b.pem}
  core: {ca: /c.pem, user: root}
`;

test('a device is in the parents of its groups, and the nearest setting wins', () => {
  const { devices } = parse(NESTED);
  expect(devices).toMatchObject([
    { groups: ['berlin', 'Germany', 'europe'], user: 'de', profile: 'drf', ca: '/b.pem' },
    { groups: ['core', 'berlin', 'Germany', 'europe'], user: 'root', ca: '/c.pem' },
  ]);
  expect(devices[0]?.route).toEqual({ kind: 'jump', jump: 'gate' });
});

test('different values of two equally near groups are a conflict', () => {
  expect(readInventory(NESTED, FILE).conflicts).toEqual([
    { device: 'fw2', setting: 'ca', groups: ['core', 'berlin'] },
  ]);
});

test.each([
  ['groups:\n  a: {children: [a]}', '2:17: the group "a" contains itself'],
  ['groups:\n  a: {children: [b]}\n  b: {children: [A]}', '2:17: the group "a" contains itself'],
  ['groups:\n  a: {children: b}', 'children must be a list of group names'],
  ['groups:\n  a: {}\n  A: {}', 'there is already a group "A" (first in line 2)'],
])('refuses groups that cannot be: %j', (text, message) => {
  expect(() => parse(text)).toThrow(`${FILE}:`);
  expect(() => parse(text)).toThrow(message);
});
