import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeOf, scriptLines, Variables } from '../../src/shell/script.ts';
import { parseCompleteLine } from '../../src/text/words.ts';

function words(text: string, values: Readonly<Record<string, string>> = {}): string[] {
  const given = Object.entries(values).map(([name, value]) => ({
    text: `${name}=${value}`,
    start: 0,
    end: 0,
  }));
  const { valueOf } = new Variables(given, {});
  return scriptLines(text).flatMap((line) =>
    parseCompleteLine(line.text, valueOf).map((word) => word.text),
  );
}

test.each([
  ['a \\\n  b', ['a', 'b']],
  ['ab\\\ncd', ['abcd']],
  ['a \\\r\n b\r\nc', ['a', 'b', 'c']],
  ['a \\\\\nb', ['a', '\\', 'b']],
  ['# no \\\nb', ['b']],
  ['a # no \\\nb', ['a', 'b']],
  ['\ufeffa', ['a']],
])('%j is these words', (text, expected) => {
  expect(words(text)).toEqual(expected);
});

test.each([
  ['${X}', ['v w']],
  ['"${X}"', ['v w']],
  ['a=${X}b', ['a=v wb']],
  ["'${X}'", ['${X}']],
  ['\\${X}', ['${X}']],
  ['"\\${X}"', ['${X}']],
  ['${Y:-b c}', ['b c']],
  ['${Y:-}', ['']],
  ['${X:-b}', ['v w']],
  ['$X $', ['$X', '$']],
  ['# ${NOBODY}', []],
])('%s is these words', (text, expected) => {
  expect(words(text, { X: 'v w' })).toEqual(expected);
});

test('whatever is in a value, it stays one word', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom('${V}', '"${V}"', 'a${V}', 'k="${V}"'),
      (value, word) => {
        const told = words(`show ${word} end`, { V: value });
        expect(told).toHaveLength(3);
        expect(told[1]?.endsWith(value)).toBe(true);
      },
    ),
  );
});

test('a column of a joined line is found again in the file', () => {
  const [, line] = scriptLines('first\nab \\\n  cd \\\n ef');
  if (line === undefined) throw new Error('no line');
  expect(line.text).toBe('ab   cd  ef');
  expect(placeOf(line, line.text.indexOf('ab'))).toEqual({ line: 2, column: 1 });
  expect(placeOf(line, line.text.indexOf('cd'))).toEqual({ line: 3, column: 3 });
  expect(placeOf(line, line.text.indexOf('ef'))).toEqual({ line: 4, column: 2 });
});
