import { UnauthorizedError } from '../../device/errors.ts';
import { CredentialError, DevshError } from '../../errors.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import { expiryText } from '../access/certificates.ts';
import type { Finding } from './finding.ts';

/** A clock that is off by more makes logs, certificates and tokens hard to trust. */
const CLOCK_TOLERANCE_MS = 60_000;
const SOON_MS = 30 * 86_400_000;

/** Reachability, certificate, login and clock of each device, by one GET. */
export function deviceFindings(call: Call, members: readonly Member[]): AsyncGenerator<Finding> {
  const look = async (member: Member, emit: (finding: Finding) => void): Promise<void> => {
    for await (const finding of findingsOf(call, member)) emit(finding);
  };
  return fanOut(members, call.readWidth, look, call.io.signal);
}

async function* findingsOf(call: Call, member: Member): AsyncGenerator<Finding> {
  const { services } = call.session;
  const area = member.ref.name;
  const before = services.now();
  try {
    const answer = await member.use(call.access, async (device) => {
      const path = device.profile.basePath;
      const said = await device.raw({ method: 'GET', path }, call.io.signal);
      // Thrown in here: a password that was refused goes to no further device.
      if (said.status === 401) throw refusedLogin(member);
      return said;
    });
    yield { area, what: 'answers', state: 'ok', detail: `${Math.round(answer.elapsedMs)} ms` };
    yield await certificateFinding(call, member);
    yield { area, what: 'login', state: 'ok', detail: `as ${accountOf(member)}` };
    yield clockFinding(area, answer.headers['date'], before, services.now());
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    const isLogin = error instanceof UnauthorizedError || error instanceof CredentialError;
    const what = isLogin ? 'login' : 'answers';
    yield { area, what, state: 'failed', detail: error.message, error };
  }
}

function refusedLogin({ ref }: Member): UnauthorizedError {
  const advice = `"login ${ref.name}" keeps another`;
  return new UnauthorizedError(ref, `the login is not accepted; ${advice}`, 401);
}

function accountOf({ account, credential }: Member): string {
  return account ?? (credential === undefined ? 'nobody' : 'the owner of the token');
}

async function certificateFinding(call: Call, { ref, trust }: Member): Promise<Finding> {
  const about = { area: ref.name, what: 'certificate' } as const;
  if (trust?.kind === 'insecure') return { ...about, state: 'warning', detail: 'NOT CHECKED' };
  if (trust?.kind !== 'pinned') {
    const detail = trust?.kind === 'ca' ? `by the CA in ${trust.file}` : 'by a CA of the system';
    return { ...about, state: 'ok', detail };
  }
  const { services } = call.session;
  const now = services.now();
  const validTo = (await services.knownDevices.find(ref.address))?.validTo;
  const pinned = `pinned since ${trust.pinnedAt.slice(0, 10)}`;
  if (validTo === undefined) return { ...about, state: 'ok', detail: pinned };
  const ends = expiryText(validTo, now);
  const isSoon = Date.parse(validTo) - now.getTime() < SOON_MS;
  return { ...about, state: isSoon ? 'warning' : 'ok', detail: `${pinned}, ends ${ends}` };
}

function clockFinding(area: string, date: string | undefined, before: Date, after: Date): Finding {
  const about = { area, what: 'clock' } as const;
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) {
    return { ...about, state: 'not used', detail: 'the device does not say what time it is' };
  }
  // The header has whole seconds.
  const ours = (before.getTime() + after.getTime()) / 2 - 500;
  const off = theirs - ours;
  const seconds = Math.round(Math.abs(off) / 1000);
  if (Math.abs(off) < CLOCK_TOLERANCE_MS) {
    return { ...about, state: 'ok', detail: seconds < 2 ? 'agrees' : `${seconds} s off` };
  }
  const direction = off > 0 ? 'ahead' : 'behind';
  return { ...about, state: 'warning', detail: `${humane(seconds)} ${direction} of this machine` };
}

function humane(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3600)} hours`
    : `${Math.round(seconds / 86_400)} days`;
}
