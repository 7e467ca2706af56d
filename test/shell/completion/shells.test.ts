import { describe, expect, test } from 'vitest';
import { type Answer, bash, fish, zsh } from '../../../src/shell/completion/shells.ts';

const BREAKS = ' \t\n"\'@><=;|&(:';

function answer(...texts: readonly string[]): Answer {
  return { candidates: texts.map((text) => ({ text })), takesFile: false };
}

function replies(line: string, ...texts: readonly string[]): string[] {
  return bash
    .read(['9', BREAKS, line])
    .write(answer(...texts))
    .split('\n')
    .slice(1, -1);
}

describe('bash', () => {
  test.each([
    ['devsh user show "a b" c\\ d', ['user', 'show', 'a b'], 'c d'],
    ['devsh ', [], ''],
    ["X=1 devsh use 'fw 1", ['use'], 'fw 1'],
    ['devsh user set bob lang="d', ['user', 'set', 'bob'], 'lang=d'],
    ['devsh user show $(reboot) `x', ['user', 'show', '$(reboot)'], '`x'],
  ])('%s is split as bash would, and nothing in it is carried out', (line, before, typed) => {
    expect(bash.read(['9', BREAKS, line])).toMatchObject({ before, typed });
  });

  test.each([
    ['devsh user set bob lang=d', 'lang=de', 'de'],
    ['devsh user set bob lang="d', 'lang=de', 'de'],
    ['devsh connect 10.0.0.5:8', '10.0.0.5:8443', '8443'],
    ['devsh connect "10.0.0.5:8', '10.0.0.5:8443', '10.0.0.5:8443'],
    ['devsh connect @b', '@berlin', '@berlin'],
    ['devsh user list --on=@b', '--on=@berlin', '@berlin'],
    ['devsh user show O', "O'Brien", "O\\'Brien"],
    ["devsh user show 'O", "O'Brien", "O'\\''Brien"],
    ['devsh user show "a', 'a$b`c"d', 'a\\$b\\`c\\"d'],
  ])('%s becomes %s by what bash puts behind its last break', (line, candidate, reply) => {
    expect(replies(line, candidate)).toEqual([reply]);
  });

  test('only what begins as typed is offered: bash would take the rest away', () => {
    expect(replies('devsh user show B', 'bob', 'Bea')).toEqual(['Bea']);
  });

  test('explains candidates where they are only listed', () => {
    const line = 'devsh tr';
    const listed = bash.read(['63', BREAKS, line]).write({
      candidates: [{ text: 'trust', summary: 'Pins\x1b[31m' }],
      takesFile: false,
    });
    expect(listed).toBe('\ntrust  (Pins^[[31m)\n');
  });
});

test('zsh gets values and what is shown apart, without anything that a terminal obeys', () => {
  const asked = zsh.read(['2', 'la', 'devsh', 'user', 'la', 'behind the cursor']);
  expect(asked).toMatchObject({ before: ['user'], typed: 'la' });
  const candidates = [{ text: 'lang=', summary: 'text\x07', continues: true }, { text: 'last' }];
  expect(asked.write({ candidates, takesFile: true })).toBe(
    'files\nopen\tlang=\tlang=  -- text^G\nwhole\tlast\tlast\n',
  );
});

test('fish gets texts as they are, each with its explanation', () => {
  const asked = fish.read(["devsh user show 'it\\'s"]);
  expect(asked).toMatchObject({ before: ['user', 'show'], typed: "it's" });
  expect(asked.write(answer("it's me"))).toBe("\nit's me\t\n");
});
