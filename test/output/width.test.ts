import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cut, fit, visible, widthOf } from '../../src/text/visible.ts';

const shownText = fc.string({ unit: 'grapheme' }).map(visible);
const width = fc.integer({ min: 0, max: 30 });

test('a fitted text takes exactly the width', () => {
  fc.assert(
    fc.property(shownText, width, fc.constantFrom('left', 'right'), (text, cells, align) => {
      expect(widthOf(fit(text, cells, align))).toBe(cells);
    }),
  );
});

test('a cut text is the text itself or its start with an ellipsis, and never too wide', () => {
  fc.assert(
    fc.property(shownText, width, (text, cells) => {
      const kept = cut(text, cells);
      expect(widthOf(kept)).toBeLessThanOrEqual(cells);
      if (widthOf(text) <= cells) expect(kept).toBe(text);
      else expect(text.startsWith(kept.replace(/…$/, ''))).toBe(true);
    }),
  );
});

test('keeps a wide character whole at the edge', () => {
  expect(fit('李雷雷', 4)).toBe('李… ');
  expect(fit('👩‍🚀👩‍🚀', 3)).toBe('👩‍🚀…');
  expect(cut('alice', 3)).toBe('al…');
  expect(fit('7', 3, 'right')).toBe('  7');
});
