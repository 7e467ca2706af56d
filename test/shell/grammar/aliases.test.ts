import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DevshError, RefusedError, UsageError } from '../../../src/errors.ts';
import { checkProject, checkSettings } from '../../../src/settings/settings-schema.ts';
import type { Alias } from '../../../src/settings/settings-table.ts';
import {
  aliasNamed,
  checkAlias,
  expandAlias,
  filledWords,
  isProgram,
  shownRun,
  templateOf,
} from '../../../src/shell/grammar/aliases.ts';
import { separate } from '../../../src/shell/grammar/bind.ts';
import { parseCompleteLine, quoteLine, type Word, wordsOfArgv } from '../../../src/text/words.ts';
import { rounds } from '../../rounds.ts';

/** The words of an alias, checked and filled. */
function filled(
  alias: Alias | string,
  values: Readonly<Record<string, string>> = {},
): readonly string[] {
  return wordsOf(alias, values).map(({ text }) => text);
}

function wordsOf(alias: Alias | string, values: Readonly<Record<string, string>>): readonly Word[] {
  const own = typeof alias === 'string' ? { run: alias } : alias;
  checkAlias('mine', own);
  return filledWords(own, ({ name }) => values[name] ?? '');
}

const LINE = 'user set ${key} lang=${record.lang}';
const PROGRAM = '!ping -c 1 ${address} "user=${record.first_name}"';

describe('a value is one literal word', () => {
  test.each(['bob', `o'neil "b" \\ #x`, 'a b  c', '$(reboot); `x` | y > z', '${key}', '李', '*'])(
    '%j',
    (value) => {
      const words = filled('user show ${record.name}', { 'record.name': value });
      expect(words).toEqual(['user', 'show', value]);
      expect(parseCompleteLine(quoteLine(words)).map(({ text }) => text)).toEqual(words);
    },
  );

  test('a secret is none', () => {
    const hash = '$6$rounds=5000$abcdefgh$' + 'x'.repeat(86);
    for (const run of ['!p ${record.note}', 'user set bob note=${record.note}']) {
      const fill = (): unknown => filled(run, { 'record.note': hash });
      expect(fill).toThrow('${record.note} is a secret: nothing was run');
    }
  });

  test('a default takes the place of no value', () => {
    const alias = 'user set ${key} lang=${record.lang:-de} note="${X:-}"';
    expect(filled(alias, { key: 'bob' })).toEqual(['user', 'set', 'bob', 'lang=de', 'note=']);
    expect(filled('!p ${1:--f}', {})).toEqual(['p', '-f']);
  });
});

describe('a hostile value runs nothing', () => {
  const HOSTILE: readonly [string, RegExp][] = [
    ['-rf', /begins with "-"/],
    ['--yes', /begins with "-"/],
    ['--allow=own-account', /begins with "-"/],
    ['a\nuser delete --where x=y --yes', /control characters/],
    ['a\rb', /control characters/],
    ['a\tb', /control characters/],
    ['a\x00b', /control characters/],
    ['\x1b[2J bob', /control characters/],
    ['bob\u009b31m', /control characters/],
    ['\u202ebob', /control characters/],
    ['a\u2028b', /control characters/],
    ['x'.repeat(100 * 1024), /102400 characters, more than 4096/],
    ['', /has no value here/],
  ];
  const usual = { key: 'bob', address: '10.0.0.1:443', 'record.lang': 'de' };
  test.each(HOSTILE)('%j', (value, reason) => {
    for (const alias of [LINE, PROGRAM]) {
      const fill = (): unknown =>
        filled(alias, { ...usual, 'record.lang': value, 'record.first_name': value });
      expect(fill).toThrow(RefusedError);
      expect(fill).toThrow(reason);
      expect(fill).toThrow(/nothing was run/);
      let message = '';
      try {
        fill();
      } catch (error) {
        message = String(error);
      }
      expect(message.length).toBeLessThan(300);
      expect(message).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    // Also what a person types: a program has no way to tell a word from an option.
    expect(() => filled('!ping ${1}', { 1: value })).toThrow(reason);
  });

  test.each(['role=admin', 'a:=1', 'name~.*'])('%j is no assignment and no condition', (value) => {
    const values = { key: value, 'record.name': value };
    expect(() => filled('user set bob ${record.name}', values)).toThrow(/read as an assignment/);
    expect(() => filled('user set bob lang${record.name}', values)).toThrow(/as an assignment/);
    expect(() => filled('user set ${key} lang=de', values)).toThrow(/read as an assignment/);
    expect(filled('user set bob note=${record.name}', values)).toEqual([
      'user',
      'set',
      'bob',
      `note=${value}`,
    ]);
  });

  test.each(['../..', '.', '..', 'a/b', 'a?b', 'a#b', '%2e', 'a\\b'])(
    '%j leaves no path',
    (value) => {
      const fill = (): unknown => filled('delete /api/user/${record.id}/', { 'record.id': value });
      expect(fill).toThrow(/would change the path/);
    },
  );

  test('whatever the program and the value are, an argument gets letters, digits and . _ @ : + - or nothing', () => {
    const program = fc.stringMatching(/^[a-g./_0-]+$/);
    const code = fc.stringMatching(/^[abc ;()|"'&<]*$/);
    const value = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.stringMatching(/^[aZ0ü李._@:+-]+$/),
    );
    fc.assert(
      fc.property(program, code, value, (name, around, given) => {
        const quoted = quoteLine([around]);
        const run = `!x${name} ${quoted} "a \${record.name} b"`;
        const isPlain = /^[\p{L}\p{Nd}._@:+-]+$/u.test(given) && !given.startsWith('-');
        const fill = () => filled(run, { 'record.name': given }).at(-1);
        if (isPlain) expect(fill()).toBe(`a ${given} b`);
        else expect(fill).toThrow(RefusedError);
      }),
      { numRuns: rounds(20_000) },
    );
  });

  test('in front of a program a variable takes any text, and only one of devsh', () => {
    const run = '!DEVSH_WHO="Mr ${record.name}" DEVSH_B=x greet DEVSH_C=${key}';
    const given = { key: 'bob', 'record.name': `-$(id) 'a" = b` };
    expect(filled(run, given)).toEqual([
      `DEVSH_WHO=Mr ${given['record.name']}`,
      'DEVSH_B=x',
      'greet',
      'DEVSH_C=bob',
    ]);
    expect(() => filled(run, { ...given, key: 'a b' })).toThrow(
      /write DEVSH_KEY=\$\{key\} in front of the program: .* standard input/,
    );
    for (const none of ['!PATH=${key} greet', '!DEVSH_A=${key}', '!DEVSH_A=x ${key}'])
      expect(() => checkAlias('mine', { run: none })).toThrow(/begins with a command/);
  });
});

describe('an alias that cannot be is refused', () => {
  const at = { key: 'X', place: 'table' } as const;
  test.each<[Partial<Alias>, string]>([
    [{ run: '!x', reads: true }, '"reads" is no longer a part of an alias'],
    [{ run: 'user list', ...at, when: 'lang=de' }, '"when" is no longer a part of an alias'],
    [{ run: 'x', prompts: [] }, '"prompts" is no longer a part of an alias'],
    [{ run: 'user list', seconds: 3 }, 'only a program has "seconds"'],
    [{ run: 'user show ${kee}', ...at }, '"${kee}" has no value at this place'],
    [{ run: 'user show ${1}', ...at }, '"${1}" has no value at this place'],
    [{ run: 'run show ${run}', ...at }, '"${run}" has no value at this place'],
    [{ run: 'run show ${run:-1}', ...at }, '"${run}" has no value at this place'],
    [{ run: 'use ${record.x}', ...at, place: 'devices' }, 'no value at this place'],
    [{ run: 'user show ${prompt.x}' }, 'is no variable'],
    [{ run: 'user show ${a b}' }, 'is no variable'],
    [{ run: 'user show ${record.}' }, 'is no variable'],
    [{ run: 'user set bob note=${record.password}' }, 'is a secret'],
    [{ run: 'user set bob note=${TOKEN}' }, 'is a secret'],
    [{ run: '!x ${record.api_token}' }, 'is a secret'],
    [{ run: '!curl https://admin:hunter2@fw1/' }, 'contains no secret'],
    [{ run: '!sync --token abc' }, 'contains no secret'],
    [{ run: '!mysql -phunter2' }, 'contains no secret'],
    [{ run: '${record.name} list' }, 'begins with a command'],
    [{ run: '!${record.name}' }, 'begins with a command'],
    [{ run: '!' }, 'begins with a command'],
    [{ run: '--where user ${key}' }, 'never the command'],
    [{ run: 'user ${key}' }, 'is at the place of a verb'],
    [{ run: 'user se${key} bob' }, 'is at the place of a verb'],
    [{ run: 'user --on fw1 ${key}' }, 'is at the place of a verb'],
    [{ run: 'resource user ${key}' }, 'is at the place of a verb'],
    [{ run: 'user delete --where username=${key}' }, 'cannot follow an option'],
    [{ run: 'user delete bob --on ${record.site}' }, 'cannot follow an option'],
    [{ run: 'user delete bob --on=${record.site}' }, 'cannot follow an option'],
    [{ run: 'user list --${key}' }, 'never an option'],
    [{ run: '!ping --${key}' }, 'never an option'],
    [{ run: '!ping -${record.x}' }, 'never an option'],
    [{ run: 'user set bob ${F}=x' }, 'never the name of a field'],
    [{ run: 'user show "open' }, 'quote'],
    [{ run: '!echo "open' }, 'quote'],
    [{ run: '!echo \0' }, 'NUL'],
    [{ run: 'user list', key: 'X' }, '"key" needs "place"'],
    [{ run: 'user list', place: 'table' }, '"key" needs "place"'],
    [{ run: 'user delete bob --yes' }, '--yes cannot be saved'],
    [{ run: 'user delete bob -y' }, '--yes cannot be saved'],
    [{ run: 'user delete bob -qy' }, '--yes cannot be saved'],
    [{ run: `user delete bob '--yes'` }, '--yes cannot be saved'],
    [{ run: `user delete bob --"yes"` }, '--yes cannot be saved'],
    [{ run: 'user delete bob --yes=true' }, '--yes takes no value'],
    [{ run: 'user delete bob --allow own-account' }, '--allow cannot be saved'],
    [{ run: 'user delete bob --allow=own-account' }, '--allow cannot be saved'],
    [{ run: 'user delete bob --force' }, '--force cannot be saved'],
    [{ run: 'user list --insecure' }, '--insecure cannot be saved'],
    [{ run: '!devsh user delete bob --yes' }, '--yes cannot be saved'],
    [{ run: '!devsh user delete bob --allow=loss' }, '--allow=loss cannot be saved'],
    [{ run: '!devsh user list --insecure' }, '--insecure cannot be saved'],
    [{ run: 'run cleanup.devsh' }, 'an alias runs no script'],
    [{ run: '--json run cleanup.devsh' }, 'an alias runs no script'],
  ])('%j', (alias, message) => {
    const own = { run: '', ...alias };
    expect(() => checkAlias('mine', own)).toThrow(UsageError);
    expect(() => checkAlias('mine', own)).toThrow(message);
  });

  test('what a key says follows no line, even if the line was changed since', () => {
    const words = wordsOfArgv(['mine', 'key=bob', 'record.lang=de', 'devices=a,b', 'lang=fr']);
    const own = { run: 'user set viewer note=x' };
    const options = { env: {}, isHidden: () => false };
    const expanded = (alias: Alias) =>
      expandAlias(words, { mine: alias }, options)?.words.map(({ text }) => text);
    expect(expanded({ ...own, ...at })).toEqual([...own.run.split(' '), 'lang=fr']);
    expect(expanded(own)).toEqual([...own.run.split(' '), ...words.slice(1).map((w) => w.text)]);
  });

  test('-p of a program is a port', () => {
    for (const run of ['!nmap -p 443 fw1', '!ssh -p22 fw1', '!nmap -p ${1} fw1', 'user list']) {
      checkAlias('mine', { run });
      expect(shownRun({ run })).toBe(run);
    }
    expect(shownRun({ run: '!sshpass -p hunter2 ssh fw1' })).not.toContain('hunter2');
  });

  test('a project defines none', () => {
    const run = '!reboot';
    for (const aliases of [{}, { x: 'user list' }, { x: run }, { x: { run, seconds: 3 } }])
      expect(() => checkProject({ aliases }, '.devsh.json')).toThrow(
        '"aliases" is only allowed in your own settings, not in the folder of a project',
      );
  });

  test('the settings name the part that is wrong', () => {
    const check = (alias: object): unknown => checkSettings({ aliases: { mine: alias } }, 'f');
    const run = 'user list';
    expect(() => check({ run, label: 'a\x1b[2J' })).toThrow(
      'f: aliases.mine.label: a short text without control characters',
    );
    expect(() => check({ run, place: 'tabel' })).toThrow(/aliases\.mine\.place: .*"table"/);
    expect(() => check({ run, program: ['x'] })).toThrow('aliases.mine');
    expect(() => check({})).toThrow('aliases.mine.run');
    expect(() => check([run])).toThrow('aliases.mine');
    expect(() => checkSettings({ actions: [] }, 'f')).toThrow(
      'unknown setting "actions"; write it as an alias with a key: {"aliases": {"NAME": {"run":',
    );
    expect(aliasNamed({ mine: run }, 'mine')).toEqual({ run });
    expect(aliasNamed({ mine: run }, 'constructor')).toBeUndefined();
  });
});

describe('whatever an alias is and a device chooses', () => {
  const piece = fc.constantFrom(
    ...['user', 'resource', 'get', 'set', 'delete', 'bob', '--on', '-q', '--', '--where', 'fw1'],
    ...['/api/user/', 'note=', 'lang=de', '--json', '!', '!ping', '!sh', '-c', '-x', 'echo'],
    ...['${key}', '${record.name}', 'note=${record.name}', '"to ${key}"', "'${key}'", 'x${key}y'],
    ...['${record.name}=x', '--${key}', '-${key}', '/api/${key}/', '/${record.name}?x', '\\${key}'],
    ...['${resource}', '--on=${record.name}', 'a=b${key}', '${key}${record.name}', '${key:-z}'],
  );
  const value = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('--yes', '-y', 'a=b', 'a~b', 'a b', '../x', '/x', '"', "'", '$(x)', ';x', '#'),
    fc.constantFrom('delete', 'set', '\0', '\n', '', 'x'.repeat(5_000), '${key}', '\\', '|'),
  );

  /** What the line means: its options, its command and verb, the fields and paths that it names. */
  function meaningOf(words: readonly Word[], program: boolean) {
    if (program) return { count: words.length, options: words.map(({ text }) => /^-/.test(text)) };
    const { plain, given } = separate(words);
    const [noun, ...rest] = plain.map(({ text }) => text);
    return {
      options: given.map(({ option, text }) => [option.key, text]),
      head: [noun, ...rest.slice(0, noun === 'resource' ? 2 : 1)].map((word) =>
        String(word).startsWith('/') ? '/' : word,
      ),
      fields: plain.map(({ text }) => text.split(/[=~]/).length > 1 && text.split(/[=~]/)[0]),
    };
  }

  test('a value is exactly one argument equal to itself, or nothing runs', () => {
    let ran = 0;
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 6 }),
        value,
        value,
        (parts, key, name) => {
          const alias = { run: parts.join(' ') };
          const values = { key, 'record.name': name, resource: name };
          const good = { key: 'bob', 'record.name': 'bob', resource: 'bob' };
          let words: readonly Word[];
          let usual: readonly Word[];
          try {
            usual = wordsOf(alias, good);
            words = wordsOf(alias, values);
            if (!isProgram(alias)) separate(usual);
          } catch (error) {
            if (error instanceof DevshError) return;
            throw error;
          }
          ran += 1;
          const { words: template, placeholders } = templateOf(alias);
          expect(words).toHaveLength(template.length);
          for (const [index, word] of template.entries()) {
            const whole = word.text.replace(/\0(\d+)\0/g, (_mark, at) => {
              const held = placeholders[Number(at)];
              const given = values[held?.name as keyof typeof values];
              return given === '' ? (held?.fallback ?? '') : given;
            });
            expect(words[index]?.text).toBe(whole);
            if (word.text.startsWith('/') && !isProgram(alias))
              expect(whole.split(/[/?#\\]/)).toHaveLength(word.text.split(/[/?#\\]/).length);
            if (word.text.includes('\0') && isProgram(alias))
              expect(whole).not.toMatch(/[$`;|&<>\\*\n]/);
          }
          const hasFallback = placeholders.some(({ fallback }) => fallback !== undefined);
          if (hasFallback) return;
          expect(meaningOf(words, isProgram(alias))).toEqual(meaningOf(usual, isProgram(alias)));
          expect(words.map(({ text }) => text).join('')).not.toMatch(/\p{Cc}/u);
        },
      ),
      { numRuns: rounds(20_000) },
    );
    expect(ran).toBeGreaterThan(20);
  });
});
