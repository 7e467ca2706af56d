import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { formatAddress, originOf, parseAddress, shortAddress } from '../../src/device/address.ts';
import { UsageError } from '../../src/errors.ts';

test.each([
  ['10.0.0.5', '10.0.0.5:443', '10.0.0.5'],
  ['10.0.0.5:8443', '10.0.0.5:8443', '10.0.0.5:8443'],
  ['FW1.Example.NET', 'fw1.example.net:443', 'fw1.example.net'],
  ['https://fw1/', 'fw1:443', 'fw1'],
  ['https://fw1:443', 'fw1:443', 'fw1'],
  ['https://[2001:DB8::1]:8443/', '[2001:db8::1]:8443', '[2001:db8::1]:8443'],
  ['[::1]', '[::1]:443', '::1'],
  ['::1', '[::1]:443', '::1'],
  ['0:0:0:0:0:0:0:1', '[::1]:443', '::1'],
  ['[::ffff:127.0.0.3]:8443', '127.0.0.3:8443', '127.0.0.3:8443'],
  ['::FFFF:0a00:0005', '10.0.0.5:443', '10.0.0.5'],
  ['fe80::1%eth0', '[fe80::1%eth0]:443', 'fe80::1%eth0'],
  ['bücher.example', 'xn--bcher-kva.example:443', 'xn--bcher-kva.example'],
  ['my_switch', 'my_switch:443', 'my_switch'],
  ['  fw1  ', 'fw1:443', 'fw1'],
])('%s is understood', (text, whole, short) => {
  const address = parseAddress(text);
  expect(formatAddress(address)).toBe(whole);
  expect(shortAddress(address)).toBe(short);
  expect(parseAddress(formatAddress(address))).toEqual(address);
  expect(parseAddress(shortAddress(address))).toEqual(address);
  expect(URL.canParse(originOf(address))).toBe(true);
});

test.each([
  ['http://fw1', 'only HTTPS'],
  ['ftp://fw1', 'only HTTPS'],
  ['', 'missing'],
  ['https://', 'missing'],
  ['10.0.0.0/8', 'without path'],
  ['https://fw1/api/user/', 'without path'],
  ['fw1?x=1', 'without path'],
  ['010.0.0.1', 'not an IPv4'],
  ['10.1', 'not an IPv4'],
  ['0x7f.0.0.1', 'not an IPv4'],
  ['0x7f000001', 'not an IPv4'],
  ['2130706433', 'not an IPv4'],
  ['256.1.1.1', 'not an IPv4'],
  ['１０.0.0.1', 'not an IPv4'],
  ['fw1:0', 'port'],
  ['fw1:65536', 'port'],
  ['fw1:', 'port'],
  ['fw1:8x', 'port'],
  ['[10.0.0.1]', 'IPv6'],
  ['[::1', 'IPv6'],
  ['1:2:3', 'IPv6'],
  ['fw 1', 'neither'],
  ['-fw1', 'neither'],
  ['fw..1', 'not an IPv4'],
  ['fw\u00001', 'neither'],
])('%j is refused', (text, why) => {
  expect(() => parseAddress(text)).toThrow(UsageError);
  expect(() => parseAddress(text)).toThrow(why);
});

test.each(['https://admin:hunter2@fw1', 'admin:hunter2@fw1', 'http://admin:hunter2@[::1/'])(
  'a password in %s is refused and not repeated',
  (text) => {
    let error: unknown;
    try {
      parseAddress(text);
    } catch (failure) {
      error = failure;
    }
    expect(error).toBeInstanceOf(UsageError);
    expect(inspect(error)).not.toContain('hunter2');
  },
);
