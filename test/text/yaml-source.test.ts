import { expect, test, vi } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { YamlSource } from '../../src/text/yaml-source.ts';

const source = (text: string): YamlSource => new YamlSource(text, 'set.yaml', UsageError);

test('the mark that editors of Windows put in front, and their line ends, change nothing', () => {
  const text = '- add: user\r\n  fields:\r\n    lang: de\r\n';
  expect(source(`\ufeff${text}`).data()).toEqual([{ add: 'user', fields: { lang: 'de' } }]);
});

test('a text nested too deep is said to be so', () => {
  expect(() => source('['.repeat(20_000)).data()).toThrow(
    /^set\.yaml:1:\d+: it is nested too deeply$/,
  );
});

test('the library itself writes no warning', () => {
  const warn = vi.spyOn(process, 'emitWarning');
  source('? [a, b]\n: c\n').data();
  expect(warn).not.toHaveBeenCalled();
});

test('`<<` merges', () => {
  expect(source('- &a {lang: de}\n- <<: *a\n  username: bob\n').data()).toEqual([
    { lang: 'de' },
    { lang: 'de', username: 'bob' },
  ]);
});

test.each(['!vault', '!include', '!!binary', '!<tag:example.net,2026:x>'])(
  'a tag that says more than its text is refused at its place: %s',
  (tag) => {
    expect(() => source(`- password: ${tag} abc\n`).data()).toThrow(
      'set.yaml:1:13: devsh knows no YAML tags: write the value itself',
    );
  },
);

test('of several documents none is read', () => {
  expect(() => source('a: 1\n---\nb: 2\n').data()).toThrow(
    /^set\.yaml:2:\d+: it has several documents: devsh reads one, so remove "---"$/,
  );
});

test.each(['- __proto__: 1\n', '- "\\u005f_proto__": 1\n', 'a: {b: {__proto__: {c: 1}}}\n'])(
  'a name that would be lost is refused at its place: %j',
  (text) => {
    expect(() => source(text).data()).toThrow(
      /^set\.yaml:1:\d+: "__proto__" cannot be the name of a field$/,
    );
  },
);
