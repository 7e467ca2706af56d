import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from './simulator.ts';
import { ask, userNamed } from './ask.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const device = () => {
  const [first] = simulator.devices;
  if (first === undefined) throw new Error('no device');
  return first;
};
const basic = (user: string): string => `Basic ${Buffer.from(user).toString('base64')}`;

describe('logging in', () => {
  test.each(['admin:admin-secret', 'viewer:viewer-secret'])('%s works with Basic', async (user) => {
    const { status } = await ask(device(), { as: null, headers: { Authorization: basic(user) } });

    expect(status).toBe(200);
    expect(device().log.at(-1)).toMatchObject({ authorization: 'basic', status: 200 });
  });

  test.each([
    ['none', undefined, 'Authentication credentials were not provided.'],
    ['another scheme', 'Bearer x', 'Authentication credentials were not provided.'],
    ['a wrong password', basic('admin:no'), 'Invalid username/password.'],
    ['an unknown user', basic('nobody:admin-secret'), 'Invalid username/password.'],
    ["another's password", basic('admin:viewer-secret'), 'Invalid username/password.'],
    ['a wrong token', 'Token 123', 'Invalid token.'],
    ['no token', 'Token', 'Invalid token header. No credentials provided.'],
    ['spaces', 'Token a b', 'Invalid token header. Token string should not contain spaces.'],
    ['no base64', 'Basic ???', 'Invalid basic header. Credentials not correctly base64 encoded.'],
  ])('credentials with %s are 401', async (_, authorization, detail) => {
    const { status, headers, body } = await ask(device(), {
      as: null,
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });

    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe('Basic realm="api"');
    expect(JSON.parse(body)).toEqual({ detail });
  });

  test('a deleted account no longer gets in, by password or by token', async ({
    onTestFinished,
  }) => {
    const own = await startSimulator();
    onTestFinished(() => own.close());
    const [first] = own.devices;
    if (first === undefined) throw new Error('no device');
    const uuid = userNamed(first, 'viewer')?.uuid ?? '';

    const path = `/api/user/${uuid}/`;
    const gone = await ask(first, { method: 'DELETE', path });

    expect(gone.status).toBe(204);
    expect((await ask(first, { as: 'viewer' })).status).toBe(401);
    const headers = { Authorization: basic('viewer:viewer-secret') };
    expect((await ask(first, { as: null, headers })).status).toBe(401);
  });
});
