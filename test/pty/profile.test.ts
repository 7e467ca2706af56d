import { expect, test } from 'vitest';
import { startDevsh } from './devsh.ts';

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
