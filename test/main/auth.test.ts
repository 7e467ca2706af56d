import { expect, test } from 'vitest';
import { type TestFleet, startFleet } from './devsh.ts';

/** The token of the admin of sim1. */
function tokenOf({ device }: TestFleet): { DEVSH_TOKEN: string } {
  return { DEVSH_TOKEN: device(1).accounts.admin.token };
}

test('a token goes to the header that the profile names, and reads, writes and is checked there', async () => {
  const fleet = await startFleet({ env: {}, quirk: ['api-key'] });
  const { devsh, device } = fleet;
  const env = tokenOf(fleet);
  await devsh(['profile', 'set', 'sim1', 'auth.header=X-API-Key']);
  const shown = await devsh('profile show sim1 --json');
  expect(shown.stdout).toContain('"fact":"auth.header","value":"X-API-Key","origin":"configured"');
  expect(await devsh('login --check --on sim1', { env })).toMatchObject({ exitCode: 0 });
  const line = 'user add username=zoe lang=de --on sim1 --yes';
  expect((await devsh(line, { env })).stdout).toContain('done');
  expect(new Set(device(1).log.map(({ authorization }) => authorization))).toEqual(
    new Set(['key']),
  );
  const curl = await devsh('plan - --as-curl --on sim1', {
    ...{ env, stdin: '[{delete: user, key: zoe}]' },
  });
  expect(curl.stdout).toContain(`--header @<(login 'X-API-Key: ')`);
  expect(curl.stdout).not.toContain(env.DEVSH_TOKEN);
});

test('a device that wants its token elsewhere is not sent it there, but says which fact to state', async () => {
  const fleet = await startFleet({ env: {}, quirk: ['api-key'] });
  const { devsh, device } = fleet;
  const { stderr, exitCode } = await devsh('learn sim1', { env: tokenOf(fleet) });
  expect(stderr).toContain(
    'devsh sent the token as "Authorization: Token …"; the device requires X-API-Key: try ' +
      '"profile set sim1 auth.header=X-API-Key"',
  );
  expect(exitCode).toBe(4);
  expect(device(1).log.map(({ authorization }) => authorization)).toEqual(['token']);
});

test.each([
  ['auth.header=Host', 'is a header of HTTP'],
  ['auth.header=Content-Length', 'is a header of HTTP'],
  ['auth.header=transfer-encoding', 'is a header of HTTP'],
  ['auth.header=Cookie', 'is a header of HTTP'],
  ['auth.header=X-A: b', 'must be the name of a header'],
  ['auth.header=X-A\r\nX-B', 'must be the name of a header'],
  ['auth.prefix=a\r\nX-B: c', 'must be one word'],
  ['auth.prefix=Bearer and more', 'must be one word'],
  ['auth.headr=X-API-Key', 'did you mean "header"'],
  ['list.path=/api/user?api_key=abc', 'addresses end up in logs'],
  ['remove.path={item}?access_token={token}', 'addresses end up in logs'],
  ['remove.path={item}?t={token}', 'addresses end up in logs'],
  ['resources.user.path=/api/user?token=', 'addresses end up in logs'],
])('%j is refused with the reason', async (fact, reason) => {
  const { devsh } = await startFleet();
  const { stderr, exitCode } = await devsh(['profile', 'set', 'sim1', fact]);
  expect(stderr).toContain(reason);
  expect(exitCode).toBe(2);
});
