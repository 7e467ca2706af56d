import * as z from 'zod';
import type { Recipient, Stanza } from 'age-encryption';
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { SettingsError, attempt } from '../errors.ts';
import { type StoredEntry, WrongPassphraseError } from './store.ts';

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

/** The entries as an armored age file, encrypted with the passphrase. */
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
  readonly workFactor: number;
}

/** Throws WrongPassphraseError, or SettingsError with the path if the file is damaged or not a vault. */
export async function openVault(
  text: string,
  passphrase: string,
  path: string,
): Promise<OpenedVault> {
  const { armor, Decrypter } = await import('age-encryption');
  let workFactor = 0;
  const decrypter = new Decrypter();
  decrypter.addIdentity({
    async unwrapFileKey(stanzas: Stanza[]) {
      workFactor = workFactorOf(stanzas);
      const key = await fileKeyIn(stanzas, passphrase);
      if (key === undefined) throw new WrongPassphraseError(`the passphrase does not open ${path}`);
      return key;
    },
  });
  try {
    const content = await decrypter.decrypt(armor.decode(text), 'text');
    return { entries: readContent(JSON.parse(content), path), workFactor };
  } catch (error) {
    if (error instanceof SettingsError || error instanceof WrongPassphraseError) throw error;
    const what =
      error instanceof NotSealedByPassphraseError
        ? 'is not an age file with a passphrase'
        : 'is damaged';
    throw new SettingsError(
      `the vault ${path} ${what}; devsh left it unchanged: restore it from a copy, or move it away and ` +
        'create a new one with "vault init"',
    );
  }
}

function readContent(data: unknown, path: string): StoredEntry[] {
  const result = contentSchema.safeParse(data);
  if (!result.success) {
    throw new SettingsError(
      `the vault ${path} opens, but contains no logins of this version of devsh; devsh left it unchanged`,
    );
  }
  return result.data.entries;
}

// The scrypt recipient of age, see https://c2sp.org/age. The one in age-encryption computes the key in
// JavaScript on the main thread, which would block the screen and Ctrl-C for a second.

const LABEL = 'age-encryption.org/v1/scrypt';
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const NO_NONCE = Buffer.alloc(12);
/** More would take gigabytes of memory; neither age nor devsh writes such a file. */
const MAX_WORK_FACTOR = 20;

/** The file is no age file, or needs no passphrase. */
class NotSealedByPassphraseError extends Error {}

/** Encrypts with a passphrase; each step of `workFactor` doubles the time of one guess. */
function passphraseRecipient(
  passphrase: string,
  workFactor: number,
  makeStanza: new (args: string[], body: Uint8Array) => Stanza,
): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(SALT_BYTES);
      const key = await deriveKey(passphrase, salt, workFactor);
      const cipher = createCipheriv('chacha20-poly1305', key, NO_NONCE, {
        authTagLength: TAG_BYTES,
      });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const text = salt.toString('base64').replaceAll('=', '');
      return [new makeStanza(['scrypt', text, String(workFactor)], body)];
    },
  };
}

/** Undefined for a wrong passphrase. */
async function fileKeyIn(
  stanzas: readonly Stanza[],
  passphrase: string,
): Promise<Uint8Array | undefined> {
  const [stanza] = stanzas;
  const [kind, salt = ''] = stanza?.args ?? [];
  const workFactor = workFactorOf(stanzas);
  const saltBytes = Buffer.from(salt, 'base64');
  if (
    stanza === undefined ||
    stanzas.length !== 1 ||
    kind !== 'scrypt' ||
    workFactor > MAX_WORK_FACTOR ||
    saltBytes.length !== SALT_BYTES
  ) {
    throw new NotSealedByPassphraseError();
  }
  const { body } = stanza;
  const key = await deriveKey(passphrase, saltBytes, workFactor);
  const cipher = createDecipheriv('chacha20-poly1305', key, NO_NONCE, { authTagLength: TAG_BYTES });
  return attempt(Error, () => {
    cipher.setAuthTag(body.subarray(-TAG_BYTES));
    return Buffer.concat([cipher.update(body.subarray(0, -TAG_BYTES)), cipher.final()]);
  });
}

/** Infinity if the stanza has none. */
function workFactorOf([stanza]: readonly Stanza[]): number {
  const factor = stanza?.args[2] ?? '';
  return /^[1-9]\d?$/.test(factor) ? Number(factor) : Infinity;
}

function deriveKey(passphrase: string, salt: Buffer, workFactor: number): Promise<Buffer> {
  const N = 2 ** workFactor;
  const options = { N, r: 8, p: 1, maxmem: 1024 * (N + 1024) };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), 32, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
