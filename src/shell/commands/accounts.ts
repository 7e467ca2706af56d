import { recordKey } from '../arguments.ts';
import { type CommandSpec, later, verb, command } from '../command.ts';
import { DEVICES, NEW_SECRET, ROTATE, LOCKOUT } from '../grammar/options.ts';

const USERS = { ...recordKey('user'), name: 'USER', isRest: true } as const;
const PLACES: readonly string[] = ['escrow', 'recipients'];

export const rotate: CommandSpec = {
  name: 'rotate',
  summary: 'Set new passwords and tokens, each proven by a new login',
  section: 'Trust and login',
  verbs: [
    verb({
      name: 'password',
      summary: 'Set new passwords of accounts, each proven by a new login',
      args: [USERS],
      options: ROTATE,
      details:
        'On one device first (--canary), then on the others. On each: keeps the new password as pending, sends\n' +
        'it once, logs in with it on a new connection, and only then gives up the old one, which stays kept for\n' +
        '30 days as the previous one. If the answer is lost, devsh tries the new and the old password once each.\n' +
        'If neither is known to work, both are kept, the run stops, and "resume" tries them again.\n' +
        'A generated password, and that of the account in use, needs a second place: --escrow or\n' +
        'credential_store_command of devices.yaml. --via ACCOUNT logs in as ACCOUNT to set those of others.\n' +
        '--kept sets the kept password again on a device that came back from a backup; devsh logs in with the\n' +
        'previous one. How a device sets a password is a fact of its profile (rotate), or what it tells of itself.',
      examples: [
        'rotate password admin --on @all --generate --escrow new.age --recipient age1…',
        'rotate password --where username!=root --via root --new-stdin < new-password',
        'rotate password admin --on fw3 --kept',
      ],
      run: later(async () => (await import('../writing/rotate.ts')).rotatePassword),
    }),
    verb({
      name: 'token',
      summary: 'Let devices make new tokens of accounts, each proven by a new login',
      args: [USERS],
      options: ROTATE.filter(
        (key) => key !== 'kept' && (PLACES.includes(key) || !NEW_SECRET.some((one) => one === key)),
      ),
      details:
        'A lost answer would lose the old and the new token, so devsh must be logged in with a password or as\n' +
        'another account (--via). Where the token is in the answer is a fact of the profile (rotate_token).',
      examples: ['rotate token backup --on @all --escrow tokens.age --recipient age1…'],
      run: later(async () => (await import('../writing/rotate.ts')).rotateToken),
    }),
    verb({
      name: 'forget-previous',
      summary: 'Forget the passwords and tokens that rotations have replaced',
      options: [...DEVICES],
      details:
        'They are kept for 30 days: a device that comes back from a backup wants them again.',
      examples: ['rotate forget-previous', 'rotate forget-previous --on @berlin'],
      run: later(async () => (await import('../writing/rotate.ts')).forgetPrevious),
    }),
  ],
};

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
