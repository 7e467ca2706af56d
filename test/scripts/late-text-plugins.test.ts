import { tokenize } from '@alcalzone/ansi-tokenize';
import { build } from 'esbuild';
import fc from 'fast-check';
import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { beforeAll, expect, test } from 'vitest';
// @ts-expect-error -- plain JavaScript of the build
import { lateSegments, lateStringWidth } from '../../scripts/late-text-plugins.js';

/** Each of them as the bundle has it. */
interface Bundled {
  readonly stringWidth: typeof stringWidth;
  readonly tokenize: typeof tokenize;
  readonly sliceAnsi: typeof sliceAnsi;
}

let bundled: Bundled;

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        export { default as stringWidth } from 'string-width';
        export { tokenize } from '@alcalzone/ansi-tokenize';
        export { default as sliceAnsi } from 'slice-ansi';`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    plugins: [...(lateSegments as []), lateStringWidth as never],
    write: false,
  });
  const program = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  bundled = (await import(`data:text/javascript;base64,${program}`)) as Bundled;
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
const anyText = fc
  .array(fc.constantFrom(...PARTS), { maxLength: 10 })
  .map((parts) => parts.join(''));

test('a text is as wide in the bundle as the package says', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(bundled.stringWidth(text)).toBe(stringWidth(text));
    }),
    { numRuns: 3_000 },
  );
});

test('a text is taken apart and cut in the bundle as the packages do it', () => {
  fc.assert(
    fc.property(anyText, fc.nat(12), (text, end) => {
      expect(bundled.tokenize(text)).toEqual(tokenize(text));
      expect(bundled.sliceAnsi(text, 1, end)).toBe(sliceAnsi(text, 1, end));
    }),
    { numRuns: 3_000 },
  );
});
