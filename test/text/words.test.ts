import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  lineOf,
  parseCompleteLine,
  parseLine,
  quoteLine,
  quoteWord,
  wordsOfArgv,
} from '../../src/text/words.ts';

const texts = (line: string): string[] => parseLine(line).words.map(({ text }) => text);

describe('a line', () => {
  test.each([
    ['', []],
    ['user list', ['user', 'list']],
    ['  user\tlist  ', ['user', 'list']],
    [`user add first_name='Ann Marie'`, ['user', 'add', 'first_name=Ann Marie']],
    [`"a \\"b\\" \\\\ \\n"`, ['a "b" \\ \\n']],
    [`a\\ b 'c\\'`, ['a b', 'c\\']],
    [`'' ""`, ['', '']],
    ['get /api/ # all of it', ['get', '/api/']],
    ['use fw#1', ['use', 'fw#1']],
    ['# only a remark', []],
  ])('%s has the words %j', (line, words) => {
    expect(texts(line)).toEqual(words);
  });

  test('keeps the position of each word, quotes included', () => {
    expect(parseLine(`user add a="b c" d`).words.at(2)).toEqual({
      text: 'a=b c',
      start: 9,
      end: 16,
    });
  });

  test.each([
    [`user show 'bob`, "'", 10],
    [`user show "bob`, '"', 10],
    ['user show bob\\', '\\', 13],
  ])('%s knows what is open and where', (line, mark, column) => {
    expect(parseLine(line).open).toEqual({ mark, column });
    expect(() => parseCompleteLine(line)).toThrow(expect.objectContaining({ column, exitCode: 2 }));
  });
});

test('words that are quoted and joined are read back as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (words) => {
      expect(texts(quoteLine(words))).toEqual(words);
    }),
  );
});

test('the words of argv stand where they stand in the quoted line', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (argv) => {
      expect(wordsOfArgv(argv)).toEqual(parseLine(quoteLine(argv)).words);
    }),
  );
});

test('no line makes the parser throw, and words come in order', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (line) => {
      const { words } = parseLine(line);
      words.forEach((word, index) => {
        expect(word.start).toBeGreaterThanOrEqual(words[index - 1]?.end ?? 0);
        expect(word.end).toBeLessThanOrEqual(line.length);
      });
    }),
  );
});

test('no word of a line that keys make is read as an option', () => {
  const word = fc
    .tuple(fc.constantFrom('', '-', '--', "'-"), fc.string())
    .map((two) => two.join(''));
  fc.assert(
    fc.property(fc.array(word), (names) => {
      const all = texts(lineOf('user delete', names.map(quoteWord), ['--on fw1']));
      const end = all.indexOf('--');
      const isDashed = names.some((name) => name.startsWith('-'));
      const last = isDashed ? all.slice(end + 1) : all.slice(2, -2);
      expect(last).toEqual(names);
      expect(all.slice(0, 2)).toEqual(['user', 'delete']);
      expect(isDashed ? all.slice(2, end) : all.slice(-2)).toEqual(['--on', 'fw1']);
    }),
  );
});
