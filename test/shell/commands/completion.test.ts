import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMPLETION_SHELLS } from '../../../src/shell/completion/shells.ts';
import { makeDevsh } from '../../main/devsh.ts';
import { startProgram } from '../../main/process.ts';
import { makeHome } from '../completion/shells/real-shell.ts';

test.each(COMPLETION_SHELLS)(
  '"completion $name" prints its script, letter by letter',
  async (shell) => {
    const devsh = await makeDevsh();
    const { stdout, exitCode } = await devsh(['completion', shell.name]);
    expect({ stdout, exitCode }).toEqual({ stdout: shell.script, exitCode: 0 });
  },
);

test('"completion" explains the set-up for the shell in use, else for all', async () => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh('completion', { env: { SHELL: '/usr/bin/fish' } });
  expect(stdout).toContain('Completion for fish');
  expect(stdout).toContain('For bash, zsh: devsh completion SHELL');
  const all = await devsh('completion', { env: { SHELL: '/bin/tcsh' } });
  for (const { name } of COMPLETION_SHELLS) expect(all.stdout).toContain(`Completion for ${name}`);
});

test('a shell that is not known is refused, with one that is', async () => {
  const devsh = await makeDevsh();
  const old = await devsh('completion powershell');
  expect(old.stderr).toContain('the shells are bash, zsh, fish');
  const { stderr, exitCode } = await devsh('completion bsh');
  expect(stderr).toContain("'bash'");
  expect(exitCode).toBe(2);
});

test('completion reads an inventory that is new, remembered keys and resources', async () => {
  const { folder } = await makeHome();
  const complete = async (line: string): Promise<string[]> => {
    const { stdout, stderr, code } = await startProgram(['__complete', 'fish', line], folder).ended;
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    return stdout.split('\n').flatMap((reply) => reply.split('\t')[0] ?? []);
  };
  expect(await complete('devsh connect ')).toEqual(
    expect.arrayContaining(['fw1', 'fw2', '@berlin', '@paris', '@all']) as string[],
  );
  expect(await complete('devsh user delete --on fw1 b')).toEqual(['', 'back\\slash', 'bob', '']);
  expect(await complete('devsh vlan show --on fw2 ')).toContain('guest');
  expect(await complete('devsh help exit')).toContain('exit-codes');
  expect(await complete('devsh completion z')).toContain('zsh');
});

test('completion reads the inventory that the environment names, and fails in silence without one', async () => {
  const { folder } = await makeHome();
  const file = join(folder, 'lab.yaml');
  await writeFile(file, 'devices:\n  - {name: lab7, address: 10.7.0.7}\n');
  const run = (env: NodeJS.ProcessEnv) =>
    startProgram(['__complete', 'fish', 'devsh connect '], folder, '', env).ended;
  expect((await run({ DEVSH_INVENTORY: file })).stdout).toMatch(/^lab7\t/m);
  await writeFile(file, 'devices: [');
  const broken = await run({ DEVSH_INVENTORY: file });
  expect(broken).toMatchObject({ stdout: '\n', stderr: '', code: 0 });
});

test('what cannot be answered is said on stderr alone', async () => {
  const { folder } = await makeHome();
  const { stdout, stderr, code } = await startProgram(['__complete', 'tcsh'], folder).ended;
  expect({ stdout, stderr, code }).toEqual({
    stdout: '',
    stderr: 'devsh: there is no completion for "tcsh"\n',
    code: 1,
  });
});
