import { expect, test } from 'vitest';
import { cellOffset, csvLines, TextFailure } from '../../../src/change/record-file/read-csv.ts';

const cellsOf = (text: string): (readonly string[])[] =>
  Array.from(csvLines(text), ({ cells }) => cells);

test.each([
  ['commas', 'a,b\n1,2\n'],
  ['semicolons, CRLF and a mark', '\ufeffa;b\r\n1;2\r\n'],
  ['tabs and no last line end', 'a\tb\n1\t2'],
  ['a line that names the separator', 'sep=;\r\na;b\r\n1;2\r\n'],
  ['everything in quotes', '"a";"b"\n"1";"2"\n'],
  ['the line ends of an old Mac', 'a,b\r1,2\r'],
  ['empty lines', '\na,b\n\n,\n1,2\n\n'],
])('reads a table with %s', (_, text) => {
  expect(cellsOf(text)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('keeps separators, quotes and line breaks within quotes, and quotes within a cell', () => {
  expect(cellsOf('"a;1","say ""hi""\nthere",5" pipe\n')).toEqual([
    ['a;1', 'say "hi"\nthere', '5" pipe'],
  ]);
});

test('says where a cell begins, also behind line breaks in cells', () => {
  const text = 'a,b\n"1\n2",x\n';
  const [, line] = csvLines(text);
  expect(line && cellOffset(text, line, 1)).toBe(text.indexOf('x'));
});

test.each([
  ['a\n"open', 2],
  ['a\n"x"y', 5],
])('says where the quotes of %j are wrong', (text, offset) => {
  expect(() => cellsOf(text)).toThrow(TextFailure);
  try {
    cellsOf(text);
  } catch (error) {
    expect(error).toMatchObject({ offset });
  }
});
