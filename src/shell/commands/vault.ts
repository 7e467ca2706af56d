import { CredentialError, RefusedError } from '../../errors.ts';
import { VaultLockedError } from '../../credentials/vault.ts';
import { type Call, type CommandSpec, verb } from '../command.ts';
import { counted } from '../../text/one-line.ts';
import { DEVICES } from '../grammar/options.ts';
import { table, info, success } from '../output.ts';

/** `vault init|unlock|lock|list`: logins in an age file, for machines without a keychain. */
export const vault: CommandSpec = {
  name: 'vault',
  summary: 'Keep logins in a file of your own, sealed with a passphrase',
  section: 'Trust and login',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'List the logins in the vault, without their secrets',
      options: [...DEVICES],
      changes: 'nothing',
      async *run(call) {
        await open(call);
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
          yield info('the vault is empty: "login --to vault" fills it');
        }
      },
    }),
    verb({
      name: 'init',
      summary: 'Make an empty vault, sealed with a new passphrase',
      options: [...DEVICES],
      details:
        'The vault is an age file that "age -d" opens, too. Where no keychain answers, "login" keeps\n' +
        'its logins there; "login --to vault" does so anywhere. Nobody can open it without the passphrase.',
      examples: ['vault init', 'vault init --passphrase-stdin < passphrase.txt'],
      async *run(call) {
        const { vault } = call.shell.services;
        if (await vault.exists()) {
          throw new RefusedError(`there is already a vault: ${vault.path}; nothing is changed`);
        }
        await vault.create(await newPassphrase(call));
        yield success(`made the vault ${vault.path}`);
      },
    }),
    verb({
      name: 'unlock',
      summary: 'Open the vault for this session',
      options: [...DEVICES],
      details:
        'Only of use at the prompt: the passphrase is kept in memory until "vault lock" or the end. A\n' +
        'command that needs the vault asks by itself, or reads it with --passphrase-stdin.',
      async *run(call) {
        await open(call);
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

/** Unlocks the vault. Throws if there is none, or if no passphrase is given. */
async function open({ access, credentials, shell }: Call): Promise<void> {
  const { vault } = shell.services;
  if (!vault.isUnlocked && !(await vault.exists())) {
    throw new CredentialError(`there is no vault at ${vault.path}: "vault init" makes one`);
  }
  if (!(await credentials.unlockVault(access.askPassphrase))) {
    throw new VaultLockedError(vault.path);
  }
}

/** Asks twice, or reads the first line of standard input. */
async function newPassphrase({ io, options, shell }: Call<'passphraseStdin'>): Promise<string> {
  if (options.passphraseStdin) {
    const [passphrase = ''] = (await io.readInput()).split(/\r?\n/);
    return passphrase;
  }
  if (io.ask === undefined) {
    throw new CredentialError('nobody to ask for the passphrase: use --passphrase-stdin');
  }
  const details = [`It seals ${shell.services.vault.path}, and cannot be found out again.`];
  const first = await io.ask({ kind: 'secret', text: 'New passphrase of the vault:', details });
  if (first === undefined || first === '') throw new RefusedError('no passphrase; nothing is made');
  const again = await io.ask({ kind: 'secret', text: 'The same once more:' });
  if (again !== first) throw new RefusedError('these are two passphrases; nothing is made');
  return first;
}
