import { expect, test } from 'vitest';
import { resolvePaths } from '../../src/os/environment.ts';

test('follows the XDG defaults on Linux', () => {
  expect(resolvePaths({}, 'linux', '/home/ada')).toEqual({
    config: '/home/ada/.config/devsh',
    data: '/home/ada/.local/share/devsh',
    state: '/home/ada/.local/state/devsh',
    cache: '/home/ada/.cache/devsh',
  });
});

test.each(['linux', 'darwin'] as const)('follows the XDG variables on %s', (platform) => {
  const env = {
    XDG_CONFIG_HOME: '/c',
    XDG_DATA_HOME: '/d',
    XDG_STATE_HOME: '/s',
    XDG_CACHE_HOME: '/k',
  };
  expect(resolvePaths(env, platform, '/home/ada')).toEqual({
    config: '/c/devsh',
    data: '/d/devsh',
    state: '/s/devsh',
    cache: '/k/devsh',
  });
});

test('ignores a relative or empty XDG variable', () => {
  const env = { XDG_CONFIG_HOME: 'conf', XDG_DATA_HOME: '' };
  expect(resolvePaths(env, 'linux', '/home/ada')).toEqual(resolvePaths({}, 'linux', '/home/ada'));
});

test('uses the Library folder on macOS', () => {
  expect(resolvePaths({}, 'darwin', '/Users/ada').data).toBe(
    '/Users/ada/Library/Application Support/devsh',
  );
});

test('uses APPDATA and LOCALAPPDATA on Windows', () => {
  const env = { APPDATA: 'C:\\Roaming', LOCALAPPDATA: 'C:\\Local' };
  expect(resolvePaths(env, 'win32', 'C:\\Users\\ada')).toMatchObject({
    config: 'C:\\Roaming\\devsh',
    data: 'C:\\Local\\devsh',
  });
});

test('takes the home folder from the environment that it is given', () => {
  expect(resolvePaths({ HOME: '/home/eve' }, 'linux').config).toBe('/home/eve/.config/devsh');
});

test.each([
  ['a relative folder', 'linux', { XDG_STATE_HOME: './state' }, '/h/.local/state/devsh'],
  ['a folder of Windows on Linux', 'linux', { XDG_STATE_HOME: 'C:\\s' }, '/h/.local/state/devsh'],
  ['a folder with blanks', 'linux', { XDG_STATE_HOME: '/my state/' }, '/my state/devsh'],
  ['nothing', 'darwin', {}, '/h/Library/Application Support/devsh'],
  ['an absolute folder', 'darwin', { XDG_STATE_HOME: '/s' }, '/s/devsh'],
  ['nothing', 'freebsd', {}, '/h/.local/state/devsh'],
] as const)('%s for the state on %s', (_what, platform, env, state) => {
  expect(resolvePaths(env, platform, '/h').state).toBe(state);
});

test('on Windows, XDG folders count when they are absolute there, and the home folder otherwise', () => {
  const home = 'C:\\Users\\ada';
  expect(resolvePaths({ XDG_CONFIG_HOME: 'D:\\cfg' }, 'win32', home).config).toBe('D:\\cfg\\devsh');
  expect(resolvePaths({ XDG_CONFIG_HOME: 'cfg' }, 'win32', home).config).toBe(
    'C:\\Users\\ada\\AppData\\Roaming\\devsh',
  );
  expect(resolvePaths({}, 'win32', home)).toEqual({
    config: 'C:\\Users\\ada\\AppData\\Roaming\\devsh',
    data: 'C:\\Users\\ada\\AppData\\Local\\devsh',
    state: 'C:\\Users\\ada\\AppData\\Local\\devsh',
    cache: 'C:\\Users\\ada\\AppData\\Local\\Temp\\devsh',
  });
});

test('an empty APPDATA or HOME is as good as none', () => {
  const env = { APPDATA: '', LOCALAPPDATA: '' };
  expect(resolvePaths(env, 'win32', 'C:\\Users\\ada').config).toBe(
    'C:\\Users\\ada\\AppData\\Roaming\\devsh',
  );
  expect(resolvePaths({ HOME: '' }, 'linux').config).toMatch(/^\/.+\/\.config\/devsh$/);
});
