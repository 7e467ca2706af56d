import { RefusedError, UsageError, attempt } from '../errors.ts';
import { readText, writeNewText, writeTextAtomically } from '../os/files.ts';
import { oneLine } from '../text/one-line.ts';

/** One new secret in the file: `{"device":"fw1","address":"10.0.0.5:443",…}`. */
export interface EscrowLine {
  readonly device: string;
  readonly address: string;
  readonly account: string;
  readonly kind: 'basic' | 'token';
  readonly secret: string;
}

export interface Escrow {
  readonly path: string;
  /** Public keys of age: `age1…`. */
  readonly recipients: readonly string[];
}

/** A stanza of the age header, which age ignores: it names the run in clear text. */
const STANZA = 'devsh-run';

/** Writes the new secrets of a run as an age file. Throws RefusedError for a file of another run. */
export async function writeEscrow(
  { path, recipients }: Escrow,
  run: string,
  lines: readonly EscrowLine[],
): Promise<void> {
  const { armor, Encrypter, Stanza } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (error) {
      const text = `--recipient: "${oneLine(recipient)}" is not a public key of age (age1…)`;
      throw new UsageError(text, { cause: error });
    }
  }
  encrypter.addRecipient({ wrapFileKey: () => [new Stanza([STANZA, run], new Uint8Array())] });
  const before = await readText(path);
  const header = attempt(Error, () => Buffer.from(armor.decode(before ?? '')).toString('latin1'));
  const isOfRun = header?.split('\n').includes(`-> ${STANZA} ${run}`) === true;
  if (before !== undefined && !isOfRun) {
    throw new RefusedError(`${path} exists and is not of this run: give another file to --escrow`);
  }
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sealed = armor.encode(await encrypter.encrypt(text));
  await (before === undefined ? writeNewText : writeTextAtomically)(path, sealed);
}
