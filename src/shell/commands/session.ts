import type { CommandSpec } from '../spec.ts';

export const info: CommandSpec = {
  name: 'info',
  summary: 'Show the version and where devsh keeps its files',
  section: 'Shell',
  verbs: [
    {
      name: '',
      summary: 'Show the version and where devsh keeps its files',
      args: [],
      options: [],
      *run({ session, options }) {
        const { version, paths, inventory, knownDevices, history } = session.services;
        if (options.version) {
          yield { kind: 'text', name: 'version', text: version };
          return;
        }
        const proxy = session.services.environmentProxy();
        const rows = [
          { name: 'version', value: version },
          { name: 'node', value: process.version },
          { name: 'inventory', value: inventory.path },
          { name: 'known devices', value: knownDevices.path },
          { name: 'history', value: history.path },
          { name: 'settings', value: paths.config },
          { name: 'state', value: paths.state },
          ...(proxy === undefined
            ? []
            : [
                { name: 'proxy', value: `${proxy.url} (${proxy.variable})` },
                { name: 'no proxy for', value: proxy.noProxy },
              ]),
        ];
        yield {
          kind: 'table',
          name: 'info',
          columns: [
            { key: 'name', title: 'WHAT' },
            { key: 'value', title: 'VALUE' },
          ],
          rows,
        };
      },
    },
  ],
};

export const quit: CommandSpec = {
  name: 'quit',
  aliases: ['exit'],
  summary: 'Leave the shell',
  section: 'Shell',
  verbs: [
    {
      name: '',
      summary: 'Leave the shell',
      args: [],
      options: [],
      *run() {
        yield { kind: 'quit' };
      },
    },
  ],
};
