import { expect, test } from 'vitest';
import { startFleet } from '../main/devsh.ts';

interface Answers {
  readonly answers: readonly { readonly value: unknown }[];
}

test.each(['next', 'page', 'offset'] as const)(
  'get follows a list to its end, with paging %s, and says how many pages there were',
  async (paging) => {
    const { devsh, device } = await startFleet({ profile: 'drf', paging, users: 12, pageSize: 5 });
    const { stdout, stderr, exitCode } = await devsh('get /api/user/ --on sim1 --json');
    const { answers } = JSON.parse(stdout) as Answers;
    const names = device(1).users.map(({ username }) => ({ username }));
    expect(answers).toMatchObject([{ value: names }]);
    expect(answers[0]?.value).toHaveLength(12);
    expect(stderr).toContain('sim1: 12 records on 3 pages');
    expect(exitCode).toBe(0);

    const lines = await devsh('get /api/user/ --on sim1 --format jsonl');
    expect(lines.stdout.trim().split('\n')).toHaveLength(3);

    const from = device(1).log.length;
    await devsh('get /api/user/ --on sim1 --raw');
    expect(device(1).log.slice(from)).toHaveLength(1);
  },
);

test('get does not follow pages of a non-list or of a requested page', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', paging: 'next', users: 12 });
  const from = device(1).log.length;
  await devsh('get /api/system/ --on sim1');
  await devsh('get /api/ --on sim1');
  await devsh('get /api/user/?page=2 --on sim1');
  expect(device(1).log.slice(from)).toHaveLength(3);
});

test('the paging is guessed once: the next process knows it', async () => {
  const { devsh, device } = await startFleet({
    profile: 'drf',
    paging: 'offset',
    envelope: 'rows',
    users: 12,
    pageSize: 5,
  });
  await devsh('user list --on sim1');
  const guessing = device(1).log.length;
  await devsh('user list --on sim1');
  expect(guessing).toBe(4);
  expect(device(1).log.length - guessing).toBe(3);
  expect((await devsh('profile sim1')).stdout).toContain('offset offset limit');
});
