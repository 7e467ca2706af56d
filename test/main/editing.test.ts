import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startFleet, type TestFleet } from './devsh.ts';

/** An editor that runs the script on `text`, and records file and arguments. */
async function editor({ devsh }: TestFleet, script: string): Promise<string> {
  const file = join(devsh.folder, 'editor.mjs');
  await writeFile(
    file,
    `import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
     import { dirname } from 'node:path';
     import { setTimeout } from 'node:timers/promises';
     const file = process.argv.at(-1);
     const mode = (path) => (statSync(path).mode & 0o777).toString(8);
     let text = readFileSync(file, 'utf8');
     const log = (line) => appendFileSync('${join(devsh.folder, 'log')}', line + '\\n');
     log(JSON.stringify({ file, mode: mode(file), folder: mode(dirname(file)), args: process.argv.slice(2, -1),
       hasSecret: 'DEVSH_PASSWORD' in process.env, text }));
     ${script}
     writeFileSync(file, text);`,
  );
  return `"${process.execPath}" "${file}" '--wait for it'`;
}

async function opened(fleet: TestFleet): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(fleet.devsh.folder, 'log'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('records edited as text become a plan, and only changes are sent', async () => {
  const fleet = await startFleet({ devices: 2 });
  const EDITOR = await editor(fleet, `text = text.replace(/^lang: .*/m, 'lang: fr');`);
  const { stdout, exitCode, stderr } = await fleet.devsh(
    'user edit viewer admin --on @lab --yes --json',
    { env: { EDITOR }, tty: [] },
  );
  expect(exitCode, stderr).toBe(0);
  const { results } = JSON.parse(stdout) as { results: { device: string; verdict: string }[] };
  expect(results.map(({ device, verdict }) => `${device} ${verdict}`)).toEqual([
    'sim1 done',
    'sim2 done',
  ]);
  const [first] = await opened(fleet);
  expect(first).toMatchObject({
    mode: '600',
    folder: '700',
    args: ['--wait for it'],
    hasSecret: false,
  });
  expect(first?.['text']).toMatch(/^--- # record 1: user admin on sim1, sim2$/m);
  expect(existsSync(String(first?.['file']))).toBe(false);
});

test('an unchanged text plans nothing', async () => {
  const fleet = await startFleet();
  const EDITOR = await editor(fleet, '');
  const { stderr, exitCode } = await fleet.devsh('user edit viewer --on sim1', {
    env: { EDITOR },
    tty: [],
  });
  expect(stderr).toContain('nothing was changed');
  expect(exitCode).toBe(0);
  expect(fleet.writes()).toEqual([]);
});

test('a mistake opens the editor again with what is wrong on top; giving up changes nothing', async () => {
  const fleet = await startFleet();
  const EDITOR = await editor(fleet, `text = text.replace(/^lang: .*/m, 'lang: a: b');`);
  const { stderr, exitCode } = await fleet.devsh('user edit viewer --on sim1 --yes', {
    env: { EDITOR },
    tty: [],
  });
  expect(stderr).toContain('the text is unchanged: nothing was changed');
  expect(exitCode).toBe(6);
  const texts = (await opened(fleet)).map(({ text }) => String(text).split('\n')[0]);
  expect(texts).toEqual([
    expect.stringMatching(/^# Change values/),
    expect.stringMatching(/^# REJECTED: user\.yaml:\d+:\d+: /),
  ]);
});

test('a record removed from the text stays unchanged, with a message', async () => {
  const fleet = await startFleet();
  const EDITOR = await editor(fleet, `text = text.slice(0, text.indexOf('--- # record 2'));`);
  const { stderr, exitCode } = await fleet.devsh('user edit admin viewer --yes --on sim1', {
    env: { EDITOR },
    tty: [],
  });
  expect(stderr).toMatch(/unchanged on the device: viewer \("user delete KEY" deletes\)/);
  expect(exitCode).toBe(0);
  expect(fleet.writes()).toEqual([]);
});

test('a field that changed while it was edited is drift, and not overwritten', async () => {
  const fleet = await startFleet();
  const changed = join(fleet.devsh.folder, 'changed');
  const EDITOR = await editor(
    fleet,
    `text = text.replace(/^lang: .*/m, 'lang: fr');
     while (!existsSync('${changed}')) await setTimeout(10);`,
  );
  const running = fleet.devsh('user edit viewer --yes --on sim1', { env: { EDITOR }, tty: [] });
  await vi.waitFor(() => opened(fleet), 10_000);
  fleet.device(1).putUser({ username: 'viewer', lang: 'de' });
  await writeFile(changed, '');
  const { exitCode, stderr } = await running;
  expect(exitCode, stderr).toBe(7);
  expect(fleet.writes()).toEqual([]);
});

test('without a terminal nothing is opened', async () => {
  const fleet = await startFleet();
  const { stderr, exitCode } = await fleet.devsh('user edit viewer --on sim1 --yes');
  expect(exitCode).toBe(6);
  expect(stderr).toContain('needs a terminal');
});

test.each([
  ['EDITOR is no program', { EDITOR: '/no/such/editor' }, 2, 'the program does not exist'],
  ['EDITOR may not be run', { EDITOR: '/etc/passwd' }, 2, 'it is not executable'],
  ['the editor ends with an error', { VISUAL: 'false' }, 6, 'the editor ended with 1'],
])('%s', async (_title, env, code, message) => {
  const fleet = await startFleet();
  const { stderr, exitCode } = await fleet.devsh('user edit viewer --on sim1 --yes', {
    env: { PATH: process.env['PATH'], ...env },
    tty: [],
  });
  expect(stderr).toContain(message);
  expect(exitCode).toBe(code);
});
