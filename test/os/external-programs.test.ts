import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { editorWords } from '../../src/os/editor.ts';
import { pagerWords } from '../../src/os/pager.ts';

test.each([
  ['less -R', ['less', '-R']],
  ['less --prompt "a b"', ['less', '--prompt', 'a b']],
  ['cat', undefined],
  ['  ', undefined],
  ["''", undefined],
  ['# none', undefined],
])('PAGER=%j', (PAGER, words) => {
  expect(pagerWords({ PAGER, PATH: '' }, undefined)).toEqual(words);
  expect(pagerWords({ PAGER, PATH: '' }, false)).toBeUndefined();
});

test.each(["''", '# vi'])('EDITOR=%j is no program, which is said', (EDITOR) => {
  expect(() => editorWords({ EDITOR })).toThrow(UsageError);
});
