import { CredentialError, RefusedError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import type { Output } from '../output.ts';
import type { CommandSpec } from '../spec.ts';
import { TARGETS } from './arguments.ts';

export const login: CommandSpec = {
  name: 'login',
  summary: 'Check a login and keep it in the keychain',
  section: 'Trust and login',
  verbs: [
    {
      name: '',
      summary: 'Check a login on each device and keep it in the keychain',
      args: [TARGETS],
      options: ['devices', 'profile', 'write'],
      details:
        'The secret is typed, or read with --token-stdin or --password-stdin; never an argument.\n' +
        'It is kept only after the device accepted it.',
      examples: ['login 10.0.0.5 --user admin', 'login @berlin --token-stdin < token.txt'],
      async *run(call) {
        for (const member of await membersOf(call)) yield* loginTo(call, member);
      },
    },
  ],
};

export const logout: CommandSpec = {
  name: 'logout',
  summary: 'Remove logins from the keychain',
  section: 'Trust and login',
  verbs: [
    {
      name: '',
      summary: 'Remove the logins of devices from the keychain',
      args: [TARGETS],
      options: ['devices', 'profile'],
      async *run(call) {
        const credentials = call.session.services.credentials(call.options);
        for (const { ref } of await membersOf(call)) {
          const count = await credentials.forget(ref, call.options.user);
          yield {
            kind: 'message',
            level: count > 0 ? 'done' : 'info',
            text:
              count > 0
                ? `removed ${count} login${count === 1 ? '' : 's'} for ${ref.name} from the keychain`
                : `the keychain has no login for ${ref.name}`,
          };
        }
      },
    },
  ],
};

async function* loginTo(call: Call, member: Member): AsyncGenerator<Output> {
  const { access, io, options } = call;
  const isGiven = options.tokenStdin || options.passwordStdin;
  if (!isGiven && io.ask === undefined) {
    throw new CredentialError(
      `${member.ref.name}: nobody to ask for the password: use --token-stdin or --password-stdin`,
    );
  }
  const credential = isGiven
    ? await access.credential(member.entry)
    : await access.askCredential(member.entry);
  if (credential === undefined) throw new RefusedError('no login was given; nothing is changed');
  await member.openWith(access, credential);
  await member.list(access, 'user', io.signal);
  const kept = member.credential ?? credential;
  access.typed.delete(member.entry);
  await call.session.services
    .credentials(options)
    .store({ name: member.ref.name, address: member.ref.address }, kept.revealed());
  const who = kept.user ?? 'the token';
  yield {
    kind: 'message',
    level: 'done',
    text: `${member.ref.name}: ${who} is accepted, and kept in the keychain`,
  };
}

/** The named devices, or those selected. */
async function membersOf(call: Call): Promise<readonly Member[]> {
  const targets = call.args.all('TARGET');
  return targets.length > 0 ? call.resolve(targets) : call.members();
}
