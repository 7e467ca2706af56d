import { expect, test } from 'vitest';
import type { FieldFacts } from '../../src/device/profile-schema.ts';
import { checkValue } from '../../src/change/typed-fields.ts';
import { textOf } from '../../src/output/sentences.ts';
import { problemsIn } from './steps.ts';

const choice = { type: 'choice', choices: [{ value: 'de' }, { value: 'en' }] };

test.each([
  ['as long as it may be', { type: 'string', maxLength: 3 }, 'Zoë', undefined],
  ['one too long', { type: 'string', maxLength: 3 }, 'Zoës', /4 characters, 3 at most/],
  ['of two units a character', { type: 'string', maxLength: 2 }, '🦊🦊', undefined],
  ['a choice', choice, 'en', undefined],
  ['no choice', choice, 'xx', 'not one of de, en'],
  ['choices nobody named', { type: 'choice', choices: [] }, 'xx', undefined],
  ['a number', { type: 'integer', min: 1, max: 5 }, '5', undefined],
  ['a number too large', { type: 'integer', min: 1, max: 5 }, '6', 'more than 5'],
  ['a number too small', { type: 'float', min: 1 }, '0.5', 'less than 1'],
  ['no number', { type: 'integer' }, '1.5', 'not a whole number'],
  ['a word', { type: 'boolean' }, 'maybe', 'neither true nor false'],
  ['a boolean', { type: 'boolean' }, true, undefined],
  ['nothing', { type: 'integer', min: 1 }, '', undefined],
  ['a type of the device', { type: 'slug' }, 'a b', undefined],
])('%s', (_title, limits, value, problem) => {
  const found = checkValue(limits, value);
  const text = found && textOf(found);
  if (problem instanceof RegExp) expect(text).toMatch(problem);
  else expect(text).toBe(problem);
});

test('required fields must be set in a new record and must not be emptied later', () => {
  const details: Record<string, FieldFacts> = {
    name: { type: 'string', required: true, readOnly: false },
    id: { type: 'integer', required: true, readOnly: true },
  };
  expect(problemsIn(details, {}, true)).toEqual({ name: 'required' });
  expect(problemsIn(details, {}, false)).toEqual({});
  expect(problemsIn(details, { name: '', id: '3' }, false)).toEqual({
    name: 'required',
    id: 'read-only',
  });
  expect(problemsIn(details, { name: 'a', other: 'b' }, true)).toEqual({});
});
