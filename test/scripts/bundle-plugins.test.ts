import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const json = (path: string): unknown => JSON.parse(read(path));

/** What src/ imports of undici, and what scripts/bundle-plugins.js leaves out of it. */
const PARTS = ['lib/dispatcher/client.js'];
const LEFT_OUT = ['lib/dispatcher/client-h2.js', 'lib/web/fetch/body.js'];
/** In these only a limit and the name of a class are used of node:http. */
const LOOKS_AT_HTTP = ['lib/dispatcher/client.js', 'lib/core/util.js'];

test('undici is pinned to one version, as its inner parts are used', () => {
  const { devDependencies } = json('package.json') as { devDependencies: Record<string, string> };
  const { version } = json('node_modules/undici/package.json') as { version: string };
  expect(devDependencies['undici']).toMatch(/^\d+\.\d+\.\d+$/);
  expect(version).toBe(devDependencies['undici']);
});

test.each([...PARTS, ...LEFT_OUT, ...LOOKS_AT_HTTP])('undici still has %s', (path) => {
  expect(existsSync(join(root, 'node_modules/undici', path))).toBe(true);
});

test('undici still looks at no more of node:http than the bundle gives it', () => {
  const used = LOOKS_AT_HTTP.flatMap((path) => {
    const source = read(`node_modules/undici/${path}`);
    const names = Array.from(
      source.matchAll(/(?:\bconst|\blet) (\{[^}]*\}|\w+) = require\('node:http'\)/g),
      ([, name = '']) => name,
    );
    return names.flatMap((name) =>
      name.startsWith('{')
        ? name.match(/\w+/g)
        : Array.from(source.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g')), ([, part]) => part),
    );
  });
  expect(new Set(used)).toEqual(new Set(['maxHeaderSize', 'IncomingMessage']));
});
