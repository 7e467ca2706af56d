import { expect, test } from 'vitest';
import { makeDevsh } from './devsh.ts';

test.each([
  ['devices', { properties: { devices: { type: 'array' } } }],
  ['changes', { title: 'A change set of devsh' }],
  ['profile', { properties: { base_path: { type: 'string' } } }],
  ['settings', { properties: { theme: { type: 'string' } } }],
])('schema %s is a JSON schema', async (name, part) => {
  const devsh = await makeDevsh();
  const { stdout } = await devsh(`schema ${name}`);
  expect(JSON.parse(stdout)).toMatchObject(part);
});

test('a mistyped name of a schema lists the four', async () => {
  const devsh = await makeDevsh();
  const { stderr, exitCode } = await devsh('schema device');
  expect(stderr).toContain('the schemas are devices, changes, profile, settings');
  expect(stderr).toContain("did you mean 'devices'?");
  expect(exitCode).toBe(2);
});

test('a script prints a schema with --dry-run, too: it changes nothing', async () => {
  const devsh = await makeDevsh();
  const { stdout, stderr } = await devsh('run - --dry-run', { stdin: 'schema devices\n' });
  expect(stdout).toContain('"$schema"');
  expect(stderr).not.toContain('not run');
});
