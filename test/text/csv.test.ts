import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { csvRows } from '../../src/text/csv.ts';

const cellsOf = (text: string): (readonly string[])[] =>
  csvRows(text, 'a.csv').map(({ cells }) => cells);

test.each([
  ['commas', 'a,b\n1,2\n'],
  ['semicolons, CRLF and a mark', '\ufeffa;b\r\n1;2\r\n'],
  ['tabs and no last line end', 'a\tb\n1\t2'],
  ['a line that names the separator', 'sep=;\r\na;b\r\n1;2\r\n'],
  ['everything in quotes', '"a";"b"\n"1";"2"\n'],
  ['the line ends of an old Mac', 'a,b\r1,2\r'],
  ['line ends of all kinds', 'a,b\r\n1,2\n\r'],
  ['empty lines', '\na,b\n\n,\n1,2\n\n'],
])('reads a table with %s', (_, text) => {
  expect(cellsOf(text)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('keeps separators, quotes, blanks and line breaks within quotes, and quotes within a cell', () => {
  expect(cellsOf('"a;1","say ""hi""\r\nthere","5"" pipe", x \n')).toEqual([
    ['a;1', 'say "hi"\r\nthere', '5" pipe', ' x '],
  ]);
});

test('leaves out blanks around cells where that is asked for', () => {
  expect(csvRows('a , b\n1, "2 " \n', 'a.csv', { trim: true })).toMatchObject([
    { cells: ['a', 'b'] },
    { cells: ['1', '2 '] },
  ]);
});

test.each([
  ['a,b\n"1\n2",x\n3,4\n', [1, 2, 4]],
  ['a,b\r\n"1\r\n2","\r\n"\r\n\r\n3,4\r\n', [1, 2, 6]],
  ['sep=,\na,b\n1,2\n', [2, 3]],
])('says in which line a row begins: %j', (text, lines) => {
  expect(csvRows(text, 'a.csv').map(({ line }) => line)).toEqual(lines);
});

test.each([
  ['a\n\n"ä"\n"open\n\n', 'a.csv:4: the quote that begins here is not closed'],
  ['sep=,\na\n"x"y', 'a.csv:3: text after a closing quote'],
  ['a\n5" pipe\n', 'a.csv:2: a quote in a cell'],
])('says where the quotes of %j are wrong', (text, message) => {
  expect(() => cellsOf(text)).toThrow(UsageError);
  expect(() => cellsOf(text)).toThrow(message);
});
