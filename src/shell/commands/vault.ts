import { CredentialError, RefusedError } from '../../errors.ts';
import { type Call, type CommandSpec, verb } from '../command.ts';
import { counted } from '../../text/one-line.ts';
import { DEVICES } from '../grammar/options.ts';
import { table, info, success } from '../output.ts';

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
    throw new CredentialError('nobody to ask for the passphrase: use --passphrase-stdin');
  }
  const details = [`It encrypts ${shell.services.vault.path} and cannot be recovered.`];
  const first = await io.ask({ kind: 'secret', text: 'New passphrase of the vault:', details });
  if (first === undefined || first === '')
    throw new RefusedError('no passphrase; no vault was created');
  const again = await io.ask({ kind: 'secret', text: 'The same again:' });
  if (again !== first) throw new RefusedError('the passphrases differ; no vault was created');
  return first;
}
