import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseAddress } from '../../../src/device/address.ts';
import { chooseRoute, isExcluded, parseRoute, routeText } from '../../../src/device/route/route.ts';

const at = (address: string, env: NodeJS.ProcessEnv): string =>
  routeText(chooseRoute(parseAddress(address), undefined, env));

test.each<[env: NodeJS.ProcessEnv, route: string]>([
  [{}, 'direct'],
  [{ HTTPS_PROXY: '' }, 'direct'],
  [{ HTTPS_PROXY: 'http://proxy:3128' }, 'proxy http://proxy:3128'],
  [{ HTTPS_PROXY: 'proxy:3128' }, 'proxy http://proxy:3128'],
  [{ HTTPS_PROXY: 'http://proxy/' }, 'proxy http://proxy:80'],
  [{ HTTPS_PROXY: 'HTTPS://Proxy' }, 'proxy https://proxy:443'],
  [{ ALL_PROXY: 'socks5://[::1]' }, 'proxy socks5://[::1]:1080'],
  [{ all_proxy: 'socks5h://p:9' }, 'proxy socks5h://p:9'],
  [{ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'proxy http://a:1'],
  [{ HTTPS_PROXY: 'http://a:1', ALL_PROXY: 'http://b:1' }, 'proxy http://a:1'],
  [{ HTTP_PROXY: 'http://a:1' }, 'direct'],
  [{ HTTPS_PROXY: 'http://a:1', NO_PROXY: '10.0.0.0/8' }, 'direct'],
  [{ HTTPS_PROXY: 'http://a:1', no_proxy: '', NO_PROXY: '*' }, 'proxy http://a:1'],
])('the environment %j', (env, route) => {
  expect(at('10.0.0.5', env)).toBe(route);
});

test.each(['127.0.0.1', '127.9.9.9:8443', '[::1]', 'localhost', 'fw.localhost', 'fe80::1%eth0'])(
  'no proxy of the environment is used for %s',
  (address) => {
    expect(at(address, { HTTPS_PROXY: 'http://a:1' })).toBe('direct');
  },
);

test('the route of a device wins over the environment, also on loopback', () => {
  const address = parseAddress('127.0.0.1');
  const env = { HTTPS_PROXY: 'http://a:1', NO_PROXY: '*', DEVSH_PASSWORD: 'x', PATH: '/bin' };
  const by = (configured: Parameters<typeof chooseRoute>[1]) =>
    chooseRoute(address, configured, env);
  expect(routeText(by({ kind: 'proxy', proxy: 'http://b:2' }))).toBe('proxy http://b:2');
  const jump = by({ kind: 'jump', jump: 'admin@bastion:2222' });
  expect(routeText(jump)).toBe('jump host admin@bastion:2222');
  expect(jump).toMatchObject({ env: { PATH: '/bin' } });
  expect(inspect(jump)).not.toContain('DEVSH_PASSWORD');
  expect(chooseRoute(parseAddress('10.0.0.5'), { kind: 'direct' }, env)).toEqual({
    kind: 'direct',
  });
});

test('a proxy of the inventory has the login that the environment gives for the same proxy', () => {
  const env = { https_proxy: 'http://other:1', ALL_PROXY: 'http://jane:secret1@b:2' };
  const route = chooseRoute(parseAddress('10.0.0.5'), { kind: 'proxy', proxy: 'http://b:2' }, env);
  expect(route.kind === 'proxy' && route.proxy.login()).toEqual({
    user: 'jane',
    password: 'secret1',
  });
  expect(inspect(route, { depth: 9, showHidden: true }) + JSON.stringify(route)).not.toContain(
    'secret1',
  );
});

test.each([
  'ftp://jane:secret1@proxy',
  'jane:secret1',
  'http://jane:secret1@proxy:99999',
  'http://jane:secret1@[::1',
  'http://jane:secret1@proxy/path',
  'http://jane:%secret1@proxy',
  'http://jane:secret1@pro xy',
  'socks4://jane:secret1@proxy',
])('the error names the variable and nothing of %j', (url) => {
  expect(() => at('10.0.0.5', { HTTPS_PROXY: url })).toThrow(/^HTTPS_PROXY\b(?!.*secret1)/);
});

test.each([
  ['proxy', 'http://jane:secret1@proxy:1', /the inventory keeps no login of a proxy(?!.*secret1)/],
  ['proxy', 'bastion:port', /the address of a proxy starts with/],
  ['jump', '-oProxyCommand=id', /not a jump host/],
  ['jump', 'jane@-oProxyCommand=id', /not a jump host/],
  ['jump', 'a b', /not a jump host/],
  ['jump', 'a;id', /not a jump host/],
  ['jump', '$(id)', /not a jump host/],
  ['jump', 'a\nb', /not a jump host/],
  ['jump', 'jane:secret1@bastion', /not a jump host(?!.*secret1)/],
  ['jump', 'bastion:0', /the port/],
  ['jump', '', /not a jump host/],
] as const)('%s: %j is refused', (key, text, words) => {
  expect(() => parseRoute(key, text)).toThrow(words);
});

test.each([
  ['proxy', 'PROXY:3128', { kind: 'proxy', proxy: 'http://proxy:3128' }],
  ['proxy', 'none', { kind: 'direct' }],
  ['jump', 'None', { kind: 'direct' }],
  ['jump', 'bastion', { kind: 'jump', jump: 'bastion' }],
  ['jump', 'admin@[2001:db8::1]:22', { kind: 'jump', jump: 'admin@[2001:db8::1]:22' }],
] as const)('%s: %j is taken', (key, text, expected) => {
  expect(parseRoute(key, text)).toEqual(expected);
});

test.each([
  ['*', 'anything.example', true],
  ['fw1.example', 'fw1.example', true],
  ['FW1.Example.', 'fw1.example', true],
  ['example', 'fw1.example', true],
  ['xample', 'fw1.example', false],
  ['.example', 'fw1.example', true],
  ['*.example', 'fw1.example', true],
  ['.fw1.example', 'fw1.example', false],
  ['fw1.example:443', 'fw1.example', true],
  ['fw1.example:8443', 'fw1.example', false],
  ['fw1.example:8443', 'fw1.example:8443', true],
  ['10.0.0.5', '10.0.0.5', true],
  ['10.0.0.5:443', '10.0.0.5', true],
  ['10.0.0.0/29', '10.0.0.7', true],
  ['10.0.0.0/29', '10.0.0.8', false],
  ['10.0.0.0/33', '10.0.0.1', false],
  ['10.0.0.0/x', '10.0.0.1', false],
  ['0.5', '10.0.0.5', false],
  ['2001:db8::/32', '2001:db8::5', true],
  ['[2001:db8::5]:443', '2001:db8::5', true],
  ['2001:DB8:0::5', '2001:db8::5', true],
  ['a, ,b c', 'c', true],
  [',', 'c', false],
  ['', 'c', false],
] as const)('NO_PROXY=%j and %s', (noProxy, address, expected) => {
  expect(isExcluded(noProxy, parseAddress(address))).toBe(expected);
});
