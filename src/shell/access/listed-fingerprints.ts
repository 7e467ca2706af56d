import { normalizeFingerprint } from '../../device/fingerprint.ts';
import type { DeviceRef } from '../../device/record.ts';
import { RefusedError, SettingsError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import type { Output } from '../output.ts';
import { info, pinAll, pinned, refuseOther } from './pin-certificates.ts';

/** Pins for each device what a file of the user's says of it; no device is asked. */
export async function* acceptListed(
  call: Call,
  members: readonly Member[],
  file: string,
): AsyncGenerator<Output> {
  const listed = fingerprintsIn(await call.readText(file), file);
  const vouched: { member: Member; presented: { fingerprint: string } }[] = [];
  for (const member of members) {
    const { ref } = member;
    try {
      const fingerprint = listedFor(ref, listed, file);
      const isNew = await refuseOther(call, member, fingerprint);
      if (isNew) vouched.push({ member, presented: { fingerprint } });
      else yield info(`${ref.name} is known already`);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      yield { kind: 'error', error, device: ref };
    }
  }
  await pinAll(call, vouched);
  for (const { member, presented } of vouched) yield pinned(member, presented.fingerprint);
}

/**
 * By the first word of a line, a device, the first fingerprint behind it: what `trust scan` writes, or
 * lines typed by hand. What comes later in a line was said by the device, and is not looked at. Lines
 * without a fingerprint say nothing.
 */
export function fingerprintsIn(text: string, file: string): ReadonlyMap<string, string> {
  const listed = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [device = '', ...words] = line.split(/[\s,;"]+/).filter((word) => word !== '');
    const fingerprint = words.map(normalizeFingerprint).find((one) => one !== undefined);
    if (fingerprint === undefined || device.startsWith('#')) continue;
    const before = listed.get(device);
    if (before !== undefined && before !== fingerprint) {
      throw new SettingsError(
        `${file}:${index + 1}: another fingerprint of ${device} than in a line before`,
      );
    }
    listed.set(device, fingerprint);
  }
  return listed;
}

function listedFor(
  { name, address }: DeviceRef,
  listed: ReadonlyMap<string, string>,
  file: string,
): string {
  const host = address.replace(/:443$/, '');
  const found = [name, address, host].flatMap((word) => listed.get(word) ?? []);
  const [fingerprint, ...others] = new Set(found);
  if (fingerprint === undefined) {
    throw new RefusedError(`${name}: ${file} has no SHA-256 fingerprint for it`);
  }
  if (others.length > 0) {
    throw new RefusedError(`${name}: ${file} has another fingerprint for ${address}`);
  }
  return fingerprint;
}
