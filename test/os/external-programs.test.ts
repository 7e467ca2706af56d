import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { editorWords } from '../../src/os/editor.ts';

test.each([
  ['code --wait', ['code', '--wait']],
  ['vim -c "set tw=80"', ['vim', '-c', 'set tw=80']],
])('EDITOR=%j', (EDITOR, words) => {
  expect(editorWords({ EDITOR })).toEqual(words);
});

test.each(["''", '# vi'])('EDITOR=%j is no program, which is said', (EDITOR) => {
  expect(() => editorWords({ EDITOR })).toThrow(UsageError);
});
