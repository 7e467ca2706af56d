import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { Inventory, selectDevices } from '../../src/fleet/inventory.ts';
import { parseInventory } from '../../src/fleet/inventory-text.ts';
import { rounds } from '../rounds.ts';

const inventory = parseInventory(
  `devices:
  - { name: fw1, address: 10.0.0.5, groups: [berlin, core], user: admin }
  - { name: fw2, address: "10.0.0.6:8443", groups: [berlin] }
  - { name: fw3, address: 10.0.0.7, groups: [Berlin, lab], read_only: true }
  - { name: sw01, address: sw01.example.net }
  - { name: sw02, address: "[fe80::1]:443" }
`,
  '/devices.yaml',
);

const names = (...selectors: string[]) =>
  selectDevices(selectors, inventory).map(({ name }) => name);

function errorOf(...selectors: string[]): UsageError {
  try {
    selectDevices(selectors, inventory);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test.each([
  ['fw1', ['fw1']],
  ['FW2,fw1', ['fw2', 'fw1']],
  ['fw2 fw1 fw2', ['fw2', 'fw1']],
  ['fw*', ['fw1', 'fw2', 'fw3']],
  ['?w?', ['fw1', 'fw2', 'fw3']],
  ['@berlin', ['fw1', 'fw2', 'fw3']],
  ['@BERLIN !fw3', ['fw1', 'fw2']],
  ['!fw3 @berlin', ['fw1', 'fw2']],
  ['@berlin !@lab, !10.0.0.5', ['fw2']],
  ['@all !fw*', ['sw01', 'sw02']],
  ['!@berlin', ['sw01', 'sw02']],
  ['fw[1-2,3]', ['fw1', 'fw2', 'fw3']],
  ['sw[01-02]', ['sw01', 'sw02']],
  ['fw3,10.0.0.5', ['fw3', 'fw1']],
  ['10.0.0.6 10.0.0.6:8443', ['10.0.0.6', 'fw2']],
  ['10.0.0.[5-8]', ['fw1', '10.0.0.6', 'fw3', '10.0.0.8']],
  ['10.0.[1,3].[8-9]:8443', ['10.0.1.8:8443', '10.0.1.9:8443', '10.0.3.8:8443', '10.0.3.9:8443']],
  ['10.0.0.4/30', ['fw1', '10.0.0.6']],
  ['10.0.0.9/31', ['10.0.0.8', '10.0.0.9']],
  ['10.0.0.9/32:8443', ['10.0.0.9:8443']],
  ['10.0.0.0/29 !10.0.0.[2-6]', ['10.0.0.1']],
  ['[fe80::1] FE80:0::1', ['sw02']],
  ['[2001:db8::]/127', ['2001:db8::', '2001:db8::1']],
  ['[2001:db8::/127]:8443', ['[2001:db8::]:8443', '[2001:db8::1]:8443']],
  ['localhost:8443 localhost', ['localhost:8443', 'localhost']],
  ['host.example.net', ['host.example.net']],
  ['https://10.0.0.5/', ['fw1']],
  ['', []],
])('"%s" selects %j', (selector, expected) => {
  expect(names(selector)).toEqual(expected);
});

test('several selectors are one', () => {
  expect(names('fw2', '10.0.0.8', '!fw2')).toEqual(['10.0.0.8']);
});

test('an entry has the settings of the inventory, a direct one only its address', () => {
  expect(selectDevices(['fw3 10.0.0.8:8443'], inventory)).toEqual([
    { name: 'fw3', address: '10.0.0.7:443', groups: ['Berlin', 'lab'], readOnly: true },
    { name: '10.0.0.8:8443', address: '10.0.0.8:8443', groups: [] },
  ]);
});

test.each([
  ['fw1 wf2', 4, 'no device or group "wf2"', ['fw2']],
  ['fw1,  !fw9', 7, 'no device or group "fw9"', ['fw1', 'fw2', 'fw3']],
  ['@berln', 0, 'no group "berln"', ['@berlin']],
  ['x*', 0, 'no device matches "x*"', []],
  ['fw1 !', 5, '"!" needs a device', []],
  ['10.0.0.[9-5]', 0, 'the range 9-5 is reversed', []],
  ['10.0.0.[a-b]', 0, '"[a-b]" is not a list of numbers', []],
  ['10.0.0.[1-', 0, 'a bracket is not closed', []],
  ['10.0.0.300', 0, '"10.0.0.300" is not an IPv4 address', []],
  ['fw1 10.0.0.[250-256]', 4, '"10.0.0.256" is not an IPv4 address', []],
  ['010.0.0.1', 0, 'without leading zeros', []],
  ['10.0.0.0/8', 0, '"10.0.0.0/8" stands for 16777214 devices; at most 4096', []],
  ['2001:db8::/64', 0, 'stands for 18446744073709551616 devices', []],
  ['10.0.[0-99].[0-99]', 0, 'stands for 10000 devices', []],
  ['10.0.0.0/33', 0, '/33 in "10.0.0.0/33" is more than /32', []],
  ['x.y/24', 0, '"x.y" in "x.y/24" is not an IP address', []],
  ['fw1 !fw1', undefined, '"fw1 !fw1" selects no device', []],
])('"%s" is refused at column %s', (selector, column, message, suggestions) => {
  const error = errorOf(selector);
  expect(error.message).toContain(message);
  expect(error.column).toBe(column);
  expect(error.suggestions).toEqual(suggestions);
});

test('a password in an address is not repeated', () => {
  expect(errorOf('https://u:hunter2@10.0.0.1').message).not.toContain('hunter2');
});

test('an unknown word says how to add a device', () => {
  expect(errorOf('core7').message).toContain('devsh device add core7 ADDRESS');
});

test('several terms together respect the limit, too', () => {
  expect(names('10.0.0.0/21 10.1.0.0/22')).toHaveLength(2046 + 1022);
  expect(errorOf('10.0.0.0/21 10.1.0.0/21 10.2.0.0/21').message).toContain('stands for');
});

test('an inventory of more devices can be selected as a whole', () => {
  const devices = Array.from({ length: 5000 }, (_, index) => {
    const address = `10.${200 + (index >> 8)}.${index & 255}.1`;
    return { name: `d${index}`, address, groups: ['all'] };
  });
  expect(selectDevices(['@all'], new Inventory(devices))).toHaveLength(5000);
});

test('an empty inventory says how to fill it', () => {
  expect(() => selectDevices(['@all'], parseInventory('', 'f'))).toThrow('devsh device add');
});

test('a range names each address once, in order, whatever its numbers', () => {
  const run = fc
    .tuple(fc.nat(255), fc.nat(255))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 4 }), (runs) => {
      const list = runs.map(([first, last]) => `${first}-${last}`).join(',');
      const expected = new Set<string>();
      for (const [first, last] of runs) {
        for (let number = first; number <= last; number += 1) expected.add(`172.16.0.${number}`);
      }
      expect(names(`172.16.0.[${list}]`)).toEqual([...expected]);
    }),
  );
});

test('a net leaves out exactly its first and last address', () => {
  fc.assert(
    fc.property(fc.nat(255), fc.integer({ min: 20, max: 30 }), (octet, prefix) => {
      const selected = names(`192.168.${octet}.77/${prefix}`);
      expect(selected).toHaveLength(2 ** (32 - prefix) - 2);
      expect(new Set(selected).size).toBe(selected.length);
      expect(selected[0]?.endsWith('.0')).toBe(false);
    }),
    { numRuns: rounds(20) },
  );
});

test('no text makes it fail other than with a usage error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'@!*?[]-,:/.0129af w%'.split(/(?:)/)) }),
      (selector) => {
        try {
          selectDevices([selector], inventory);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      },
    ),
    { numRuns: rounds(2_000) },
  );
});
