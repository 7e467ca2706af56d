import { expect, test } from 'vitest';
import { BLANK, toSvg, type Cell, type Picture } from '../../scripts/screenshots/svg.ts';

function cells(text: string, style: Partial<Cell> = {}): Cell[] {
  return Array.from(text, (character) => ({ ...BLANK, ...style, text: character }));
}

function picture(row: readonly Cell[], cursor?: Picture['cursor']): Picture {
  return { title: 'a <title>', columns: row.length, rows: [row], cursor };
}

/** The lines of what is drawn inside the window. */
function drawn(row: readonly Cell[], cursor?: Picture['cursor']): string[] {
  const lines = toSvg(picture(row, cursor)).split('\n');
  const content = lines.slice(lines.findIndex((line) => line.includes('font-size="12"')) + 1);
  return content.filter((line) => /^<(text|rect)/.test(line));
}

test('words that stand apart have places of their own, so that columns stay straight', () => {
  expect(drawn(cells('bob  a b'))).toEqual([
    '<text x="14" y="53">bob</text>',
    '<text x="56" y="53">a b</text>',
  ]);
});

test('a wide character takes two cells, and what follows stands behind it', () => {
  const wide = { ...BLANK, text: '芳', width: 2 };
  expect(drawn([wide, { ...BLANK, width: 0 }, ...cells('x')])).toEqual([
    '<text x="14" y="53">芳</text>',
    '<text x="30.8" y="53">x</text>',
  ]);
});

test('letters from right to left stay together, so that they can join', () => {
  expect(drawn(cells('ليلى'))).toEqual(['<text x="14" y="53">ليلى</text>']);
});

test('colours, bold and reverse are drawn as a terminal draws them', () => {
  expect(
    drawn([
      ...cells('a', { foreground: 114, bold: true }),
      ...cells('b', { inverse: true }),
      ...cells('c', { foreground: 0x12ab34, dim: true }),
    ]),
  ).toEqual([
    '<rect x="22.4" y="40" width="8.4" height="18" fill="#d6dde6"/>',
    '<text x="14" y="53" fill="#87d787" font-weight="bold">a</text>',
    '<text x="22.4" y="53" fill="#0f141b">b</text>',
    '<text x="30.8" y="53" fill="#12ab34" opacity=".65">c</text>',
  ]);
});

test('what is shown is text and no markup', () => {
  const svg = toSvg(picture(cells('<b>&')));
  expect(svg).toContain('>&lt;b&gt;&amp;</text>');
  expect(svg).toContain('<title>a &lt;title&gt;</title>');
});

test('the cursor is a block where it is shown', () => {
  const [block] = drawn(cells('ab'), { row: 0, column: 1 });
  expect(block).toContain('<rect x="22.4" y="41" width="8.4"');
});
