import type { Grammar } from '../../src/shell/command.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { profileJsonSchema } from '../../src/device/profile-schema.ts';
import { parse as parseYaml } from 'yaml';
import { parseChangeSet } from '../../src/change/change-set.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { isResourceName } from '../../src/device/profile.ts';
import { parseInventory } from '../../src/fleet/inventory-text.ts';
import { checkProject, checkSettings } from '../../src/settings/settings-schema.ts';
import { bind } from '../../src/shell/grammar/bind.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { resourceCommand } from '../../src/shell/commands/resource.ts';
import { documentSchema } from '../../src/shell/help/document-schema.ts';
import { parseCompleteLine } from '../../src/text/words.ts';
import { keymapWith } from '../../src/tui/keys/alias-keys.ts';
import { blocksOf, inlineCode, type Block } from './markdown.ts';
import { readPages } from './pages.ts';

const pages = readPages();
const blocks = pages.flatMap(({ path, text }) =>
  blocksOf(text).map((block) => ({ ...block, path, place: `${path}:${block.line}` })),
);

function ofLanguage(...languages: readonly string[]): typeof blocks {
  return blocks.filter(({ language }) => languages.includes(language));
}

const GRAMMAR: Grammar = {
  commands: COMMANDS,
  resourceFor: (name, next, isLikeCommand) => {
    const command = resourceCommand(name);
    const isMeant = !isLikeCommand && command.verbs.some((verb) => verb.name === next);
    return isResourceName(name) && isMeant ? command : undefined;
  },
};

/** Why a line is no line of devsh; undefined when it is. */
const isProfile = new Ajv2020({ strict: false }).compile(profileJsonSchema() as object);

function problemOf(line: string): string | undefined {
  try {
    const words = parseCompleteLine(line);
    if (words.length > 0) bind(words, GRAMMAR);
    return undefined;
  } catch (error) {
    return `${line}: ${String(error)}`;
  }
}

/** What a shell gives to each devsh of a line: `NAME=x devsh a | devsh b > file # why`. */
function devshLines(line: string): string[] {
  const [, code = ''] = /^((?:'[^']*'|"[^"]*"|(?!\s#).)*)/.exec(` ${line}`) ?? [];
  return code
    .split(/\sdevsh(?=\s|$)/)
    .slice(1)
    .map(ownWords);
}

/** The line up to the first pipe or redirection, without what only a shell can fill in. */
function ownWords(line: string): string {
  const [own = ''] = /^(?:'[^']*'|"[^"]*"|(?!\s(?:\||>>?|<|&&|;)(?:\s|$)).)*/.exec(line) ?? [];
  return own.replace(/\s"\$@"/, '');
}

test.each(ofLanguage('sh', 'console', 'yaml'))(
  'devsh understands its command lines in $place',
  ({ language, text }) => {
    const lines = text.replaceAll('\\\n', ' ').split('\n');
    const typed = language === 'console' ? lines.filter((line) => line.startsWith('$ ')) : lines;
    const problems = typed.flatMap(devshLines).map(problemOf);
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  },
);

test.each(ofLanguage('devsh'))('each line of $place can be typed at the prompt', ({ text }) => {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  const typed = lines.filter((line) => !/^set [-+]e\b/.test(line));
  const problems = typed.map((line) => problemOf(ownWords(line)));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

test.each(pages)('devsh understands the lines that $path has in its text', ({ text }) => {
  // A command may be named without what it needs.
  const lines = inlineCode(text)
    .flatMap(devshLines)
    .map((line) => `${line} --help`);
  expect(lines.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
});

test.each(ofLanguage('yaml'))('the YAML in $place is right', ({ text, path }) => {
  if (/^- (?:add|set|delete):/m.test(text)) parseChangeSet(text, path);
  else if (/^(?:devices|groups):/m.test(text)) parseInventory(text, path);
  else if (/^extends:/m.test(text)) {
    parseProfile(text, path, 'example');
    expect(isProfile(parseYaml(text)), JSON.stringify(isProfile.errors)).toBe(true);
  } else for (const part of text.split(/^---$/m)) parseYaml(part);
});

test.each(ofLanguage('json'))('the JSON in $place is right', ({ text, path }) => {
  const data = JSON.parse(text) as object;
  if ('schema' in data) documentSchema.parse(data);
  else if ('on' in data) checkProject(data, path);
  else keymapWith(checkSettings(data, path).aliases, path);
});

test('every fence says what is in it', () => {
  const known = /^(?:sh|console|devsh|yaml|json|ts|text)$/;
  const unknown = (block: Block): boolean => !known.test(block.language);
  expect(blocks.filter(unknown).map(({ place }) => place)).toEqual([]);
});
