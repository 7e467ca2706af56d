import { Credential } from '../../device/credential.ts';
import { CredentialError, RefusedError, UsageError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import { type Call, command } from '../command.ts';
import { checkLogins } from '../access/logins.ts';
import { counted } from '../../text/one-line.ts';
import { info, type Output, success } from '../output.ts';
import { DEVICES } from '../grammar/options.ts';
import { TARGETS } from './arguments.ts';

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
    const members = await call.targets();
    if (call.options.check) {
      if (call.options.to !== undefined || call.options.token) {
        throw new UsageError('--check keeps nothing: it goes without --to and --token');
      }
      yield* checkLogins(call, members);
      return;
    }
    for (const member of members) yield* loginTo(call, member);
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

async function* loginTo(call: Call<LoginOption>, member: Member): AsyncGenerator<Output> {
  const { access, credentials, io, options } = call;
  access.asksAtOnce = true;
  const credential = await givenLogin(call, member);
  if (credential === undefined) throw new RefusedError('no login was given; nothing is changed');
  await member.openWith(access, credential);
  await member.list(access, 'user', io.signal);
  const kept = member.credential ?? credential;
  access.typed.delete(member.entry);
  const store = await credentials.store(
    { name: member.ref.name, address: member.ref.address },
    { ...kept.revealed(), ...(kept.user !== undefined && { user: kept.user }) },
    { to: options.to, askPassphrase: access.askPassphrase },
  );
  const who = kept.kind === 'token' ? 'the token' : (kept.user ?? '');
  const whose = kept.kind === 'token' && kept.user !== undefined ? ` of ${kept.user}` : '';
  yield success(`${member.ref.name}: ${who}${whose} is accepted, and kept in the ${store}`);
}

/** What was read from standard input, or what the user types. */
async function givenLogin(
  call: Call<LoginOption>,
  member: Member,
): Promise<Credential | undefined> {
  const { access, io, options } = call;
  if (options.tokenStdin || options.passwordStdin) return access.credential(member.entry);
  if (io.ask === undefined) {
    throw new CredentialError(
      `${member.ref.name}: nobody to ask for the ${options.token ? 'token' : 'password'}: ` +
        'use --token-stdin or --password-stdin',
    );
  }
  if (!options.token) return access.askCredential(member.entry);
  const user = options.user ?? member.entry.user ?? (await access.origin(member.entry)).user;
  const whose = user === undefined ? '' : ` of ${user}`;
  const token = await io.ask({ kind: 'secret', text: `Token${whose} on ${member.ref.name}:` });
  if (token === undefined || token.trim() === '') return undefined;
  return Credential.token(token.trim(), user);
}
