import type { CommandSpec } from '../spec.ts';

export const resources: CommandSpec = {
  name: 'resources',
  summary: 'List what the selected devices offer',
  section: 'Records',
  verbs: [
    {
      name: '',
      summary: 'List what the selected devices offer: each has the verbs of "user"',
      args: [],
      options: ['devices', 'profile'],
      async *run(call) {
        const { learnMember } = await import('../learning.ts');
        const offers = new Map<string, string[]>();
        for (const member of await call.members()) {
          await member.list(call.access, 'user', call.io.signal);
          const learned = await learnMember(call, member, 'user');
          for (const resource of learned?.resources ?? ['user']) {
            offers.set(resource, [...(offers.get(resource) ?? []), member.ref.name]);
          }
        }
        yield {
          kind: 'table',
          name: 'resources',
          columns: [
            { key: 'resource', title: 'RESOURCE' },
            { key: 'devices', title: 'DEVICES' },
          ],
          rows: [...offers].map(([resource, devices]) => ({ resource, devices })),
        };
      },
    },
  ],
};
