import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recipe, startLab, type Lab } from './lab.ts';

const hasAnsible = spawnSync('ansible-playbook', ['--version']).status === 0;

async function play({ run }: Lab, ...more: string[]): Promise<string> {
  const words = ['-e', 'change_set=change.yaml', '-e', 'devices=@lab', ...more];
  const env = { ANSIBLE_NOCOLOR: '1', ANSIBLE_LOCALHOST_WARNING: 'false' };
  const { stdout, stderr } = await run(
    'ansible-playbook',
    [recipe('ansible-task.yaml'), ...words],
    env,
  );
  return /localhost +: (.*)/.exec(stdout)?.[1] ?? stdout + stderr;
}

describe.skipIf(!hasAnsible)(`ansible-playbook${hasAnsible ? '' : ' (skipped: not here)'}`, () => {
  test(
    'reports changed if devsh executed something, and its check mode is right',
    { timeout: 180_000 },
    async () => {
      const lab = await startLab({ devices: 2 });
      const { folder, devices, writes, run } = lab;
      const file = join(folder, 'change.yaml');
      await writeFile(file, '- add: user\n  fields: {username: zoe, lang: de}\n');
      const syntax = await run('ansible-playbook', ['--syntax-check', recipe('ansible-task.yaml')]);
      expect([syntax.code, syntax.stderr]).toEqual([0, expect.not.stringContaining('ERROR')]);
      expect(await play(lab, '--check')).toMatch(/^ok=1 +changed=1 /);
      expect(writes()).toBe(0);
      expect(await play(lab)).toMatch(/^ok=1 +changed=1 /);
      expect(writes()).toBe(2);
      expect(await play(lab, '--check')).toMatch(/^ok=1 +changed=0 /);
      expect(await play(lab)).toMatch(/^ok=1 +changed=0 /);
      devices[1]?.setFault('refuse');
      expect(await play(lab)).toMatch(/failed=1 /);
      expect(writes()).toBe(2);
    },
  );
});
