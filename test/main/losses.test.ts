import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

test('what a 200 objects to is told when nothing changed', async () => {
  const { devsh, device } = await startFleet();
  device(1).setFault('code-in-200');
  const { stdout, exitCode } = await devsh('user set viewer lang=fr --on sim1 --yes');
  expect(stdout).toContain('no effect - the device answered: Attribute cannot be modified');
  expect(exitCode).toBe(1);
});

test('a write-only field that OPTIONS tells of cannot be read back, and does not differ', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', quirk: ['hidden-fields'] });
  const { stdout, exitCode } = await devsh(
    'user add username=zoe lang=de email=z@example.net --on sim1 --yes',
  );
  expect(stdout).toContain('done - email cannot be read back');
  expect(exitCode).toBe(0);
  expect(device(1).users.at(-1)).toMatchObject({ email: 'z@example.net' });
});

test('a record that differs and was not touched is not said to have been sent', async () => {
  const { devsh } = await startFleet();
  const add = 'user add username=viewer lang=fr first_name=x lastname=y --on sim1 --yes';
  const { stdout } = await devsh(add);
  expect(stdout).toContain('lang: wanted fr, device holds');
  expect(stdout).not.toContain('sent fr');
});
