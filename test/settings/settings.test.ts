import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSettings, originText } from '../../src/settings/settings.ts';
import { storeColumns, storedColumns } from '../../src/shell/records/read-records.ts';
import { resolvePaths } from '../../src/os/environment.ts';
import { makeTempFolder } from './temp-folder.ts';

async function makePaths(text?: string) {
  const paths = resolvePaths({}, 'linux', await makeTempFolder());
  const file = join(paths.config, 'settings.json');
  if (text !== undefined) {
    await mkdir(paths.config, { recursive: true });
    await writeFile(file, text);
  }
  return { paths, file };
}

test('without a file everything has its default, and none is made', async () => {
  const { paths, file } = await makePaths();
  const settings = await openSettings(paths);
  expect(settings.get('saveCredentials')).toBe('ask');
  expect(settings.get('timeoutMs')).toBeUndefined();
  await expect(stat(paths.config)).rejects.toThrow('ENOENT');
  expect(settings.path).toBe(file);
});

test('keeps what is set, for the user only', async () => {
  const { paths, file } = await makePaths();
  const settings = await openSettings(paths);
  await settings.set('timeoutMs', 2_500);
  await settings.set('saveCredentials', 'never');
  await settings.set('concurrency', 4);
  await settings.set('concurrency', undefined);
  expect(settings.get('timeoutMs')).toBe(2_500);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(paths.config)).mode & 0o777).toBe(0o700);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    timeoutMs: 2_500,
    saveCredentials: 'never',
  });
  expect((await openSettings(paths)).get('saveCredentials')).toBe('never');
});

test('checked settings are cached for the same texts only, and a damaged cache is ignored', async () => {
  const { paths, file } = await makePaths('{"timeoutMs": 1000}');
  const cache = join(paths.cache, 'checked-settings.json');
  const open = (env: NodeJS.ProcessEnv = {}) => openSettings(paths, { env });
  await open();
  expect((await stat(cache)).mode & 0o777).toBe(0o600);
  const again = await open();
  expect([again.get('timeoutMs'), again.get('rememberKeys')]).toEqual([1_000, true]);
  expect(originText(again.origin('timeoutMs'))).toBe(`${file}:1`);

  expect((await open({ DEVSH_TIMEOUT: '2' })).get('timeoutMs')).toBe(2_000);
  await expect(open({ DEVSH_TIMEOUT: 'long' })).rejects.toThrow('DEVSH_TIMEOUT');
  await writeFile(file, '{"timeoutMs": 3000}');
  expect((await open()).get('timeoutMs')).toBe(3_000);
  await writeFile(cache, (await readFile(cache, 'utf8')).replaceAll('3000', '9000'));
  expect((await open()).get('timeoutMs')).toBe(3_000);
  await writeFile(file, '{"timeoutMs": "long"}');
  await expect(open()).rejects.toThrow('timeoutMs: ');
});

test('two sessions do not undo each other', async () => {
  const { paths } = await makePaths();
  const [one, two] = [await openSettings(paths), await openSettings(paths)];
  await Promise.all([one.set('timeoutMs', 1_000), two.set('concurrency', 3)]);
  const settings = await openSettings(paths);
  expect([settings.get('timeoutMs'), settings.get('concurrency')]).toEqual([1_000, 3]);
});

test.each([
  ['{"timeoutMs": 1000', 'is not valid JSON'],
  ['', 'is not valid JSON'],
  ['{"timeoutMs": "fast"}', 'timeoutMs: '],
  ['{"timeoutMS": 1}', 'unknown setting "timeoutMS", did you mean "timeoutMs"?'],
  ['[1]', 'must be an object'],
  ['[]', 'must be an object'],
  ['null', 'must be an object'],
  ['"timeoutMs"', 'must be an object'],
  ['{"editing": "vi"}', 'unknown setting "editing"; the prompt has the keys of emacs, and Ctrl-X'],
  ['{"mouse": true}', 'unknown setting "mouse"; devsh leaves the mouse to the terminal'],
])('a file that says %s is named and left alone', async (text, message) => {
  const { paths, file } = await makePaths(text);
  await expect(openSettings(paths)).rejects.toThrow(file);
  await expect(openSettings(paths)).rejects.toThrow(message);
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('a file that breaks during the session is not overwritten', async () => {
  const { paths, file } = await makePaths('{}');
  const settings = await openSettings(paths);
  await writeFile(file, '{"timeoutMs":');
  await expect(settings.set('concurrency', 2)).rejects.toThrow(file);
  expect(await readFile(file, 'utf8')).toBe('{"timeoutMs":');
});

test('refuses a value that makes no sense before it writes', async () => {
  const { paths } = await makePaths();
  const settings = await openSettings(paths);
  await expect(settings.set('concurrency', 0)).rejects.toThrow('concurrency');
  expect(settings.get('concurrency')).toBeUndefined();
});

test('two sessions keep columns for different resources', async () => {
  const { paths, file } = await makePaths();
  const [one, two] = [await openSettings(paths), await openSettings(paths)];
  await storeColumns(one, 'drf', 'user', ['username']);
  await storeColumns(two, 'drf', 'zone', ['name', 'mtu']);
  await storeColumns(one, 'drf', '__proto__', ['name']);
  const three = await openSettings(paths);
  expect(storedColumns(three, 'drf', 'user')).toEqual(['username']);
  expect(storedColumns(three, 'drf', 'zone')).toEqual(['name', 'mtu']);
  expect(storedColumns(three, 'documented', 'user')).toBeUndefined();
  for (const resource of ['user', 'zone', '__proto__'])
    await storeColumns(three, 'drf', resource, undefined);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({});
});

const PROJECT = '{\n  "on": "@berlin",\n  "timeoutMs": 3000,\n  "readOnly": true\n}\n';

test('environment before project before own file before default, and each says where it comes from', async () => {
  const { paths, file } = await makePaths('{\n  "timeoutMs": 1000,\n  "historyDays": 30\n}');
  const folder = join(paths.config, '../../project/src');
  await mkdir(folder, { recursive: true });
  const project = join(folder, '../.devsh.json');
  await writeFile(project, PROJECT);
  const env = { DEVSH_TIMEOUT: '2.5', DEVSH_THEME: '' };
  const settings = await openSettings(paths, { env, folder });
  const told = (['timeoutMs', 'readOnly', 'on', 'historyDays', 'theme'] as const).map(
    (name) => [settings.get(name), originText(settings.origin(name))] as const,
  );
  expect(told).toEqual([
    [2500, 'DEVSH_TIMEOUT'],
    [true, `${join(project)}:4`],
    ['@berlin', `${join(project)}:2`],
    [30, `${file}:3`],
    [undefined, 'default'],
  ]);
  await settings.set('timeoutMs', 5_000);
  expect(settings.get('timeoutMs')).toBe(2_500);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ timeoutMs: 5_000, historyDays: 30 });
});

test.each([
  ['{"inventory": "devices.yaml"}', '"inventory" is only allowed in your own settings'],
  ['{"saveCredentials": "never"}', '"saveCredentials" is only allowed in your own settings'],
  ['{"readOnly": false}', 'readOnly: only true is allowed here'],
  ['{"credential_command": ["id"]}', 'unknown setting "credential_command"'],
  ['{"on": ', 'is not valid JSON'],
  [`{"on": "${'x'.repeat(70_000)}"}`, 'is too large'],
])('a project that says %s is refused', async (text, message) => {
  const { paths } = await makePaths();
  const folder = await makeTempFolder();
  await writeFile(join(folder, '.devsh.json'), text);
  const opened = openSettings(paths, { env: {}, folder });
  await expect(opened).rejects.toThrow(message);
  await expect(opened).rejects.toThrow('.devsh.json');
});

test.each([
  [{ DEVSH_TIMEOUT: 'soon' }, 'DEVSH_TIMEOUT: timeoutMs'],
  [{ DEVSH_FORMAT: 'xml' }, 'DEVSH_FORMAT: format'],
  [{ DEVSH_READ_ONLY: 'perhaps' }, 'DEVSH_READ_ONLY: readOnly'],
  [{ DEVSH_READONLY: '1' }, 'no variable DEVSH_READONLY; did you mean DEVSH_READ_ONLY?'],
  [{ devsh_read_only: '1' }, 'did you mean DEVSH_READ_ONLY?'],
])('a variable that cannot be understood is named: %j', async (env, message) => {
  const { paths } = await makePaths();
  await expect(openSettings(paths, { env })).rejects.toThrow(message);
});
