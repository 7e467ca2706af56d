import type { Stanza } from 'age-encryption';
import * as z from 'zod';
import { SettingsError } from '../errors.ts';
import {
  NotSealedByPassphraseError,
  passphraseIdentity,
  passphraseRecipient,
  workFactorOf,
} from './age-passphrase.ts';
import { accountOf, type StoredEntry } from './store.ts';
import { WrongPassphraseError } from './wrong-passphrase.ts';

const SCHEMA = 'devsh-vault/1';

const contentSchema = z.object({
  schema: z.literal(SCHEMA),
  entries: z.array(
    z.object({
      address: z.string().min(1),
      kind: z.enum(['basic', 'token']),
      user: z.string().optional(),
      secret: z.string().min(1),
    }),
  ),
});

/** The entries as the text of an armored age file, sealed with the passphrase. */
export async function sealVault(
  entries: readonly StoredEntry[],
  passphrase: string,
  workFactor: number,
): Promise<string> {
  const { armor, Encrypter, Stanza } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.addRecipient(passphraseRecipient(passphrase, workFactor, Stanza));
  const content = JSON.stringify({ schema: SCHEMA, entries }, undefined, 2);
  return armor.encode(await encrypter.encrypt(`${content}\n`));
}

export interface OpenedVault {
  readonly entries: readonly StoredEntry[];
  /** How hard it was sealed. */
  readonly workFactor: number;
}

/**
 * The inverse of `sealVault`. Throws WrongPassphraseError, and SettingsError that names the file when
 * it is damaged or none of ours.
 */
export async function openVault(
  text: string,
  passphrase: string,
  path: string,
): Promise<OpenedVault> {
  const { armor, Decrypter } = await import('age-encryption');
  const attempt = { isWrong: false, workFactor: 0 };
  const identity = passphraseIdentity(passphrase);
  const decrypter = new Decrypter();
  decrypter.addIdentity({
    async unwrapFileKey(stanzas: Stanza[]) {
      const key = await identity.unwrapFileKey(stanzas);
      attempt.isWrong = key === null;
      attempt.workFactor = workFactorOf(stanzas);
      return key;
    },
  });
  try {
    const content = await decrypter.decrypt(armor.decode(text), 'text');
    const entries = readContent(JSON.parse(content), path);
    return { entries, workFactor: attempt.workFactor };
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    if (attempt.isWrong) throw new WrongPassphraseError(`the passphrase does not open ${path}`);
    const what =
      error instanceof NotSealedByPassphraseError
        ? 'is no age file that a passphrase opens'
        : 'is damaged';
    throw new SettingsError(
      `the vault ${path} ${what}; it is left as it is: restore it from a copy, or move it away and ` +
        'begin anew with "vault init"',
    );
  }
}

function readContent(data: unknown, path: string): StoredEntry[] {
  const result = contentSchema.safeParse(data);
  if (!result.success) {
    throw new SettingsError(
      `the vault ${path} opens, but holds no logins of this version of devsh; it is left as it is`,
    );
  }
  return result.data.entries.map(({ address, kind, user, secret }) => ({
    ...accountOf({ address, kind, ...(user !== undefined && { user }) }),
    secret,
  }));
}
