import { SettingsError, UsageError } from '../../errors.ts';
import type { Services } from '../session.ts';
import { DEVICES } from '../grammar/options.ts';
import { command } from '../command.ts';
import { table } from '../output.ts';

export const info = command({
  name: 'info',
  section: 'Shell',
  summary: 'Show the version and where devsh keeps its files',
  options: ['config', ...DEVICES],
  changes: 'nothing',
  details:
    'With --config each setting with where it comes from: an option of the line, a variable, the file\n' +
    '.devsh.json here or above (which may only say what is harmless), your settings.json, or the default.',
  examples: ['info', 'info --config'],
  async *run({ session, options, given }) {
    if (options.config) {
      const { configRows } = await import('../help/config-rows.ts');
      yield table(
        'config',
        ['setting', 'value', { key: 'origin', title: 'FROM' }],
        configRows(session.services, given).map((row) => ({ ...row })),
      );
      return;
    }
    const { version, paths, inventory, knownDevices, history } = session.services;
    if (options.version) {
      yield { kind: 'text', name: 'version', text: version };
      return;
    }
    const proxy = proxyRows(session.services);
    const rows = [
      { name: 'version', value: version },
      { name: 'node', value: process.version },
      { name: 'inventory', value: inventory.path },
      { name: 'known devices', value: knownDevices.path },
      { name: 'history', value: history.path },
      { name: 'settings', value: paths.config },
      ...(await keyRows(session.services)),
      { name: 'state', value: paths.state },
      ...proxy,
    ];
    yield table(
      'info',
      [
        { key: 'name', title: 'WHAT' },
        { key: 'value', title: 'VALUE' },
      ],
      rows,
    );
  },
});

/** The proxy of the environment; what is wrong with it stands in its place. */
function proxyRows({ environmentProxy }: Services): { name: string; value: string }[] {
  try {
    const proxy = environmentProxy();
    if (proxy === undefined) return [];
    return [
      { name: 'proxy', value: `${proxy.url} (${proxy.variable})` },
      { name: 'no proxy for', value: proxy.noProxy },
    ];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [{ name: 'proxy', value: `not usable: ${error.message}` }];
  }
}

/** Own keys that cannot be; right ones are in `help keys`. */
async function keyRows(services: Services): Promise<{ name: string; value: string }[]> {
  if (services.settings.get('keys') === undefined) return [];
  try {
    await services.keys();
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [{ name: 'keys', value: `not usable: ${error.message}` }];
  }
}

export const quit = command({
  name: 'quit',
  aliases: ['exit'],
  section: 'Shell',
  summary: 'Leave the shell',
  changes: 'choice',
  *run() {
    yield { kind: 'quit' };
  },
});
