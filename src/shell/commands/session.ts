import { SettingsError, UsageError } from '../../errors.ts';
import type { Services } from '../services.ts';
import { environmentProxy, noProxyOf } from '../../device/route/route.ts';
import { command } from '../command.ts';
import { table } from '../output.ts';

export const info = command({
  name: 'info',
  section: 'Shell',
  summary: 'Show the version and where devsh keeps its files',
  changes: 'nothing',
  examples: ['info'],
  async *run({ shell }) {
    const { version, paths, inventory, knownDevices, history } = shell.services;
    const rows = [
      ['version', version],
      ['node', process.version],
      ['inventory', inventory.path],
      ['known devices', knownDevices.path],
      ['history', history.path],
      ['settings', paths.config],
      ...(await keyRows(shell.services)),
      ['state', paths.state],
      ...proxyRows(shell.services),
    ] as const;
    yield table(
      'info',
      [{ key: 'name', title: 'WHAT' }, 'value'],
      rows.map(([name, value]) => ({ name, value })),
    );
  },
});

export const version = command({
  name: 'version',
  section: 'Shell',
  summary: 'Print the version',
  changes: 'nothing',
  *run({ shell }) {
    yield { kind: 'text', name: 'version', text: shell.services.version };
  },
});

/** The proxy of the environment, or what is wrong with it. */
function proxyRows({ env }: Services): [string, string][] {
  try {
    const asked = environmentProxy(env);
    if (asked === undefined) return [];
    return [
      ['proxy', `${asked.proxy.url} (${asked.variable})`],
      ['no proxy for', noProxyOf(env)],
    ];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [['proxy', `not usable: ${error.message}`]];
  }
}

/** Invalid keys of the user; valid ones are in `help keys`. */
async function keyRows(services: Services): Promise<[string, string][]> {
  if (services.settings.get('keys') === undefined) return [];
  try {
    await services.keys();
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [['keys', `not usable: ${error.message}`]];
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

export const history = command({
  name: 'history',
  brief: 'Show the history of lines',
  section: 'Shell',
  summary: 'Show the history of lines, oldest first',
  changes: 'nothing',
  details: 'devsh keeps no line with a secret (password=…) and none that starts with a space.',
  async *run({ shell }) {
    const lines = await shell.services.history.load();
    yield table(
      'history',
      [
        { key: 'number', title: '#' },
        { key: 'line', title: 'LINE' },
      ],
      lines.map((line, index) => ({ number: index + 1, line })),
    );
  },
});
