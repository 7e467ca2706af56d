import { Credential } from '../../device/credential.ts';
import { CredentialError, RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type Call, command } from '../command.ts';
import { checkLogins, ORIGIN_COLUMNS, originOf } from '../access/logins.ts';
import { counted } from '../../text/one-line.ts';
import { info, type Output, success, table } from '../output.ts';
import { DEVICES } from '../grammar/options.ts';
import { TARGETS } from '../arguments.ts';

export const login = command({
  name: 'login',
  brief: 'Check a login and keep it in the keychain or the vault',
  section: 'Trust and login',
  summary: 'Check a login on each device and keep it in the keychain or the vault',
  args: [TARGETS],
  options: [...DEVICES, 'profile', 'check', 'token', 'to'],
  details:
    'The secret is typed, or read with --token-stdin or --password-stdin; never an argument.\n' +
    'It is kept only after the device accepted it: in the keychain of this machine, or where none\n' +
    'answers in the vault ("vault init"). --token keeps a token in place of the password, which is\n' +
    'forgotten then. With --passphrase-stdin, the passphrase of the vault follows the secret in the\n' +
    'next line. --check keeps nothing: it tries the login that each device has with one GET, and\n' +
    'sends one that two devices refused to no other.',
  examples: [
    'login 10.0.0.5 --user admin',
    'login fw1 --token',
    'login @berlin --token-stdin < token.txt',
    'login --check @all',
  ],
  async *run(call) {
    const sessions = await call.targets();
    if (call.options.check) {
      if (call.options.to !== undefined || call.options.token) {
        throw new UsageError('--check keeps nothing: it goes without --to and --token');
      }
      yield* checkLogins(call, sessions);
      return;
    }
    for (const session of sessions) yield* loginTo(call, session);
  },
});

export const logout = command({
  name: 'logout',
  brief: 'Remove logins from keychain and vault',
  section: 'Trust and login',
  summary: 'Remove the logins of devices from keychain and vault',
  args: [TARGETS],
  options: [...DEVICES, 'profile'],
  async *run(call) {
    const { access, credentials, options } = call;
    for (const { ref } of await call.targets()) {
      const counts = await credentials.forget(ref, options.user, access.askPassphrase);
      const places = (['keychain', 'vault'] as const).filter((store) => counts[store] > 0);
      const count = counts.keychain + counts.vault;
      const from = `for ${ref.name} from the ${places.join(' and the ')}`;
      yield count > 0
        ? success(`removed ${counted(count, 'login')} ${from}`)
        : info(`no login is kept for ${ref.name}`);
    }
  },
});

type LoginOption = 'user' | 'token' | 'to' | 'tokenStdin' | 'passwordStdin';

async function* loginTo(call: Call<LoginOption>, session: DeviceSession): AsyncGenerator<Output> {
  const { access, credentials, io, options } = call;
  access.asksAtOnce = true;
  const credential = await givenLogin(call, session);
  if (credential === undefined) throw new RefusedError('no login was given; nothing is changed');
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
  yield success(`${session.ref.name}: ${who}${whose} is accepted, and kept in the ${store}`);
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
      `${session.ref.name}: nobody to ask for the ${options.token ? 'token' : 'password'}: ` +
        'use --token-stdin or --password-stdin',
    );
  }
  if (!options.token) return access.askCredential(session.entry);
  const user = options.user ?? session.entry.user ?? (await access.origin(session.entry)).user;
  const whose = user === undefined ? '' : ` of ${user}`;
  const token = await io.ask({ kind: 'secret', text: `Token${whose} on ${session.ref.name}:` });
  if (token === undefined || token.trim() === '') return undefined;
  return Credential.token(token.trim(), user);
}

/** `credentials [TARGET…]`: where the login of each device comes from, never the secret. */
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
            note: note ?? (source === undefined ? 'none: it is asked for' : null),
          };
        }),
      ),
    );
  },
});
