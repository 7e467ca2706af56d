import { Credential, type RotatedAccount } from '../../device/credential.ts';
import { startsWithToken } from '../../device/sensitive-fields.ts';
import { CredentialError, RefusedError, unlessFailed, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { recordKey, TARGETS } from '../arguments.ts';
import { type Call, command, type CommandSpec, later, verb } from '../command.ts';
import { type DeviceOption, DEVICES, LOCKOUT, ROTATE, ROTATE_TOKEN } from '../grammar/options.ts';
import { info, type Output, success, table, warning } from '../output.ts';

export const login = command({
  name: 'login',
  brief: 'Check a login and keep it in the keychain or the vault',
  section: 'Trust and login',
  summary: 'Check a login on each device and keep it in the keychain or the vault',
  args: [TARGETS],
  options: [...DEVICES, 'profile', 'check', 'token', 'to'],
  details:
    'Type the secret, or pipe it in with --token-stdin or --password-stdin; it is never an argument.\n' +
    'devsh keeps it only after the device has accepted it: in the keychain, or without a keychain in the\n' +
    'vault ("vault init"). A token replaces the kept password of the same user. With --passphrase-stdin, the\n' +
    'passphrase of the vault is the next line after the secret. --check tries each login with one GET; a\n' +
    'login that two devices refused goes to no third.',
  examples: [
    'login 10.0.0.5 --user admin',
    'login fw1 --token',
    'login @berlin --token-stdin < token.txt',
    'login --check @all',
  ],
  async *run(call) {
    await refuseTokenAsTarget(call);
    const sessions = await call.targets();
    const { checkLogins } = await import('../access/logins.ts');
    if (call.options.check) {
      if (call.options.to !== undefined || call.options.token) {
        throw new UsageError('--check keeps nothing: leave out --to and --token');
      }
      yield* checkLogins(call, sessions);
      return;
    }
    const accepted: RotatedAccount[] = [];
    try {
      yield* call.inTurn(sessions, async function* (session) {
        accepted.push(yield* loginTo(call, session));
      });
    } finally {
      const store = call.shell.services.rotation(call.options, undefined);
      // If this fails, the next command names the unfinished run again.
      await unlessFailed(store.then((rotations) => rotations.endDoubts(accepted)));
    }
  },
});

/** Throws a `UsageError` for `login fw1 --token 4e39…`: the error "no device 4e39…" would show the token. */
async function refuseTokenAsTarget({ options, args, shell }: Call<'token'>): Promise<void> {
  if (!options.token) return;
  const inventory = await shell.services.inventory.load();
  const token = args
    .words(TARGETS.name)
    .find(
      ({ text }) =>
        startsWithToken(text) || (/^\w+$/.test(text) && inventory.find(text) === undefined),
    );
  if (token === undefined) return;
  throw new UsageError(
    '--token takes no value: devsh asks for the token, or --token-stdin reads it',
    { column: token.start },
  );
}

export const logout = command({
  name: 'logout',
  brief: 'Remove logins from keychain and vault',
  section: 'Trust and login',
  summary: 'Remove the logins of devices from keychain and vault',
  args: [TARGETS],
  options: [...DEVICES, 'profile'],
  async *run(call) {
    const { access, credentials, options } = call;
    const targets = await call.targets();
    for (const { ref } of targets) {
      const counts = await credentials.forget(ref, options.user, access.askPassphrase);
      const places = (['keychain', 'vault'] as const).filter((store) => counts[store] > 0);
      const count = counts.keychain + counts.vault;
      const from = `for ${ref.name} from the ${places.join(' and the ')}`;
      yield count > 0
        ? success(`removed ${counted(count, 'login')} ${from}`)
        : info(`${ref.name} has no kept login`);
    }
    yield* forgetRotated(call, new Set(targets.map(({ ref }) => ref.address)));
  },
});

/** Forgets the stored secrets of accounts that "rotate" has changed. */
async function* forgetRotated(
  { access, options, shell }: Call<DeviceOption>,
  addresses: ReadonlySet<string>,
): AsyncGenerator<Output> {
  const isOurs = ({ address, user }: RotatedAccount): boolean =>
    addresses.has(address) && (options.user ?? user) === user;
  try {
    const store = await shell.services.rotation(options, access.askPassphrase);
    const count = await store.forget(isOurs);
    if (count > 0) yield success(`removed the secrets of ${counted(count, 'rotated account')}`);
    const left = (await store.list())
      .filter(isOurs)
      .map(({ address, user }) => `${user}@${address}`);
    if (left.length > 0) {
      yield warning(`kept, because a rotation has not ended: ${visible(someOf(left, 4))}`);
    }
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    yield warning(error.message);
  }
}

type LoginOption = 'user' | 'token' | 'to' | 'tokenStdin' | 'passwordStdin';

async function* loginTo(
  call: Call<LoginOption>,
  session: DeviceSession,
): AsyncGenerator<Output, RotatedAccount> {
  const { access, credentials, io, options } = call;
  access.asksAtOnce = true;
  const credential = await givenLogin(call, session);
  if (credential === undefined) throw new RefusedError('you gave no login; devsh changed nothing');
  await session.openWith(access, credential);
  await session.list(access, 'user', io.signal);
  const kept = session.credential ?? credential;
  access.typed.delete(session.entry);
  const store = await credentials.store(
    { name: session.ref.name, address: session.ref.address },
    kept.revealed(),
    { to: options.to, askPassphrase: access.askPassphrase },
  );
  const who = kept.kind === 'token' ? 'the token' : (kept.user ?? '');
  const whose = kept.kind === 'token' && kept.user !== undefined ? ` of ${kept.user}` : '';
  const text = `${session.ref.name}: ${who}${whose} is accepted and kept in the ${store}`;
  yield { ...success(text), hasSuccess: true };
  return { address: session.ref.address, user: kept.user ?? '', kind: kept.kind };
}

/** Reads the login from standard input, or asks the user. */
async function givenLogin(
  call: Call<LoginOption>,
  session: DeviceSession,
): Promise<Credential | undefined> {
  const { access, io, options } = call;
  if (options.tokenStdin || options.passwordStdin) return access.credential(session.entry);
  if (io.ask === undefined) {
    throw new CredentialError(
      `${session.ref.name}: devsh cannot ask for the ${options.token ? 'token' : 'password'} here: ` +
        'use --token-stdin or --password-stdin',
    );
  }
  if (!options.token) return access.askLogin([session.entry]);
  const user = options.user ?? session.entry.user ?? (await access.origin(session.entry)).user;
  const whose = user === undefined ? '' : ` of ${user}`;
  const token = await io.ask({ kind: 'secret', text: `Token${whose} on ${session.ref.name}:` });
  if (token === undefined || token.trim() === '') return undefined;
  return Credential.token(token.trim(), user);
}

export const credentials = command({
  name: 'credentials',
  synonyms: ['whoami'],
  brief: 'Show where the login of each device comes from',
  section: 'Trust and login',
  summary: 'Show where the login of each device comes from; never the secret',
  args: [TARGETS],
  options: [...DEVICES, 'profile'],
  changes: 'nothing',
  details:
    'Without TARGET: the selected devices, or all of the inventory. devsh asks nothing, calls no device and\n' +
    'runs no program. The first source that has a login wins: --token-stdin or --password-stdin, DEVSH_TOKEN,\n' +
    'DEVSH_USER with DEVSH_PASSWORD, credential_command of devices.yaml, keychain, vault, the prompt.',
  examples: ['credentials', 'credentials @berlin --json'],
  async *run(call) {
    const { ORIGIN_COLUMNS, originOf } = await import('../access/logins.ts');
    const { args, options, shell } = call;
    const targets = args.all('TARGET');
    const isSelected = options.on.length > 0 || shell.fleet.selection.length > 0;
    const { devices } = await shell.services.inventory.load();
    const wanted = targets.length > 0 ? targets : ['@all'];
    const sessions =
      targets.length > 0 || (!isSelected && devices.length > 0)
        ? await call.resolve(wanted)
        : await call.sessions();
    yield table(
      'credentials',
      [...ORIGIN_COLUMNS, { key: 'note', title: 'NOTE' }],
      await Promise.all(
        sessions.map(async (session) => {
          const { source, user, kind, note } = await originOf(call, session);
          return {
            device: session.ref.name,
            address: session.ref.address,
            source: source ?? null,
            user: user ?? null,
            kind: kind ?? null,
            note: note ?? (source === undefined ? 'none: devsh asks for it' : null),
          };
        }),
      ),
    );
  },
});

export const vault: CommandSpec = {
  name: 'vault',
  summary: 'Keep logins in a file, encrypted with a passphrase',
  section: 'Trust and login',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'List the logins in the vault, without their secrets',
      options: [...DEVICES],
      changes: 'nothing',
      async *run(call) {
        await call.credentials.openVault(call.access.askPassphrase);
        const { inventory, vault } = call.shell.services;
        const devices = await inventory.load();
        const accounts = await vault.list();
        yield table(
          'vault',
          ['device', 'address', 'user', 'kind'],
          accounts.map(({ address, user, kind }) => ({
            device: devices.findByAddress(address)?.name ?? null,
            address,
            user: user ?? null,
            kind,
          })),
        );
        if (accounts.length === 0) {
          yield info('the vault is empty: "login --to vault" adds a login');
        }
      },
    }),
    verb({
      name: 'init',
      summary: 'Create an empty vault with a new passphrase',
      options: [...DEVICES],
      details:
        'The vault is an age file; "age -d" opens it, too. Without a keychain "login" keeps logins there;\n' +
        '"login --to vault" always does. Without the passphrase nobody can open it.',
      examples: ['vault init', 'vault init --passphrase-stdin < passphrase.txt'],
      async *run(call) {
        const { vault } = call.shell.services;
        if (await vault.exists()) {
          throw new RefusedError(`there is already a vault: ${vault.path}; nothing was changed`);
        }
        await vault.create(await newPassphrase(call));
        yield success(`created the vault ${vault.path}`);
      },
    }),
    verb({
      name: 'unlock',
      summary: 'Open the vault for this session',
      options: [...DEVICES],
      details:
        'Useful at the prompt: devsh keeps the passphrase in memory until "vault lock" or the end of the session.\n' +
        'A one-shot command asks for it, or reads it with --passphrase-stdin.',
      async *run(call) {
        await call.credentials.openVault(call.access.askPassphrase);
        const { length } = await call.shell.services.vault.list();
        yield success(`the vault is open: ${counted(length, 'login')}`);
      },
    }),
    verb({
      name: 'lock',
      summary: 'Forget the passphrase and what was read from the vault',
      *run({ shell }) {
        const { vault } = shell.services;
        const wasOpen = vault.isUnlocked;
        vault.lock();
        yield wasOpen ? success('the vault is locked') : info('the vault was locked already');
      },
    }),
  ],
};

/** Asks twice, or reads the first line of standard input. */
async function newPassphrase({ io, options, shell }: Call<'passphraseStdin'>): Promise<string> {
  if (options.passphraseStdin) {
    const [passphrase = ''] = (await io.readInput()).split(/\r?\n/);
    return passphrase;
  }
  if (io.ask === undefined) {
    throw new CredentialError('devsh cannot ask for the passphrase here: use --passphrase-stdin');
  }
  const details = [`It encrypts ${shell.services.vault.path} and cannot be recovered.`];
  const first = await io.ask({ kind: 'secret', text: 'New passphrase of the vault:', details });
  if (first === undefined || first === '')
    throw new RefusedError('you typed no passphrase; devsh created no vault');
  const again = await io.ask({ kind: 'secret', text: 'The same again:' });
  if (again !== first) throw new RefusedError('the passphrases differ; devsh created no vault');
  return first;
}

const USERS = { ...recordKey('user'), name: 'USER', isRest: true } as const;

export const rotate: CommandSpec = {
  name: 'rotate',
  summary: 'Set new passwords and tokens, each proven by a new login',
  section: 'Trust and login',
  verbs: [
    verb({
      name: 'password',
      synonyms: ['passwd', 'reset'],
      summary: 'Set new passwords of accounts, each proven by a new login',
      args: [USERS],
      options: ROTATE,
      details:
        'devsh begins with one device (--canary). On each it keeps the new password as pending, sends\n' +
        'it once, logs in with it on a new connection, and only then gives up the old one, which stays kept as\n' +
        'the previous one: where a device came back from a backup, devsh logs in with it and rotates again. If the\n' +
        'answer is lost, devsh tries the new and the old password once each. If neither is known to work, both are\n' +
        'kept, the run stops, and "resume" tries them again.\n' +
        'A generated password, and that of the account in use, needs a second place: --escrow or\n' +
        'credential_store_command of devices.yaml. --user ACCOUNT logs in as ACCOUNT to set those of others.\n' +
        'How a device sets a password is a fact of its profile (rotate), or what it tells of itself.',
      examples: [
        'rotate password admin --on @all --generate --escrow new.age --recipient age1…',
        'rotate password --where username!=root --user root --new-stdin < new-password',
      ],
      async *run(call) {
        yield* (await import('../writing/rotate.ts')).rotate(call, 'basic');
      },
    }),
    verb({
      name: 'token',
      summary: 'Let devices make new tokens of accounts, each proven by a new login',
      args: [USERS],
      options: ROTATE_TOKEN,
      details:
        'A lost answer would lose the old and the new token, so devsh must be logged in with a password or as\n' +
        'another account (--user). Where the token is in the answer is a fact of the profile (rotate_token).',
      examples: ['rotate token backup --on @all --escrow tokens.age --recipient age1…'],
      async *run(call) {
        yield* (await import('../writing/rotate.ts')).rotate(call, 'token');
      },
    }),
  ],
};

export const lockout = command({
  name: 'lockout',
  synonyms: ['lock', 'disable', 'block'],
  section: 'Records',
  summary: 'Disable accounts on every known device, now',
  args: [{ ...recordKey('user'), isRequired: true, isRest: true }],
  options: LOCKOUT,
  details:
    'devsh reads all devices of the inventory, whatever is selected (there is no --on), and shows who has the\n' +
    'account. Then it writes to all at once, without canary. If devices were not read, it asks whether to act now (--now).\n' +
    'The username must be the same. A device whose e-mail or full name contradicts most others is left out, with\n' +
    'the line that disables the account there; another username with the same e-mail or full name is named, and\n' +
    'locked out only if you name it, too.\n' +
    'It disables the account (is_active, enabled, locked …, or disabled_as of the profile); where a device cannot,\n' +
    '--delete deletes it. It ends sessions and tokens if the profile says where they are (account_field); else\n' +
    'plan, verdict and report say that they are not known to be ended.',
  examples: ['lockout bob', 'lockout bob --now --reason "leaver, ticket 47"', 'lockout bob robert'],
  run: later(async () => (await import('../writing/lockout.ts')).lockOut),
});
