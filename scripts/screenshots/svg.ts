import type { CellStyle } from '../../test/pty/harness.ts';
import { indexedColor } from './palette.ts';

/**
 * One cell of a terminal; its text is empty if nothing was written, and in the right half of a wide
 * character.
 */
export interface Cell extends CellStyle {
  /** In cells; 0: the right half of a wide character. */
  readonly width: number;
}

export const BLANK: Cell = {
  text: '',
  width: 1,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  foreground: -1,
  background: -1,
};

export interface Picture {
  readonly title: string;
  readonly columns: number;
  readonly rows: readonly (readonly Cell[])[];
  /** From 0; undefined while it is hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** Pixels. The cell is that of most monospace fonts at this size. */
const FONT = 14;
const CELL = { width: 8.4, height: 18 };
const BASELINE = 13;
const MARGIN = { side: 14, top: 40, bottom: 12 };

const FONTS =
  "ui-monospace,'SF Mono',SFMono-Regular,Menlo,'Cascadia Mono',Consolas,'DejaVu Sans Mono','Noto Sans Mono',monospace";

const GROUND = '#0f141b';
const FRAME = '#2b3440';
const BAR = '#171e27';
const TEXT = '#d6dde6';
const TITLE = '#8b97a6';
const CURSOR = '#7cc7ff';

/** The picture as SVG. Each word has its own position, so that columns are straight in any font. */
export function toSvg(picture: Picture): string {
  const width = round(picture.columns * CELL.width + 2 * MARGIN.side);
  const height = picture.rows.length * CELL.height + MARGIN.top + MARGIN.bottom;
  const grounds = picture.rows.flatMap((cells, row) => groundsOf(cells, row));
  const texts = picture.rows.flatMap((cells, row) => textsOf(cells, row));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONTS}" font-size="${FONT}">`,
    `<title>${escapeXml(picture.title)}</title>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="${GROUND}" stroke="${FRAME}"/>`,
    `<path d="M1 28V9a8 8 0 0 1 8-8H${width - 9}a8 8 0 0 1 8 8V28Z" fill="${BAR}"/>`,
    ...['#ff6159', '#ffbd2e', '#28c941'].map(
      (color, index) => `<circle cx="${18 + index * 18}" cy="14.5" r="5.5" fill="${color}"/>`,
    ),
    `<text x="${round(width / 2)}" y="19" fill="${TITLE}" font-size="12" text-anchor="middle">${escapeXml(picture.title)}</text>`,
    ...grounds,
    ...cursorOf(picture),
    `<g fill="${TEXT}" xml:space="preserve">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** The colours of a cell; `ground` undefined: that of the window. */
function colorsOf(cell: Cell): { ink: string; ground: string | undefined } {
  const ink = cell.foreground === -1 ? TEXT : indexedColor(cell.foreground);
  const ground = cell.background === -1 ? undefined : indexedColor(cell.background);
  return cell.inverse ? { ink: ground ?? GROUND, ground: ink } : { ink, ground };
}

function groundsOf(cells: readonly Cell[], row: number): string[] {
  return runsOf(cells, (cell) => colorsOf(cell).ground ?? '').flatMap(({ key, from, to }) =>
    key === ''
      ? []
      : [
          `<rect x="${xOf(from)}" y="${yOf(row)}" width="${round((to - from) * CELL.width)}" height="${CELL.height}" fill="${key}"/>`,
        ],
  );
}

function textsOf(cells: readonly Cell[], row: number): string[] {
  return runsOf(cells, attributesOf).flatMap(({ key, from, to }) =>
    wordsOf(cells.slice(from, to)).map(
      ({ at, text }) =>
        `<text x="${xOf(from + at)}" y="${yOf(row) + BASELINE}"${key}>${escapeXml(text)}</text>`,
    ),
  );
}

function attributesOf(cell: Cell): string {
  const { ink } = colorsOf(cell);
  return [
    ink === TEXT ? '' : ` fill="${ink}"`,
    cell.bold ? ' font-weight="bold"' : '',
    cell.italic ? ' font-style="italic"' : '',
    cell.underline ? ' text-decoration="underline"' : '',
    cell.dim ? ' opacity=".65"' : '',
  ].join('');
}

/** Adjacent cells that look the same; the right half of a wide character follows its left one. */
function runsOf(
  cells: readonly Cell[],
  keyOf: (cell: Cell) => string,
): { key: string; from: number; to: number }[] {
  const runs: { key: string; from: number; to: number }[] = [];
  cells.forEach((cell, index) => {
    const last = runs.at(-1);
    if (last !== undefined && (cell.width === 0 || keyOf(cell) === last.key)) last.to = index + 1;
    else runs.push({ key: keyOf(cell), from: index, to: index + 1 });
  });
  return runs;
}

/** Characters that form one word: Latin, and right-to-left scripts, which join. */
const TOGETHER = /^[\x20-\x7e\u0590-\u06ff]?$/;

/** The words of a run: a new one after two blanks, and for each other character. */
function wordsOf(cells: readonly Cell[]): { at: number; text: string }[] {
  const words: { at: number; text: string }[] = [];
  let at = 0;
  let text = '';
  const end = (next: number): void => {
    if (text.trim() !== '') words.push({ at, text: text.trimEnd() });
    at = next;
    text = '';
  };
  cells.forEach((cell, index) => {
    const isBlank = cell.text.trim() === '';
    const isPlain = cell.width === 1 && TOGETHER.test(cell.text);
    if (!isPlain && cell.width > 0) {
      end(index);
      text = cell.text;
      end(index + cell.width);
    } else if (cell.width > 0 && isBlank && (text === '' || text.endsWith(' '))) {
      end(index + 1);
    } else if (cell.width > 0) {
      text += cell.text === '' ? ' ' : cell.text;
    }
  });
  end(cells.length);
  return words;
}

function cursorOf({ cursor }: Picture): string[] {
  if (cursor === undefined) return [];
  return [
    `<rect x="${xOf(cursor.column)}" y="${yOf(cursor.row) + 1}" width="${CELL.width}" height="${CELL.height - 2}" fill="${CURSOR}" opacity=".75"/>`,
  ];
}

function xOf(column: number): number {
  return round(MARGIN.side + column * CELL.width);
}

function yOf(row: number): number {
  return MARGIN.top + row * CELL.height;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
