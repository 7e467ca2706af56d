import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { hasProgram, startShell, type RealShell } from './real-shell.ts';

/** What is typed before Tab and Enter, and what devsh is then called with. */
const LINES: readonly (readonly [typed: string, argv: readonly string[]])[] = [
  ['conn', ['connect']],
  ['user sho', ['user', 'show']],
  ['user list --fol', ['user', 'list', '--fold']],
  ['user list --format jsonl', ['user', 'list', '--format', 'jsonl']],
  ['user list --format=ya', ['user', 'list', '--format=yaml']],
  ['user list --on fw1 usern', ['user', 'list', '--on', 'fw1', 'username=']],
  ['connect @ber', ['connect', '@berlin']],
  ['user list --on=@par', ['user', 'list', '--on=@paris']],
  ['connect fw2', ['connect', 'fw2']],
  ['vl', ['vlan']],
  ['vlan show gu', ['vlan', 'show', 'guest']],
  ['user show bo', ['user', 'show', 'bob']],
  ['user show two', ['user', 'show', 'two words']],
  ['user show two\\ w', ['user', 'show', 'two words']],
  ['user show "two w', ['user', 'show', 'two words']],
  ["user show 'two w", ['user', 'show', 'two words']],
  ['user show dol', ['user', 'show', 'dollar$(touch pwned)$HOME']],
  ["user show 'dol", ['user', 'show', 'dollar$(touch pwned)$HOME']],
  ['user show "dol', ['user', 'show', 'dollar$(touch pwned)$HOME']],
  ['user show tic', ['user', 'show', 'tick`touch pwned`']],
  ['user show sem', ['user', 'show', 'semi;touch pwned']],
  ['user show O', ['user', 'show', "O'Brien"]],
  ['user show dq', ['user', 'show', 'dq"uote']],
  ['user show bac', ['user', 'show', 'back\\slash']],
  ['user show col', ['user', 'show', 'colon:one']],
  ['user show colon:o', ['user', 'show', 'colon:one']],
  ['user show eq', ['user', 'show', 'eq=one']],
  ['user show eq=o', ['user', 'show', 'eq=one']],
  ['user show \\!b', ['user', 'show', '!bang']],
  ['user show -- -d', ['user', 'show', '--', '-dash']],
  ['user show \\~t', ['user', 'show', '~tilde']],
  ['user show \\*s', ['user', 'show', '*star']],
  ['user show \\#h', ['user', 'show', '#hash']],
  ['user show \\(p', ['user', 'show', '(paren']],
  ['user show üm', ['user', 'show', 'ümlaut']],
  ['apply my', ['apply', 'my change.yaml']],
  ['plan x -o my', ['plan', 'x', '-o', 'my change.yaml']],
  ['user list --ca=my', ['user', 'list', '--ca=my change.yaml']],
];

const SHELLS = [
  {
    name: 'bash',
    args: ['--norc', '--noprofile', '-i'],
    setUp: 'eval "$(devsh completion bash)"',
  },
  {
    name: 'zsh',
    args: ['-f', '-i'],
    setUp: 'autoload -U compinit; compinit -u -d $HOME/zcompdump; source <(devsh completion zsh)',
  },
  {
    name: 'fish',
    args: ['--no-config', '--interactive'],
    setUp: 'devsh completion fish | source',
  },
];

describe.each(SHELLS)('$name', ({ name, args, setUp }) => {
  test.skipIf(!hasProgram(name))(
    'completes what is known, whatever its name, and carries none of it out',
    { timeout: 120_000 },
    async () => {
      const shell: RealShell = await startShell(name, args, setUp);
      const wrong: unknown[] = [];
      for (const [typed, wanted] of LINES) {
        const got = await shell.call(`devsh ${typed}\t`);
        if (!isDeepStrictEqual(got, wanted)) wrong.push({ typed, wanted, got });
      }
      expect(wrong).toEqual([]);
      await expect(access(join(shell.folder, 'files', 'pwned'))).rejects.toThrow('ENOENT');
    },
  );
});
