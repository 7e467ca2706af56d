import { normalizeFingerprint, readCa } from '../../device/trust-anchors.ts';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { Inventory } from '../../fleet/inventory.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { type Output, info } from '../output.ts';
import { lookAt, pinAll, refuseOther, type Vouched } from './certificates.ts';

/** Replaces a pin if the new certificate is proved: by the list of --fingerprints, or by the signature of --ca. */
export async function* pinProved(
  call: Call<'fingerprints' | 'ca' | 'route' | 'timeoutMs'>,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output> {
  const { fingerprints, ca: file } = call.given;
  if (fingerprints !== undefined) {
    yield* acceptListed(call, sessions, fingerprints, true);
    return;
  }
  if (file === undefined) return;
  const pem = readCa(await call.readText(file), file);
  const vouched: Vouched[] = [];
  for (const { session, sighting } of yield* lookAt(call, sessions, { kind: 'ca', pem, file })) {
    if (sighting.kind === 'failed')
      yield { kind: 'error', error: sighting.error, device: session.ref };
    else if (sighting.kind === 'known') yield info(`${session.ref.name} is pinned already`);
    else vouched.push({ session, presented: sighting.presented });
  }
  yield* pinAll(call, vouched);
}

/** Pins what a file of the user lists, without contacting a device; if `replaces`, also over another pin. */
export async function* acceptListed(
  call: Call,
  sessions: readonly DeviceSession[],
  file: string,
  replaces = false,
): AsyncGenerator<Output> {
  const inventory = await call.shell.services.inventory.load();
  const listed = fingerprintsIn(await call.readText(file), file, inventory);
  const vouched: Vouched[] = [];
  for (const session of sessions) {
    const { ref } = session;
    try {
      const [fingerprint, ...others] = listed.get(ref.address) ?? [];
      if (fingerprint === undefined) {
        throw new RefusedError(`${ref.name}: ${file} has no SHA-256 fingerprint for it`);
      }
      if (others.length > 0) {
        throw new RefusedError(`${ref.name}: ${file} has several fingerprints for it`);
      }
      const known = await call.shell.services.pinOf(session.entry);
      if (!replaces) refuseOther(ref, known, fingerprint);
      if (known?.fingerprint !== fingerprint) {
        vouched.push({ session, presented: { fingerprint } });
      } else {
        yield info(`${ref.name} is pinned already`);
      }
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      yield { kind: 'error', error, device: ref };
    }
  }
  yield* pinAll(call, vouched);
}

/** By address, the first fingerprint of each line, as `trust scan` prints it. Throws a `UsageError` otherwise. */
function fingerprintsIn(
  text: string,
  file: string,
  inventory: Inventory,
): ReadonlyMap<string, ReadonlySet<string>> {
  if (/^\s*(?:\{|\[\s*[{"\]])/.test(text)) {
    throw new UsageError(
      `${file} is JSON; each line must start with a device: "trust scan @berlin > FILE" writes that`,
    );
  }
  const listed = new Map<string, Set<string>>();
  for (const [index, line] of text.split('\n').entries()) {
    // A CSV cell that continues in the next line could look like a device.
    if ((line.match(/"/g)?.length ?? 0) % 2 === 1) {
      throw new UsageError(`${file}:${index + 1}: a quotation mark is not closed in its line`);
    }
    const [device = '', ...words] = line.split(/[\s,;"]+/).filter((word) => word !== '');
    // openssl writes `sha256 Fingerprint=…`.
    const values = words.map((word) => normalizeFingerprint(word.replace(/^fingerprint=/i, '')));
    const fingerprint = values.find((one) => one !== undefined);
    if (fingerprint === undefined || device.startsWith('#')) continue;
    const address = addressOf(device, inventory, `${file}:${index + 1}`);
    listed.set(address, (listed.get(address) ?? new Set<string>()).add(fingerprint));
  }
  return listed;
}

/** The address of a device. A name wins over an address, as in selectors. */
function addressOf(word: string, inventory: Inventory, place: string): string {
  try {
    return formatAddress(parseAddress(inventory.find(word)?.address ?? word));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${place}: ${error.message}`, { cause: error });
  }
}
