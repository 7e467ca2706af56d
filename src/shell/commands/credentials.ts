import { ORIGIN_COLUMNS, originOf } from '../access/logins.ts';
import { DEVICES } from '../grammar/options.ts';
import { command } from '../command.ts';
import { table } from '../output.ts';
import { TARGETS } from './arguments.ts';

/** `credentials [TARGET…]`: where the login of each device comes from, and never the secret. */
export const credentials = command({
  name: 'credentials',
  brief: 'Show where the login of each device comes from',
  section: 'Trust and login',
  summary: 'Show where the login of each device comes from; never the secret',
  args: [TARGETS],
  options: [...DEVICES, 'profile'],
  changes: 'nothing',
  details:
    'Without devices: those selected, or all of the inventory. Nothing is asked, no device is called\n' +
    'and no program of yours is run. The first place that has a login wins: --token-stdin or\n' +
    '--password-stdin, DEVSH_TOKEN, DEVSH_USER with DEVSH_PASSWORD, then for the devices whose entry\n' +
    'in devices.yaml says so credential_command, then keychain and vault, then where the entry says so\n' +
    'git_credential and netrc, then the prompt.',
  examples: ['credentials', 'credentials @berlin --json'],
  async *run(call) {
    const { args, options, session } = call;
    const targets = args.all('TARGET');
    const isSelected = options.on.length > 0 || session.fleet.selection.length > 0;
    const { devices } = await session.services.inventory.load();
    const wanted = targets.length > 0 ? targets : ['@all'];
    const members =
      targets.length > 0 || (!isSelected && devices.length > 0)
        ? await call.resolve(wanted)
        : await call.members();
    yield table(
      'credentials',
      [...ORIGIN_COLUMNS, { key: 'note', title: 'NOTE' }],
      await Promise.all(
        members.map(async (member) => {
          const { source, user, kind, note } = await originOf(call, member);
          return {
            device: member.ref.name,
            address: member.ref.address,
            source: source ?? null,
            user: user ?? null,
            kind: kind ?? null,
            note: note ?? (source === undefined ? 'none: it is asked for' : null),
          };
        }),
      ),
    );
  },
});
