import { expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { parseAnsible } from '../../../src/fleet/import/ansible.ts';
import { parseCsvDevices } from '../../../src/fleet/import/device-list.ts';
import { planImport } from '../../../src/fleet/import/import-plan.ts';
import { kindOfSource } from '../../../src/fleet/import/source.ts';
import { Inventory } from '../../../src/fleet/inventory.ts';
import { contention } from '../../contention.ts';
import { textOf } from '../../../src/output/sentences.ts';

test('CSV of a spreadsheet: byte order mark, semicolons, quotes, other names for the columns', () => {
  const text =
    '\ufeffHostname;IP Address;Group;Username;Read-Only;Rack;API token\r\n' +
    'fw1;10.0.0.5;"berlin, core";admin;yes;R7;geheim\r\n;;;;;;\r\nfw2;"10.0.0.6:8443";;;;;\r\n';
  expect(parseCsvDevices(text, '/etc/hosts.csv')).toEqual({
    devices: [
      {
        name: 'fw1',
        address: '10.0.0.5',
        groups: ['berlin', 'core'],
        settings: { user: 'admin', read_only: 'true' },
        place: '/etc/hosts.csv:2',
      },
      {
        name: 'fw2',
        address: '10.0.0.6:8443',
        groups: [],
        settings: {},
        place: '/etc/hosts.csv:4',
      },
    ],
    groups: [],
    remarks: [
      { code: 'left-out', is: 'secrets', names: 'API token' },
      { code: 'left-out', is: 'columns', names: 'Rack' },
    ],
  });
});

test.each([
  ['', 'no column "name"'],
  ['name,user\nfw1,x\n', 'no column "address"'],
  ['name,ip,address\n', 'more than one column "address"'],
  ['name,address\nfw1,a,b,c\n', 'hosts.csv:2: 4 cells, but the first line has 2'],
  ['name,address\n"fw1,a\n', 'hosts.csv:2: the quote that begins here is not closed'],
])('CSV %j is refused', (text, message) => {
  expect(() => parseCsvDevices(text, 'hosts.csv')).toThrow(UsageError);
  expect(() => parseCsvDevices(text, 'hosts.csv')).toThrow(message);
});

test('Ansible: groups with children, how devices are reached, and no secret', () => {
  const { devices, groups, remarks } = parseAnsible(
    JSON.stringify({
      _meta: {
        hostvars: {
          fw1: { ansible_host: '10.0.0.5', ansible_user: 'admin', ansible_password: 'geheim' },
          fw2: { devsh_address: '10.0.0.6:8443', devsh_read_only: true, vault_token: 'x' },
          here: { ansible_connection: 'local' },
        },
      },
      all: { children: ['ungrouped', 'germany'] },
      germany: { children: ['berlin'] },
      berlin: { hosts: ['fw1', 'fw2'] },
      old: ['fw3'],
      ungrouped: { hosts: ['here'] },
    }),
    'inv.json',
  );
  expect(devices).toEqual([
    {
      name: 'fw1',
      address: '10.0.0.5',
      groups: ['berlin'],
      settings: { user: 'admin' },
      place: 'inv.json: fw1',
    },
    {
      name: 'fw2',
      address: '10.0.0.6:8443',
      groups: ['berlin'],
      settings: { read_only: 'true' },
      place: 'inv.json: fw2',
    },
    { name: 'fw3', address: 'fw3', groups: ['old'], settings: {}, place: 'inv.json: fw3' },
  ]);
  expect(groups).toEqual([{ name: 'germany', children: ['berlin'], settings: {} }]);
  expect(remarks.map(textOf)).toEqual([
    'left out hosts that are this machine: here',
    'left out secrets: ansible_password, vault_token (keep a login with "login")',
  ]);
});

test.each([
  ['the port of the API', { ansible_port: 8443 }, '10.0.0.5:8443'],
  [
    'one for httpapi',
    { ansible_port: 8443, ansible_connection: 'ansible.netcommon.httpapi' },
    '10.0.0.5:8443',
  ],
  ['the port of httpapi alone', { ansible_port: 2222, ansible_httpapi_port: 444 }, '10.0.0.5:444'],
  [
    'behind an IPv6 address',
    { ansible_host: '2001:db8::5', ansible_port: '8443' },
    '[2001:db8::5]:8443',
  ],
  ['not that of ssh', { ansible_port: 22 }, '10.0.0.5'],
  [
    'not that of another ssh',
    { ansible_port: 2222, ansible_connection: 'network_cli' },
    '10.0.0.5',
  ],
  ['not beside an address with a port', { ansible_port: 1, devsh_address: 'fw1:8443' }, 'fw1:8443'],
])('Ansible: %s is taken', (_, variables, address) => {
  const hostvars = { fw1: { ansible_host: '10.0.0.5', ...variables } };
  const { devices } = parseAnsible(JSON.stringify({ _meta: { hostvars } }), 'inv.json');
  expect(devices).toMatchObject([{ name: 'fw1', address }]);
});

test.each(['[]', '{', '{"a":1e999}x', '[[[['])('Ansible: %j is refused', (text) => {
  expect(() => parseAnsible(text, 'inv.json')).toThrow(UsageError);
});

test.each([
  ['hosts.csv', 'x', 'csv'],
  ['-', 'name,address\nfw1,10.0.0.1\n', 'csv'],
  ['-', 'Name;Address;Groups\n', 'csv'],
  ['inv.json', '{"_meta": {"hostvars": {}}}', 'ansible'],
  ['-', '{\n  "all": {}}', 'ansible'],
  ['hosts', '[berlin]\nfw1 ansible_host=10.0.0.1\n', 'ansible'],
  ['hosts.yml', 'all:\n  hosts:\n    fw1:\n', 'ansible'],
  ['devices.yaml', '# mine\ndevices:\n  - name: a\n', 'devices'],
  ['-', '{"schema":"devsh/1","inventory":[{"name":"a"}]}', 'devices'],
  ['-', '[{"name":"a","address":"b"}]', 'devices'],
  ['-', 'hello world\n', undefined],
])('the source %s with %j is %s', (name, text, kind) => {
  expect(kindOfSource(name, text)).toBe(kind);
});

test('Ansible: a group with an invalid name is left out, and its devices are refused', () => {
  const text = JSON.stringify({
    _meta: { hostvars: { fw1: {}, fw2: {} } },
    'a b!': { children: ['core'] },
    germany: { children: ['core', 'a b!'] },
    core: { hosts: ['fw1'] },
    'x y!': { hosts: ['fw2'] },
  });
  const { groups, remarks, devices } = parseAnsible(text, 'inv.json');
  expect(groups).toEqual([{ name: 'germany', children: ['core'], settings: {} }]);
  expect(remarks.map(textOf)).toEqual([
    'left out groups with names that devsh does not allow: a b!',
  ]);
  const plan = planImport(
    { devices, groups, remarks },
    { written: { devices: [], groups: [] }, inventory: new Inventory([]), folder: '/' },
  );
  expect(plan.steps.map(({ action, changes }) => [action, changes[0]?.after])).toEqual([
    ['add', 'fw1'],
  ]);
  expect(plan.refused).toMatchObject([{ name: 'fw2', reason: 'invalid' }]);
});

test('names of inherited properties are ordinary hosts, groups and columns', () => {
  const text =
    '{"_meta": {"hostvars": {}}, "__proto__": {"hosts": ["constructor", "__proto__"]}, "toString": ["fw1"]}';
  expect(parseAnsible(text, 'inv.json').devices.map(({ name }) => name)).toEqual([
    'constructor',
    '__proto__',
    'fw1',
  ]);
  const { devices, remarks } = parseCsvDevices(
    'name,address,constructor\nfw1,10.0.0.1,x\n',
    'a.csv',
  );
  expect(devices).toHaveLength(1);
  expect(remarks.map(textOf)).toEqual(['left out columns: constructor']);
});

test.each(['\n', '\t', ' ', 'a:\n', '[a]\n'])(
  'detecting the kind of a source is fast for a long text of %j',
  (part) => {
    const startedAt = performance.now();
    kindOfSource('-', `x${part.repeat(300_000)}!`);
    kindOfSource('a.yml', `x${part.repeat(300_000)}!`);
    expect(performance.now() - startedAt).toBeLessThan(2_000 * contention());
  },
);
