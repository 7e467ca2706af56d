import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStyle } from '../../src/output/streams.ts';
import { alignedLines, tabbedLines, type TextTable } from '../../src/output/table-text.ts';
import { widthOf } from '../../src/text/visible.ts';

const fingerprint = Array.from({ length: 32 }, (_, at) =>
  (at + 16).toString(16).toUpperCase(),
).join(':');

function lines(table: TextTable, width: number): string {
  return `\n${alignedLines(table, width, createStyle(false)).join('\n')}\n`;
}

const pins: TextTable = {
  columns: [
    { title: 'DEVICE', role: 'whole' },
    { title: 'ADDRESS', role: 'field' },
    { title: 'SHA-256', role: 'whole' },
    { title: 'FIRST SEEN', role: 'extra' },
    { title: 'EXPIRES', role: 'field' },
    { title: 'SUBJECT', role: 'extra' },
  ],
  rows: [
    ['fw1', '10.0.0.5:443', fingerprint, '2026-11-21T09:30:41.000Z', 'in 3 years', 'CN=fw1'],
    ['berlin-core-1', '10.20.30.40:8443', fingerprint, '2026-11-21T09:30:41.000Z', 'today', 'CN=b'],
  ],
};

test('a fingerprint goes on in the next line, and what has no room is named', () => {
  expect(lines(pins, 80)).toMatchInlineSnapshot(`
    "
    DEVICE         ADDRESS           SHA-256                              EXPIRES
    fw1            10.0.0.5:443      10:11:12:13:14:15:16:17:18:19:1A:    in 3 years
                                     1B:1C:1D:1E:1F:20:21:22:23:24:25:
                                     26:27:28:29:2A:2B:2C:2D:2E:2F
    berlin-core-1  10.20.30.40:8443  10:11:12:13:14:15:16:17:18:19:1A:    today
                                     1B:1C:1D:1E:1F:20:21:22:23:24:25:
                                     26:27:28:29:2A:2B:2C:2D:2E:2F
    no room for FIRST SEEN, SUBJECT
    "
  `);
  expect(lines(pins, 120)).toMatchInlineSnapshot(`
    "
    DEVICE         ADDRESS           SHA-256                                   FIRST SEEN                EXPIRES     SUBJECT
    fw1            10.0.0.5:443      10:11:12:13:14:15:16:17:18:19:1A:1B:1C:   2026-11-21T09:30:41.000Z  in 3 years  CN=fw1
                                     1D:1E:1F:20:21:22:23:24:25:26:27:28:29:
                                     2A:2B:2C:2D:2E:2F
    berlin-core-1  10.20.30.40:8443  10:11:12:13:14:15:16:17:18:19:1A:1B:1C:   2026-11-21T09:30:41.000Z  today       CN=b
                                     1D:1E:1F:20:21:22:23:24:25:26:27:28:29:
                                     2A:2B:2C:2D:2E:2F
    "
  `);
});

test('names of devices go on in the next line, and what stands behind them is not lost', () => {
  const names = Array.from({ length: 12 }, (_, at) => `berlin-core-${at + 1}`).join(',');
  const table: TextTable = {
    columns: [
      { title: 'DEVICE', role: 'whole' },
      { title: 'USERNAME', role: 'key' },
      { title: 'LANG', role: 'field' },
    ],
    rows: [[names, 'alice', 'de']],
  };
  expect(lines(table, 60)).toMatchInlineSnapshot(`
    "
    DEVICE                                        USERNAME  LANG
    berlin-core-1,berlin-core-2,berlin-core-3,    alice     de
    berlin-core-4,berlin-core-5,berlin-core-6,
    berlin-core-7,berlin-core-8,berlin-core-9,
    berlin-core-10,berlin-core-11,berlin-core-12
    "
  `);
});

test('where there is no room for a column at all, it is named and not cut off in silence', () => {
  const titles = Array.from({ length: 12 }, (_, at) => `FIELD ${at + 1}`);
  const table: TextTable = {
    columns: [
      { title: 'DEVICE', role: 'whole' },
      { title: 'NAME', role: 'key' },
      ...titles.map((title) => ({ title, role: 'field' as const })),
    ],
    rows: [['fw1', 'alice', ...titles.map((title) => `the value of ${title}`)]],
  };
  expect(lines(table, 60)).toMatchInlineSnapshot(`
    "
    DEVICE  NAME   FIELD 1   FIELD 2   FIELD 3  FIELD 4  FIELD 5
    fw1     alice  the val…  the val…  the va…  the va…  the va…
    no room for FIELD 6, FIELD 7, FIELD 8, FIELD 9, FIELD 10, F…
    "
  `);
});

test('what is whole is never cut, and no line is wider for anything else', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', ',', ' '), maxLength: 40 });
  const role = fc.constantFrom('whole', 'key', 'field', 'extra', 'id', 'note');
  const table = fc.array(role, { minLength: 1, maxLength: 8 }).chain((roles) =>
    fc.record({
      columns: fc.constant(roles.map((one) => ({ title: 'T', role: one }) as const)),
      rows: fc.array(fc.tuple(...roles.map(() => cell)), { maxLength: 4 }),
    }),
  );
  fc.assert(
    fc.property(table, fc.integer({ min: 10, max: 120 }), ({ columns, rows }, width) => {
      const shown = alignedLines({ columns, rows }, width, createStyle(false));
      const text = shown.join('').replace(/\s/g, '');
      const isOnly = columns.every((column) => column.role === 'whole');
      const [first] = rows;
      if (isOnly && columns.length === 1 && first !== undefined) {
        expect(text).toContain((first[0] ?? '').replace(/\s/g, ''));
      }
      if (!columns.some((column) => column.role === 'whole')) {
        for (const line of shown) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});

test('for a program that asked for colours, the header has them, too', () => {
  const [header] = tabbedLines(pins, createStyle(true));
  expect(header).toBe('\u001B[1mDEVICE\tADDRESS\tSHA-256\tFIRST SEEN\tEXPIRES\tSUBJECT\u001B[22m');
  expect([...tabbedLines(pins, createStyle(false))].join('')).not.toContain('\u001B');
});
