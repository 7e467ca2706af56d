import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
// @ts-expect-error -- plain JavaScript of the build
import { inkKeepsLines, lateStringWidth } from '../../scripts/bundle-plugins.js';
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

/** What a line of source exports, bundled with these plugins. */
async function bundled(contents: string, plugins: readonly unknown[]): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    plugins: [...(plugins as never[])],
    write: false,
  });
  const program = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  return import(`data:text/javascript;base64,${program}`);
}

test('a text is as wide in the bundle as the package says', async () => {
  const source = "export { default as stringWidth } from 'string-width';";
  const own = (await bundled(source, [lateStringWidth])) as { stringWidth: typeof stringWidth };
  const texts = fc.array(fc.constantFrom(...PARTS), { maxLength: 10 }).map((some) => some.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      expect(own.stringWidth(text)).toBe(stringWidth(text));
    }),
    { numRuns: rounds(3_000) },
  );
});

interface Frame {
  write(x: number, y: number, text: string, options: { transformers: [] }): void;
  get(): { output: string };
}
type Ink = { readonly Output: new (size: { width: number; height: number }) => Frame };

test('Ink draws the same frames with the lines that it keeps, however many have passed', async () => {
  const source = "export { default as Output } from '../../node_modules/ink/build/output.js';";
  const plain = (await bundled(source, [])) as Ink;
  const own = (await bundled(source, [inkKeepsLines])) as Ink;
  const texts = fc.array(fc.constantFrom(...PARTS, 'bob ', ' '), { minLength: 1, maxLength: 8 });
  const frame = fc.array(texts, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), (frames) => {
      for (const lines of frames) {
        const [expected, drawn] = [plain, own].map(({ Output }) => {
          const output = new Output({ width: 30, height: lines.length });
          for (const [y, line] of lines.entries())
            output.write(y % 3, y, line.join(''), { transformers: [] });
          return output.get().output;
        });
        expect(drawn).toBe(expected);
      }
    }),
    { numRuns: rounds(300) },
  );
});
