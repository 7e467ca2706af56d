import type { PresentedCertificate } from '../../device/errors.ts';
import { DeclinedError, RefusedError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import { message, type MessageOutput, type Output } from '../output.ts';

interface Shown {
  readonly member: Member;
  readonly presented: PresentedCertificate;
}

/** Shows the certificates and pins them; throws unless the user types yes. */
export async function* askAndPin(call: Call, shown: readonly Shown[]): AsyncGenerator<Output> {
  const names = shown.map(({ member }) => member.ref.name).join(', ');
  if (call.io.ask === undefined) {
    const presents = shown.map(
      ({ member, presented }) => `${member.ref.name} presents ${presented.fingerprint}`,
    );
    throw new RefusedError(
      `${presents.join('; ')}; nobody to ask: if that is right, repeat with ${shown.length === 1 ? '--fingerprint' : 'a list of these: --fingerprints FILE'}`,
    );
  }
  const details: string[] = [];
  for (const { member, presented } of shown) {
    const { subject, validTo, fingerprint } = presented;
    const known = await call.session.services.knownDevices.find(member.ref.address);
    details.push(
      `${member.ref.name}  ${subject}  valid to ${validTo.slice(0, 10)}`,
      ...(known === undefined
        ? []
        : [`  pinned    ${known.fingerprint}  since ${known.firstSeen.slice(0, 10)}`]),
      `  presented ${fingerprint}`,
    );
  }
  const what = shown.length === 1 ? `the certificate of ${names}` : `${shown.length} certificates`;
  const answer = await call.io.ask({
    kind: 'confirm',
    text: `Type yes to trust and pin ${what}:`,
    details,
    expected: 'yes',
  });
  if (answer !== 'yes') throw new DeclinedError('not confirmed: nothing is changed');
  await pinAll(call, shown);
  for (const { member, presented } of shown) yield pinned(member, presented.fingerprint);
}

/** Pins what a device presented, or a fingerprint that the user vouches for. */
export async function pin(
  call: Call,
  member: Member,
  presented: Vouched['presented'],
): Promise<void> {
  await pinAll(call, [{ member, presented }]);
}

export interface Vouched {
  readonly member: Member;
  readonly presented: Pick<PresentedCertificate, 'fingerprint'> & Partial<PresentedCertificate>;
}

/** As `pin`, for many at once: their file is written once. */
export async function pinAll(call: Call, vouched: readonly Vouched[]): Promise<void> {
  if (vouched.length === 0) return;
  const { services } = call.session;
  const firstSeen = services.now().toISOString();
  const pins = vouched.map(({ member, presented: { fingerprint, subject, validTo } }) => ({
    address: member.ref.address,
    fingerprint,
    firstSeen,
    ...(subject !== undefined && { subject }),
    ...(validTo !== undefined && { validTo }),
  }));
  await services.knownDevices.set(...pins);
  // The next command checks against the new pins.
  await Promise.all(vouched.map(({ member }) => member.close()));
}

/**
 * Whether a device has no pin yet; throws RefusedError when it has another one, which only
 * `trust replace` changes.
 */
export async function refuseOther(
  call: Call,
  { ref }: Member,
  fingerprint: string,
): Promise<boolean> {
  const known = await call.session.services.knownDevices.find(ref.address);
  if (known !== undefined && known.fingerprint !== fingerprint) {
    throw new RefusedError(
      `${ref.name} is known already by ${known.fingerprint} since ${known.firstSeen.slice(0, 10)}; ` +
        `"trust replace ${ref.name}" takes another certificate`,
    );
  }
  return known === undefined;
}

export function pinned({ ref }: Member, fingerprint: string): MessageOutput {
  return message('done', `${ref.name} is pinned to ${fingerprint}`);
}
