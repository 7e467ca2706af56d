import xterm from '@xterm/headless';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { clipLine, Painter, type Size } from '../../../src/tui/terminal/painter.ts';

/** A painter on a terminal emulator of the same size. */
function startPainter(initial: Size) {
  const emulator = new xterm.Terminal({
    cols: initial.columns,
    rows: initial.rows,
    allowProposedApi: true,
  });
  // As in the program: there resizing cuts and never re-wraps.
  emulator.write('\x1b[?1049h');
  const written: string[] = [];
  const painter = new Painter(
    (bytes) => {
      written.push(bytes);
      emulator.write(bytes);
    },
    () => ({ columns: emulator.cols, rows: emulator.rows }),
  );
  const settle = () =>
    new Promise<void>((resolve) => {
      emulator.write('', resolve);
    });
  return {
    emulator,
    painter,
    settle,
    /** What was written since the last call. */
    written: () => written.splice(0).join(''),
    lines: async () => {
      await settle();
      const { active } = emulator.buffer;
      return Array.from(
        { length: emulator.rows },
        (_, row) =>
          active
            .getLine(active.baseY + row)
            ?.translateToString(true, 0, emulator.cols)
            .trimEnd() ?? '',
      );
    },
    close: () => {
      emulator.dispose();
    },
  };
}

const size = { columns: 10, rows: 4 };

test('a frame is on the screen as it is', async () => {
  const { painter, lines } = startPainter(size);
  painter.paint('one\n表示 two\n\x1b[1mbold\x1b[22m');
  expect(await lines()).toEqual(['one', '表示 two', 'bold', '']);
});

test('nothing is written when nothing changed', () => {
  const { painter, written } = startPainter(size);
  painter.paint('one\ntwo', { row: 0, column: 1 });
  written();
  painter.paint('one\ntwo', { row: 0, column: 1 });
  expect(written()).toBe('');
});

test('only the cells that changed are written', () => {
  const { painter, written } = startPainter(size);
  painter.paint('one\ntwo\nthree');
  written();
  painter.paint('one\n2\nthree');
  expect(written()).toBe('\x1b[?2026h\x1b[?7l\x1b[2H2\x1b[K\x1b[?7h\x1b[?2026l');
});

test('a full line keeps its last cell, an overlong one is cut before a wide character', async () => {
  const { painter, lines } = startPainter(size);
  painter.paint('0123456789\n0123456789abc\n012345678表\nend');
  expect(await lines()).toEqual(['0123456789', '0123456789', '012345678', 'end']);
});

test('the cell at the bottom right stays empty and nothing scrolls', async () => {
  const { painter, lines } = startPainter(size);
  painter.paint('a\nb\nc\n0123456789\nbelow');
  expect(await lines()).toEqual(['a', 'b', 'c', '012345678']);
});

test('rows that a shorter frame no longer has are emptied', async () => {
  const { painter, lines } = startPainter(size);
  painter.paint('one\ntwo\nthree');
  painter.paint('one');
  expect(await lines()).toEqual(['one', '', '', '']);
});

test('the cursor is shown where asked, moved alone, and hidden', async () => {
  const { painter, emulator, written, settle } = startPainter(size);
  painter.paint('one', { row: 0, column: 3 });
  await settle();
  expect(emulator.buffer.active).toMatchObject({ cursorX: 3, cursorY: 0 });
  expect(written()).toContain('\x1b[?25h');
  painter.paint('one', { row: 0, column: 1 });
  expect(written()).toBe('\x1b[1;2H');
  painter.paint('one');
  expect(written()).toBe('\x1b[?25l');
});

test('control sequences in a frame do not reach the terminal, colours do', () => {
  const { painter, written } = startPainter({ columns: 40, rows: 2 });
  painter.paint('a\x1b]52;c;eA==\x07b\x1b[2Jc\x9b3Jd\x1b[31mred');
  const bytes = written();
  expect(bytes).toContain('a]52;c;eA==b[2Jc3Jd\x1b[31mred\x1b[m');
});

test('a colour that is left open does not run into the next line', async () => {
  const { painter, emulator, settle } = startPainter(size);
  painter.paint('\x1b[41mred\nplain');
  await settle();
  expect(emulator.buffer.active.getLine(0)?.getCell(5)?.isBgDefault()).toBe(true);
  expect(emulator.buffer.active.getLine(1)?.getCell(0)?.isBgDefault()).toBe(true);
});

test('after invalidate everything is written again, and nothing is cleared as a whole', async () => {
  const { painter, emulator, lines, written } = startPainter(size);
  painter.paint('one\ntwo');
  emulator.write('\x1b[Hgarbage\x1b[4;1Hmore');
  painter.invalidate();
  painter.paint('one\ntwo');
  expect(await lines()).toEqual(['one', 'two', '', '']);
  expect(written()).not.toMatch(/\x1b\[[23]?J/);
});

test('a wrapped terminal is left as it was found', async () => {
  const { painter, emulator, settle } = startPainter(size);
  painter.paint('x'.repeat(30));
  await settle();
  expect(emulator.modes).toMatchObject({ wraparoundMode: true, synchronizedOutputMode: false });
});

/** Where `text` begins on the row, in cells. */
async function columnOf(
  { emulator, settle }: ReturnType<typeof startPainter>,
  text: string,
): Promise<number> {
  await settle();
  const line = emulator.buffer.active.getLine(0);
  const cells = Array.from({ length: emulator.cols }, (_, at) => line?.getCell(at)?.getChars());
  return cells.indexOf(text);
}

test.each([
  ['a family, of which the emulator draws each member', '👨‍👩‍👧‍👦', 2],
  ['a sign that it takes for a narrow one', '❤️', 2],
  ['a flag', '🇩🇪', 2],
  ['a thumb with a colour', '👍🏽', 2],
  ['a keycap', '1️⃣', 2],
  ['a letter with an accent of its own', 'e\u0301', 1],
])('what follows %s stands in its column', async (_, character, cells) => {
  const screen = startPainter({ columns: 30, rows: 2 });
  screen.painter.paint('old old old old old old');
  screen.painter.paint(`\x1b[1mab${character}|\x1b[m表${character}#`);
  expect(await columnOf(screen, '|')).toBe(2 + cells);
  expect(await columnOf(screen, '#')).toBe(2 + cells + 1 + 2 + cells);
  expect((await screen.lines())[0]).not.toMatch(/[old]/);
  screen.close();
});

// The emulator knows the widths of Unicode 6: no emoji here.
const character = fc.constantFrom(
  'a',
  'B',
  ' ',
  '表',
  '示',
  'ü',
  'e\u0301',
  'ｆ',
  '\x1b[31m',
  '\x1b[m',
);
const frame = fc
  .array(fc.string({ unit: character, maxLength: 14 }), { maxLength: 7 })
  .map((lines) => lines.join('\n'));
const step = fc.oneof(
  { weight: 4, arbitrary: frame.map((text) => ({ kind: 'frame' as const, text })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('resize' as const),
      columns: fc.integer({ min: 2, max: 16 }),
      rows: fc.integer({ min: 1, max: 8 }),
    }),
  },
);

test('after any frames and sizes the screen shows the last frame', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      frame,
      async (steps, last) => {
        const { painter, emulator, lines, settle, close } = startPainter(size);
        for (const one of steps) {
          await settle();
          if (one.kind === 'frame') painter.paint(one.text);
          else {
            emulator.resize(one.columns, one.rows);
            // As the program at each event: the size may be the old one again before the next frame.
            painter.invalidate();
          }
        }
        painter.paint(last);
        expect(await lines()).toEqual(expected(last, emulator.cols, emulator.rows));
        close();
      },
    ),
  );
});

test('whatever changes in a wide line, the screen shows the line', async () => {
  const piece = fc.constantFrom(
    'word',
    ' '.repeat(15),
    ' ',
    '表',
    '\x1b[7m',
    '\x1b[m',
    'e\u0301',
    'xy',
  );
  const line = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
  const styles = ({ emulator }: ReturnType<typeof startPainter>) =>
    Array.from({ length: emulator.cols }, (_, at) => {
      const cell = emulator.buffer.active.getLine(0)?.getCell(at);
      return cell?.isInverse() === 0 ? cell.getChars() || ' ' : `[${cell?.getChars() ?? ''}]`;
    });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 5 }), line, async (before, last) => {
      const [changed, fresh] = [
        startPainter({ columns: 60, rows: 2 }),
        startPainter({ columns: 60, rows: 2 }),
      ];
      for (const one of before) changed.painter.paint(one);
      changed.painter.paint(last);
      fresh.painter.paint(last);
      await Promise.all([changed.settle(), fresh.settle()]);
      expect(styles(changed)).toEqual(styles(fresh));
      changed.close();
      fresh.close();
    }),
  );
});

/** A window on a long list, below a title and above a footer. */
function windowOn(top: number, rows: number): string {
  const shown = Array.from({ length: rows - 2 }, (_, row) => `row ${top + row}`);
  return [`from ${top}`, ...shown, 'footer'].join('\n');
}

test('lines that moved together are moved, and only what came in is written', async () => {
  const { painter, lines, written, close } = startPainter({ columns: 20, rows: 12 });
  painter.paint(windowOn(5, 12));
  written();
  painter.paint(windowOn(6, 12));
  expect(written()).toBe(
    '\x1b[?2026h\x1b[?7l\x1b[2;11r\x1b[2;1H\x1b[1M\x1b[r' +
      '\x1b[1Hfrom 6\x1b[11Hrow 15\x1b[?7h\x1b[?2026l',
  );
  painter.paint(windowOn(3, 12));
  expect(written()).toContain('\x1b[2;11r\x1b[2;1H\x1b[3L\x1b[r');
  expect(await lines()).toEqual(windowOn(3, 12).split('\n'));
  close();
});

test('the last row is never moved: a full line would fill the cell that stays empty', async () => {
  const { painter, lines, close } = startPainter({ columns: 4, rows: 5 });
  painter.paint('aaaa\nbbbb\ncccc\ndddd\neeee');
  painter.paint('zzzz\naaaa\nbbbb\ncccc\ndddd');
  expect(await lines()).toEqual(['zzzz', 'aaaa', 'bbbb', 'cccc', 'ddd']);
  close();
});

test('wherever a list is scrolled to, the screen shows that part of it', async () => {
  const tops = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 12 });
  const rows = fc.integer({ min: 3, max: 14 });
  await fc.assert(
    fc.asyncProperty(tops, rows, async (places, height) => {
      const { painter, lines, close } = startPainter({ columns: 20, rows: height });
      for (const top of places) {
        painter.paint(windowOn(top, height));
        expect(await lines()).toEqual(windowOn(top, height).split('\n'));
      }
      close();
    }),
  );
});

/** The frame as an emulator that never wraps would show it. */
function expected(text: string, columns: number, rows: number): string[] {
  const lines = text.split('\n');
  return Array.from({ length: rows }, (_, row) => {
    let cells = row === rows - 1 ? columns - 1 : columns;
    let line = '';
    for (const one of (lines[row] ?? '').replace(/\x1b\[\d*m/g, '').match(/.\p{M}*/gsu) ?? []) {
      cells -= /[表示ｆ]/u.test(one) ? 2 : 1;
      if (cells < 0) break;
      line += one;
    }
    return line.trimEnd();
  });
}

test('letters and signs that are cut quickly are as narrow as they are taken for', () => {
  const latin = Array.from({ length: 0x2af - 0xa1 }, (_, at) => String.fromCharCode(0xa1 + at));
  for (const character of [...latin, ...Array.from('…·•–▸›●○◌✓✗≠─↑↓←→↹⏎')]) {
    if (character === '\xad') continue;
    expect(stringWidth(character), character).toBe(1);
    expect(clipLine(character.repeat(3), 2)).toEqual({ text: character.repeat(2), width: 2 });
  }
});
