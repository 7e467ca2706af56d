import { clipboardPrograms, copyWithProgram } from '../../src/os/clipboard.ts';
import { expect, test } from 'vitest';

test.each<[NodeJS.Platform, NodeJS.ProcessEnv, string[]]>([
  ['darwin', {}, ['pbcopy']],
  ['win32', {}, ['clip.exe']],
  ['linux', {}, []],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' }, ['wl-copy', 'xclip', 'xsel']],
  ['linux', { DISPLAY: ':0' }, ['xclip', 'xsel']],
  ['linux', { WSL_DISTRO_NAME: 'Debian' }, ['clip.exe']],
])('on %s with %j the clipboard is known to %j', (platform, env, names) => {
  expect(clipboardPrograms(env, platform).map(([name]) => name)).toEqual(names);
});

test('the first program that takes the text is named, one that fails or is not there is passed over', async () => {
  const env = { PATH: process.env['PATH'] };
  const programs = [['no-such-program'], ['false'], ['cat']];
  expect(await copyWithProgram('x'.repeat(200_000), env, programs)).toBe('cat');
  expect(await copyWithProgram('x', env, [['false']])).toBeUndefined();
});
