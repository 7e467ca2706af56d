import { type Pin, pinnedText } from '../../settings/known-devices.ts';
import { parseAddress } from '../../device/address.ts';
import { type PresentedCertificate, UntrustedError } from '../../device/errors.ts';
import type { DeviceRef } from '../../device/record.ts';
import type { Trust } from '../../device/tls.ts';
import { DeclinedError, DevshError, RefusedError } from '../../errors.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { awaiting, type Output, success } from '../output.ts';
import { counted, someOf } from '../../text/one-line.ts';

export const CONNECT_TIMEOUT_MS = 5000;

/** The certificate that a device presents now, compared with the pin. */
type Sighting =
  | { readonly kind: 'known' | 'new'; readonly presented: PresentedCertificate }
  | {
      readonly kind: 'changed';
      readonly presented: PresentedCertificate;
      readonly pin: Pin;
      readonly error: DevshError;
    }
  | { readonly kind: 'failed'; readonly error: DevshError };

export interface Seen {
  readonly session: DeviceSession;
  readonly sighting: Sighting;
}

async function sight(
  call: Call<'route' | 'timeoutMs'>,
  { ref, entry }: DeviceSession,
  trust: Trust | undefined,
): Promise<Sighting> {
  const { changedCertificate, scanCertificate } = await import('../../device/network.ts');
  try {
    const presented = await scanCertificate(ref, parseAddress(ref.address), {
      route: call.shell.services.route(ref.address, call.options.route ?? entry.route),
      connectTimeoutMs: call.options.timeoutMs ?? CONNECT_TIMEOUT_MS,
      signal: call.io.signal,
      trust,
    });
    const pin = await call.shell.services.pinOf(entry);
    if (pin === undefined) return { kind: 'new', presented };
    if (pin.fingerprint === presented.fingerprint) return { kind: 'known', presented };
    return { kind: 'changed', presented, pin, error: changedCertificate(ref, presented) };
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    return { kind: 'failed', error };
  }
}

/** Checks the certificates without HTTP. A certificate that `trust` does not accept is a failure of its device. */
export async function* lookAt(
  call: Call<'route' | 'timeoutMs'>,
  sessions: readonly DeviceSession[],
  trust?: Trust,
): AsyncGenerator<Output, readonly Seen[]> {
  const seen = new Map<DeviceSession, Seen>();
  const awaited = new Set(sessions);
  const look = async (session: DeviceSession, emit: (progress: Output) => void): Promise<void> => {
    seen.set(session, { session, sighting: await sight(call, session, trust) });
    awaited.delete(session);
    emit(awaiting('looking at certificates', awaited, sessions.length));
  };
  yield* fanOut(sessions, call.readWidth, look, call.io.signal);
  return sessions.flatMap((session) => seen.get(session) ?? []);
}

/** The time until a certificate expires: `in 30 days`, `expired 3 days ago`. */
export function expiryText(validTo: string, now: Date): string {
  const days = Math.floor((Date.parse(validTo) - now.getTime()) / 86_400_000);
  if (Number.isNaN(days)) return validTo;
  if (days < 0) return `EXPIRED ${counted(-days, 'day')} ago`;
  return days > 730 ? `in ${Math.floor(days / 365)} years` : `in ${counted(days, 'day')}`;
}

const COMPARE = 'Compare it where the device is managed.';

/** Shows the certificates, and pins them if the user types yes. Throws otherwise. */
export async function* askAndPin(
  call: Call,
  shown: readonly { readonly session: DeviceSession; readonly presented: PresentedCertificate }[],
): AsyncGenerator<Output> {
  const names = shown.map(({ session }) => session.ref.name).join(', ');
  if (call.io.ask === undefined) {
    const presents = shown.map(
      ({ session, presented }) => `${session.ref.name} presents ${presented.fingerprint}`,
    );
    throw new RefusedError(
      `${presents.join('; ')}; devsh cannot ask here: if that is right, repeat with ${shown.length === 1 ? '--fingerprint' : '--fingerprints FILE'}`,
    );
  }
  const details: string[] = [];
  let changed = 0;
  for (const { session, presented } of shown) {
    const { subject, validTo, fingerprint } = presented;
    const { name } = session.ref;
    const known = await call.shell.services.pinOf(session.entry);
    const isChanged = known !== undefined && known.fingerprint !== fingerprint;
    const about = `${subject}  valid to ${validTo.slice(0, 10)}`;
    if (isChanged) {
      changed += 1;
      const since = known.firstSeen.slice(0, 10) || 'inventory ';
      details.push(`${name}  ${about}`, `  pinned ${since}  ${known.fingerprint}`);
      details.push(`  presented now      ${fingerprint}`);
      // The question names the device; on a small screen the fingerprint is seen without scrolling.
    } else if (shown.length === 1) details.push(fingerprint, about);
    else details.push(`${name}  ${about}`, `  presented  ${fingerprint}`);
  }
  const what = shown.length === 1 ? `the certificate of ${names}` : `${shown.length} certificates`;
  const warning = [
    `THE CERTIFICATE OF ${changed === 1 ? names : `${changed} DEVICES`} HAS CHANGED.`,
    'Renewed or reset? Or another machine answers at this address, and would get your login.',
  ];
  const answer = await call.io.ask({
    kind: 'confirm',
    text:
      changed > 0
        ? 'Type yes to replace the pin; Enter means no:'
        : `Type yes to trust and pin ${what}:`,
    details: changed > 0 ? [...warning, ...details, COMPARE] : details,
    expected: 'yes',
    ...(changed > 0 && { isWarning: true }),
  });
  if (answer !== 'yes') throw new DeclinedError('you did not confirm: nothing was changed');
  yield* pinAll(call, shown);
}

/** A longer list of new pins is one line. */
const MOST_LINES = 3;

export interface Vouched {
  readonly session: DeviceSession;
  readonly presented: Pick<PresentedCertificate, 'fingerprint'> & Partial<PresentedCertificate>;
}

/** Pins certificates that devices presented, and fingerprints that the user vouches for. Writes the file once. */
export async function* pinAll(call: Call, vouched: readonly Vouched[]): AsyncGenerator<Output> {
  if (vouched.length === 0) return;
  const { services } = call.shell;
  const firstSeen = services.now().toISOString();
  for (const { session, presented } of vouched) {
    const old = await services.knownDevices.find(session.ref.address);
    if (old !== undefined && old.fingerprint !== presented.fingerprint)
      await call.shell.replacePin(session.ref, old.fingerprint, presented.fingerprint);
  }
  await services.knownDevices.set(
    ...vouched.map((one) => {
      const { fingerprint, subject, validTo } = asPresented(one);
      return { address: one.session.ref.address, fingerprint, firstSeen, subject, validTo };
    }),
  );
  // The next command must check against the new pins.
  await Promise.all(vouched.map(({ session }) => session.close()));
  if (vouched.length > MOST_LINES) {
    const names = vouched.map(({ session }) => session.ref.name);
    yield success(
      `pinned ${names.length} devices: ${someOf(names)}; "trust list" has the fingerprints`,
    );
    return;
  }
  for (const { session, presented } of vouched) {
    yield success(`${session.ref.name} is pinned to ${presented.fingerprint}`);
  }
}

/** The certificate with that fingerprint, if the device has presented it in this session. */
function asPresented({ session: { state }, presented }: Vouched): Vouched['presented'] {
  if (state.kind !== 'failed' || !(state.error instanceof UntrustedError)) return presented;
  const seen = state.error.presented;
  return seen.fingerprint === presented.fingerprint ? seen : presented;
}

/** Throws a `RefusedError` if the device has another pin, which only `trust replace` changes. */
export function refuseOther({ name }: DeviceRef, known: Pin | undefined, wanted: string): void {
  if (known === undefined || known.fingerprint === wanted) return;
  throw new RefusedError(
    `${name} is pinned to ${known.fingerprint} ${pinnedText(known)}; ` +
      `"trust replace ${name}" replaces the pin`,
  );
}
