import { expect, test } from 'vitest';
import { serve } from '../device/server.ts';
import { ADMIN, answer, isQuiet, startDevsh } from './devsh.ts';

test('a fact is stated, shown with its origin, and a misspelt one is refused with its place', async () => {
  const program = await startDevsh(['demo', '--devices', '2', '--users', '4']);
  await program.waitFor('connected to 2 devices');
  program.type('device add fw1 127.0.0.2:9\r');
  await program.waitFor('added fw1');
  program.type('profile set fw1 remove.path=/api/user/{id}/\r');
  await program.waitFor(/✓ .*fw1/);
  program.type('profile set fw1 remov.path=x\r');
  await program.waitFor(/remov/);
  expect(program.screen().join('\n')).not.toContain('this is a bug');
  program.type('profile fw1\r');
  await program.waitFor(/remove\.path +\/api\/user\/\{id\}\/ +configured/);
});

test('y keeps the profile that is proposed for a device with its users elsewhere, and they are shown', async () => {
  const users = ['ann', 'bob', 'cyd'].map((login, index) => ({ uid: `u-${index}`, login }));
  const server = await serve(({ url = '' }, response) => {
    const isList = url.split('?')[0] === '/api/v1/users';
    response.writeHead(isList ? 200 : 404).end(isList ? JSON.stringify({ list: users }) : '{}');
  });
  const inventory = `devices:\n  - {name: box, address: "127.0.0.1:${server.port}", insecure: true}\n`;
  const program = await startDevsh(['connect', 'box'], { env: ADMIN, inventory });
  await program.waitFor('Keep them as the profile of box?');
  expect(server.requests.map(({ method }) => method)).not.toContain('POST');
  await answer(program, 'y');
  await program.waitFor('box now uses the profile');
  await program.waitFor(isQuiet);
  program.type('user list\r');
  await program.waitFor(/^.*cyd/m);
  program.type('profile box\r');
  await program.waitFor(/base_path +\/api\/v1\/ +configured/);
});
