import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import type { Identity, Recipient, Stanza } from 'age-encryption';

// The scrypt recipient of age, as https://c2sp.org/age says it. The one in age-encryption computes the
// key in JavaScript on the main thread, where a second of it would hold up the screen and Ctrl-C.

const LABEL = 'age-encryption.org/v1/scrypt';
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const NO_NONCE = Buffer.alloc(12);
/** More would take gigabytes: such a file was not made by age or by us. */
const MAX_WORK_FACTOR = 20;

/** The file is no age file that a passphrase opens. */
export class NotSealedByPassphraseError extends Error {}

/** Seals with a passphrase; each step of `workFactor` doubles the time to try one. */
export function passphraseRecipient(
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

/** Opens with a passphrase. Its `unwrapFileKey` gives null for a wrong one. */
export function passphraseIdentity(passphrase: string): Identity {
  return {
    async unwrapFileKey(stanzas) {
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
      return decrypt(stanza.body, await deriveKey(passphrase, saltBytes, workFactor));
    },
  };
}

/** Infinity when it is not said. */
export function workFactorOf([stanza]: readonly Stanza[]): number {
  const factor = stanza?.args[2] ?? '';
  return /^[1-9]\d?$/.test(factor) ? Number(factor) : Infinity;
}

function decrypt(body: Uint8Array, key: Buffer): Uint8Array | null {
  const cipher = createDecipheriv('chacha20-poly1305', key, NO_NONCE, { authTagLength: TAG_BYTES });
  try {
    cipher.setAuthTag(body.subarray(-TAG_BYTES));
    return Buffer.concat([cipher.update(body.subarray(0, -TAG_BYTES)), cipher.final()]);
  } catch {
    return null;
  }
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
