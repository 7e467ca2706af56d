import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
// @ts-expect-error -- plain JavaScript of the build
import { lateStringWidth } from '../../scripts/bundle-plugins.js';
import { rounds } from '../rounds.ts';

test('undici is pinned to one version, as its inner parts are used', () => {
  const read = (path: string): unknown =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../..', path), 'utf8'));
  const { devDependencies } = read('package.json') as { devDependencies: Record<string, string> };
  const { version } = read('node_modules/undici/package.json') as { version: string };
  expect(devDependencies['undici']).toMatch(/^\d+\.\d+\.\d+$/);
  expect(version).toBe(devDependencies['undici']);
});

const PARTS = [
  ...[
    'a',
    'é',
    '…',
    '›',
    '\ue000',
    '漢',
    'ب',
    '한',
    '\u1100',
    '\u1161',
    'e\u0301',
    'ﾞ',
    '\t',
    '\u200B',
  ],
  ...[
    '👩',
    '🧑',
    '🏽',
    '\u200D',
    '\uFE0F',
    '💻',
    '❤',
    '🏳️‍🌈',
    '🇨🇭',
    '🇨',
    '1',
    '\u20E3',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '\uD83D',
  ],
  ...['\x1b[31m', '\x1b[0m', '\x1b]8;;https://a\x07', '\x1b]8;;\x07'],
];

test('a text is as wide in the bundle as the package says', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: "export { default as stringWidth } from 'string-width';",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'esm',
    plugins: [lateStringWidth as never],
    write: false,
  });
  const program = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  const bundled = (await import(`data:text/javascript;base64,${program}`)) as {
    stringWidth: typeof stringWidth;
  };
  const texts = fc.array(fc.constantFrom(...PARTS), { maxLength: 10 }).map((some) => some.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      expect(bundled.stringWidth(text)).toBe(stringWidth(text));
    }),
    { numRuns: rounds(3_000) },
  );
});
