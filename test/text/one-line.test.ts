import { expect, test } from 'vitest';
import { counted, pluralOf } from '../../src/text/one-line.ts';

test.each([
  ['user', 'users'],
  ['entry', 'entries'],
  ['Policy', 'Policies'],
  ['gateway', 'gateways'],
  ['address', 'addresses'],
  ['box', 'boxes'],
  ['switch', 'switches'],
  ['route-cache', 'route-caches'],
  ['users', 'users'],
  ['dns', 'dns'],
])('of %s there are many %s', (noun, plural) => {
  expect(pluralOf(noun)).toBe(plural);
  expect(counted(1, noun)).toBe(`1 ${noun}`);
  expect(counted(0, noun)).toBe(`0 ${plural}`);
});
