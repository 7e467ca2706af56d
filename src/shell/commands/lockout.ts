import { recordKey } from '../arguments.ts';
import { command, later } from '../command.ts';
import { LOCKOUT } from '../grammar/options.ts';

export const lockout = command({
  name: 'lockout',
  section: 'Records',
  summary: 'Disable an account on every device of the inventory, now',
  args: [{ ...recordKey('user'), isRequired: true }],
  options: LOCKOUT,
  details:
    'Reads all devices of the inventory, whatever is selected, and shows who has the account. Then it writes to\n' +
    'all at once, without canary. If devices were not read, it asks whether to act now (--now).\n' +
    'The username must be the same. Where e-mail or full name contradict most other devices, and where another\n' +
    'username has the same e-mail or full name, devsh acts only if you mark that account (--also); --yes never\n' +
    'does. Names that only look alike are a hint.\n' +
    'It disables the account (is_active, enabled, locked …, or disabled_as of the profile); where a device cannot,\n' +
    '--delete deletes it. It ends sessions and tokens if the profile says where they are (account_field); else\n' +
    'plan, verdict and report say that they are not known to be ended. --prove sends the old password (--token: an old\n' +
    'token) once to each device where the account is disabled or deleted; "still open" means that the device\n' +
    'accepts it. A mistyped one is refused, too.',
  examples: [
    'lockout bob',
    'lockout bob --now --reason "leaver, ticket 4711"',
    'lockout bob --also robert --also fw7=bob',
    'lockout bob --prove --yes --now < old-password',
    'lockout bob --prove --token --yes --now < old-token',
  ],
  run: later(async () => (await import('../writing/lockout.ts')).lockOut),
});
