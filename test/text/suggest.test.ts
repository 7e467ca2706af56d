import { expect, test } from 'vitest';
import { editDistance, suggest } from '../../src/text/suggest.ts';

test.each([
  ['lsit', ['list', 'show'], ['list']],
  ['dvices', ['devices', 'device', 'delete'], ['devices', 'device']],
  ['de', ['devices', 'delete', 'show'], ['delete', 'devices']],
  ['FW1', ['fw1', 'fw2'], ['fw1', 'fw2']],
  ['language', ['lang', 'username'], ['lang']],
  ['users', ['use', 'user'], ['user', 'use']],
  ['x', ['y', 'z'], []],
  ['', ['list'], []],
])('"%s" among %j suggests %j', (word, candidates, expected) => {
  expect(suggest(word, candidates)).toEqual(expected);
});

test('names at most three candidates, each once', () => {
  expect(suggest('fw', ['fw1', 'fw1', 'fw2', 'fw3', 'fw4'])).toEqual(['fw1', 'fw2', 'fw3']);
});

test('counts two swapped letters as one error', () => {
  expect(editDistance('user', 'uesr')).toBe(1);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('kitten', 'sitting')).toBe(3);
});
