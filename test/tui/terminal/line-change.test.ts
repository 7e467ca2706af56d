import { expect, test } from 'vitest';
import { changedCells } from '../../../src/tui/terminal/line-change.ts';

const bar = (text: string) => `\x1b[7m${text}\x1b[0m\x1b[m`;

test.each([
  ['nothing', 'one two', 'one two', ''],
  ['a cell far right', 'name            de', 'name            en', '\x1b[17Gen'],
  ['two cells beside each other', 'abcdefgh', 'aXcYefgh', 'aXcY'],
  ['a shorter line', 'a long line', 'a', '\x1b[2G\x1b[K'],
  ['blanks at the end', 'kept      gone', 'kept          ', '\x1b[5G\x1b[K'],
  [
    'a colour alone',
    'some words here',
    'some words \x1b[1mhere\x1b[0m\x1b[m',
    '\x1b[12G\x1b[1mhere\x1b[m',
  ],
  ['a bar that is gone', bar('row'), 'row', 'row'],
  [
    'many blanks',
    bar('row                 end'),
    'row                 end',
    'row\x1b[17X\x1b[21Gend',
  ],
  ['a wide character', '          表x', '          示x', '\x1b[11G示'],
  ['a letter in place of a wide one', '表 x', 'ab x', 'ab'],
])('writes only what changed: %s', (_, before, after, bytes) => {
  expect(changedCells(before, after)).toBe(bytes);
});

test('does not guess cells after a character of unsure width', () => {
  expect(changedCells('a  \x1b[2G❤️\x1b[4Gx', 'a     y')).toBeUndefined();
  expect(changedCells('a     y', 'a  \x1b[2G❤️\x1b[4Gx')).toBeUndefined();
});
