import { handToCommand, commandFor } from '../../credentials/program-source.ts';
import { type EscrowLine, writeEscrow } from '../../credentials/escrow-file.ts';
import { checkNewSecret, generateSecret } from '../../credentials/new-secret.ts';
import type { RotatedAccount } from '../../device/credential.ts';
import type { DeviceRef } from '../../device/record.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type DeviceEntry, selectDevices } from '../../fleet/inventory.ts';
import { someOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import type { DeviceOption, NewSecretOption } from '../grammar/options.ts';

type SecretCall = Call<never, DeviceOption | NewSecretOption>;

export interface SecretTarget {
  readonly device: DeviceRef;
  readonly account: RotatedAccount;
}

export interface NewSecrets {
  readonly isGenerated: boolean;
  /** Returns the same secret on all devices, or with `--each` one for each. Throws a `DevshError` for a weak secret. */
  secretFor(target: SecretTarget): Promise<string>;
}

/** Throws UsageError unless one source of new secrets is given. */
export function newSecrets(call: SecretCall): NewSecrets {
  const { newStdin = false, generate = false, length, each = false } = call.options;
  if (newStdin === generate) {
    throw new UsageError(
      'give one of --generate and --new-stdin: they say where the new secret comes from',
    );
  }
  if (!generate && length !== undefined) throw new UsageError('--length is for --generate');
  if (newStdin && each) throw new UsageError('--new-stdin has one secret: leave out --each');
  const known = new Map<string, Promise<string>>();
  const choose = async (user: string) =>
    generate ? generateSecret(length) : lineOfStdin(call, user, known.size > 0);
  return {
    isGenerated: generate,
    async secretFor(target) {
      const { user, kind } = target.account;
      const key = JSON.stringify([user, kind, each && target.device]);
      // Stored before it is awaited: devices at the same time share one.
      const secret = known.get(key) ?? choose(user);
      known.set(key, secret);
      checkNewSecret(await secret, target.account);
      return secret;
    },
  };
}

async function lineOfStdin(call: SecretCall, user: string, isSecond: boolean): Promise<string> {
  if (isSecond) {
    throw new UsageError(
      `--new-stdin has one secret, and ${user} is another account: use --generate, or rotate one account at a time`,
    );
  }
  const { tokenStdin, passwordStdin, passphraseStdin } = call.options;
  const before = Number(tokenStdin || passwordStdin) + Number(passphraseStdin);
  const line = (await call.io.readInput()).split(/\r?\n/)[before] ?? '';
  if (line !== '') return line;
  const where = before === 0 ? '' : `line ${before + 1} of `;
  throw new UsageError(`--new-stdin: ${where}standard input contains no secret`);
}

export interface NewSecret extends SecretTarget {
  readonly secret: string;
}

/** A second copy of new secrets, so that one lost machine does not lose the logins of a fleet. */
export interface SecondPlace {
  /** Called before the first write with all secrets of the run, and again with each that a device makes later. */
  keep(secrets: readonly NewSecret[]): Promise<void>;
  /** Called right before the write to this device. Throws a `CredentialError` to prevent the write. */
  hand(secret: NewSecret): Promise<void>;
  /** Hands over the old secret after the device has refused the new one, unless other devices share the entry. */
  handBack(account: RotatedAccount, old: string): Promise<void>;
}

/** The escrow file of the line and the `credential_store_command` of each device. Throws RefusedError if one is needed and missing. */
export function openSecondPlace(
  call: Call<never, 'escrow' | 'recipients'>,
  options: {
    readonly run: string;
    readonly sessions: readonly Pick<DeviceSession, 'entry'>[];
    readonly isNeeded: boolean;
  },
): SecondPlace {
  const { escrow: path, recipients = [] } = call.options;
  if ((path === undefined) !== (recipients.length === 0)) {
    throw new UsageError('--escrow FILE and --recipient age1… belong together');
  }
  const commands = new Map(
    options.sessions.map(({ entry }) => {
      const { address, credentialStoreCommand: template } = entry;
      return [address, template && commandFor(template, entry, 'credential_store_command')];
    }),
  );
  const without = options.sessions.filter(({ entry }) => commands.get(entry.address) === undefined);
  if (options.isNeeded && path === undefined && without.length > 0) {
    const names = without.map(({ entry }) => entry.name);
    throw new RefusedError(
      `the new secrets of ${someOf(names, 4)} would be on this machine alone: give --escrow FILE ` +
        '--recipient age1…, or a credential_store_command in devices.yaml; nothing was sent',
    );
  }
  const lines = new Map<string, EscrowLine>();
  /** By command and account: the secret, and the addresses of its devices. */
  const handed = new Map<string, { readonly secret: string; readonly addresses: Set<string> }>();
  const entryOf = ({ address, user, kind }: RotatedAccount): string =>
    JSON.stringify([commands.get(address), user, kind]);
  const how = { env: call.shell.services.env, signal: call.io.signal };
  const give = (account: RotatedAccount, secret: string): Promise<void> =>
    handToCommand(commands.get(account.address) ?? [], { ...account, secret }, how);
  return {
    async keep(secrets) {
      if (path === undefined) return;
      for (const { device, account, secret } of secrets) {
        const { address, user, kind } = account;
        const line = { device: device.name, address, account: user, kind, secret };
        // An earlier secret that the device may have accepted stays in the file.
        const text = JSON.stringify(line);
        lines.delete(text);
        lines.set(text, line);
      }
      await writeEscrow({ path, recipients }, options.run, [...lines.values()]);
    },
    async hand({ device, account, secret }) {
      if (commands.get(account.address) === undefined) return;
      const entry = entryOf(account);
      const before = handed.get(entry);
      const addresses = new Set(before?.addresses).add(account.address);
      if (addresses.size > 1 && before?.secret !== secret) {
        throw new RefusedError(
          `${device.name}: its credential_store_command keeps one login for several devices: leave out --each, ` +
            'or name the device with {device}',
        );
      }
      handed.set(entry, { secret, addresses });
      await give(account, secret);
    },
    async handBack(account, old) {
      if (commands.get(account.address) === undefined) return;
      const { addresses = [] } = handed.get(entryOf(account)) ?? {};
      if ([...addresses].every((address) => address === account.address)) await give(account, old);
    },
  };
}

const ADVICE: Readonly<Record<string, string>> = {
  environment: 'unset DEVSH_TOKEN or DEVSH_PASSWORD and keep the login with "login" first',
  credential_command: 'give a credential_store_command, too, in devices.yaml',
};

/**
 * The other devices whose program prints a login that is rotated. Throws a `RefusedError` if a login comes from a
 * source that would still have the old secret.
 */
export async function devicesWithSameLogin(
  call: SecretCall,
  own: readonly Pick<DeviceSession, 'entry'>[],
): Promise<readonly string[]> {
  const programs = new Set<string>();
  for (const { entry } of own) {
    const { source } = await call.access.origin(entry);
    const isHanded = source === 'credential_command' && entry.credentialStoreCommand !== undefined;
    const advice = source && ADVICE[source];
    if (advice !== undefined && !isHanded) {
      throw new RefusedError(
        `${entry.name}: its login comes from ${source === 'environment' ? 'the environment' : source}, which would still have the old one: ${advice}; nothing was sent`,
      );
    }
    if (isHanded) programs.add(programOf(entry));
  }
  if (programs.size === 0) return [];
  const addresses = new Set(own.map(({ entry }) => entry.address));
  const inventory = await call.shell.services.inventory.load();
  const others = selectDevices(['@all'], inventory).filter(
    (entry) => !addresses.has(entry.address) && entry.credentialCommand !== undefined,
  );
  return others.filter((entry) => programs.has(programOf(entry))).map(({ name }) => name);
}

function programOf(entry: DeviceEntry): string {
  return JSON.stringify(commandFor(entry.credentialCommand ?? [], entry));
}
