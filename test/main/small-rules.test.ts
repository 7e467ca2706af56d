import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { valueText } from '../../src/device/record.ts';
import { quotedTexts } from '../../src/output/cells.ts';
import { rounds } from '../rounds.ts';
import { startFleet, usernames } from './devsh.ts';

test('an id that is another record on each device is refused for every write, and names say which', async () => {
  const { devsh, device, writes } = await startFleet({ devices: 3 });
  const uuid = '00000000-0000-4000-8000-000000000007';
  for (const [at, username] of ['bob', 'eve', 'bob'].entries()) {
    device(at + 1).putUser({ uuid, username, lang: 'de' });
  }
  for (const line of [
    `user delete ${uuid}`,
    `user set ${uuid} lang=fr`,
    `user delete uuid=${uuid}`,
  ]) {
    for (const how of ['--yes', '--dry-run']) {
      const { stderr, exitCode } = await devsh(`${line} --on @lab ${how}`);
      expect(stderr).toContain('the uuid of bob on sim1, sim3 and the uuid of eve on sim2');
      expect(stderr).toContain('bob" or "user ');
      expect(exitCode).toBe(6);
    }
  }
  expect(writes()).toEqual([]);
  const { exitCode } = await devsh(`user delete ${uuid} --on sim1,sim3 --yes`);
  expect(exitCode).toBe(0);
  expect(usernames(device(1))).not.toContain('bob');
});

test('with --yes a project file selects no devices, the variable and the own settings do', async () => {
  const { devsh, writes } = await startFleet({ devices: 2 });
  const cwd = join(devsh.folder, 'project');
  await mkdir(cwd);
  await writeFile(join(cwd, '.devsh.json'), '{"on":"@all"}');
  for (const line of ['user set viewer lang=fr', 'user delete viewer', 'post /api/reload/ now=1']) {
    const { stderr, exitCode } = await devsh(`${line} --yes`, { cwd });
    expect(stderr).toContain('--yes needs devices that you name');
    expect(exitCode).toBe(6);
  }
  expect(writes()).toEqual([]);
  expect((await devsh('user list', { cwd })).exitCode).toBe(0);
  const line = 'user set viewer lang=fr --yes';
  expect((await devsh(line, { cwd, env: { DEVSH_ON: 'sim1' } })).exitCode).toBe(0);
  await devsh('config set on sim2');
  expect((await devsh(line)).exitCode).toBe(0);
  expect(writes()).toHaveLength(2);
});

test('pending and resume end with 3 if a journal cannot be read', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  await devsh('user add username=zoe lang=de --on sim1 --yes');
  await writeFile(join(devsh.folder, 'state/devsh/runs/29990101-000000-aaaa7m.jsonl'), '{}\n', {
    mode: 0o600,
  });
  for (const line of ['pending', 'pending --json', 'resume --yes']) {
    const { stderr, stdout, exitCode } = await devsh(line);
    expect(stderr + stdout).toContain('unreadable journals');
    expect([line, exitCode]).toEqual([line, 3]);
  }
});

test('two values of different types never have the same text beside each other', () => {
  const value = fc.oneof(fc.boolean(), fc.integer(), fc.double({ noNaN: true }));
  fc.assert(
    fc.property(value, fc.boolean(), (one, isFirst) => {
      const pair = isFirst ? ([one, String(one)] as const) : ([String(one), one] as const);
      const [text, other] = quotedTexts('level', pair[0], pair[1]);
      expect(text).not.toBe(other);
      expect([text, other]).toContain(valueText(one));
    }),
    { numRuns: rounds(1000) },
  );
});
