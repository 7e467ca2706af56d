import type { Change } from '../../change/change.ts';
import { type FoundAccount, NOT_KNOWN } from '../../change/lockout.ts';
import { isGood, type StepResult } from '../../change/verdict.ts';
import type { Credential } from '../../device/credential.ts';
import { DeviceError } from '../../device/errors.ts';
import { accountsOf, listPath } from '../../device/profile.ts';
import { type DeviceRef, grouped } from '../../device/record.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import { withoutAsking } from '../../fleet/access.ts';
import { DeviceSession } from '../../fleet/device-session.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import type { WriteCall } from '../command.ts';
import { type Output, success, table, warning } from '../output.ts';

/** What one device needs. */
export interface Target {
  readonly session: DeviceSession;
  /** That of the accounts. */
  readonly resource: string;
  readonly accounts: readonly FoundAccount[];
  readonly changes: readonly Change[];
  /** Number of sessions and tokens to end; undefined if it is not known where they are. */
  readonly open: number | undefined;
}

/** What a lockout came to, device by device. */
interface Outcome {
  readonly key: string;
  readonly targets: readonly Target[];
  /** What may belong to the person and was not marked. */
  readonly left: readonly FoundAccount[];
  readonly absent: ReadonlyMap<DeviceSession, DevshError>;
  readonly read: readonly DeviceSession[];
  readonly results: readonly StepResult[];
  /** The old login; undefined without `--prove`. */
  readonly login: Credential | undefined;
}

interface Row {
  readonly device: DeviceRef;
  readonly account: string | null;
  readonly verdict: string;
  /** What became of sessions and tokens. */
  readonly access: string | null;
}

const NOT_ENDED = 'not known to be ended';
const LOGGED_IN = 'logged in';
const NOT_PROVEN = 'not proven';

/** Never claims more than was read back: `disabled` and `deleted` say nothing about what was open before. */
export async function* lockoutVerdicts(call: WriteCall, outcome: Outcome): AsyncGenerator<Output> {
  const { key, targets, left, absent, read, results, login } = outcome;
  const acted = targets.flatMap((target) => rowsOf(target, results));
  const done = acted.filter(isClosed);
  const proven =
    login === undefined
      ? undefined
      : yield* prove(
          call,
          sessionsOf(targets, done, key),
          `the old ${secretOf(login)} of ${visible(key)}`,
          login,
        );
  const isOpen = ({ device, account }: Row): boolean =>
    account === key && proven?.get(device.address) === LOGGED_IN;
  const found: Row[] = [
    ...acted.map((row) => (isOpen(row) ? { ...row, verdict: 'still open' } : row)),
    ...left.map(({ device, key: account }) => rowOf(device, account, 'not marked')),
    ...[...absent.keys()].map(({ ref }) => rowOf(ref, key, 'not read')),
  ];
  const concerned = new Set(found.map(({ device }) => device.address));
  const others = read.filter(({ ref }) => !concerned.has(ref.address));
  const closed = found.filter(isClosed);
  // What is still open comes first.
  const rows = [
    ...found.filter((row) => !isClosed(row)),
    ...closed,
    ...others.map(({ ref }) => rowOf(ref, null, 'no such account')),
  ];
  yield table(
    'lockout',
    [
      ...['device', 'account', 'verdict'],
      { key: 'access', title: 'SESSIONS AND TOKENS' },
      proven !== undefined && {
        key: 'login',
        title: `GIVEN ${login === undefined ? '' : secretOf(login).toUpperCase()}`,
      },
    ],
    rows.map(({ device, ...row }) => ({
      device: device.name,
      address: device.address,
      ...row,
      ...(proven && { login: (row.account === key && proven.get(device.address)) || 'not tried' }),
    })),
    { hasSuccess: closed.length > 0 },
  );
  const parts = [...grouped(rows.slice(0, found.length), ({ verdict }) => verdict)];
  const texts = parts.map(([verdict, some]) => `${verdict} on ${namesOf(some)}`);
  const lasting = targets.filter((target) => endedOn(target, results) < (target.open ?? 0));
  const isWhole =
    closed.length === found.length &&
    lasting.length === 0 &&
    [...(proven ?? [])].every(([, login]) => login !== NOT_PROVEN);
  const text = `${visible(key)}: ${texts.join('; ')}`;
  yield isWhole ? success(text) : warning(text);
  if (lasting.length > 0) {
    const where = someOf(lasting.map(({ session }) => visible(session.ref.name)));
    yield warning(
      `open sessions and API tokens: not all ended on ${where}; "lockout ${visible(key)}" again ends those that are left`,
    );
  }
  const unknown = rows.filter(({ access }) => access === NOT_ENDED);
  if (unknown.length > 0) yield warning(`${NOT_KNOWN} (${namesOf(unknown)})`);
  for (const { device, key: account, why } of left) {
    const error = new RefusedError(
      `${device.name}: ${visible(account)}: ${visible(why)}: only with --also`,
    );
    yield { kind: 'error', error, device };
  }
}

function rowOf(device: DeviceRef, account: string | null, verdict: string): Row {
  return { device, account, verdict, access: null };
}

function namesOf(rows: readonly Row[]): string {
  return someOf([...new Set(rows.map(({ device }) => visible(device.name)))]);
}

function isClosed({ verdict }: Row): boolean {
  return verdict === 'disabled' || verdict === 'deleted';
}

function sessionsOf(targets: readonly Target[], rows: readonly Row[], key: string) {
  const addresses = new Set(
    rows.filter(({ account }) => account === key).map(({ device }) => device.address),
  );
  return targets.map(({ session }) => session).filter(({ ref }) => addresses.has(ref.address));
}

/** Number of its sessions and tokens that are ended. */
function endedOn({ session, resource }: Target, all: readonly StepResult[]): number {
  const results = all.filter(({ device }) => device.address === session.ref.address);
  return results.filter((result) => result.resource !== resource && isGood(result)).length;
}

/** One row for each account of a device. */
function rowsOf(target: Target, all: readonly StepResult[]): Row[] {
  const { session, resource, accounts, open } = target;
  const results = all.filter(({ device }) => device.address === session.ref.address);
  const ended = `${endedOn(target, all)} of ${open ?? 0} ended`;
  const access = open === undefined ? NOT_ENDED : open === 0 ? 'none listed' : ended;
  return accounts.map(({ key }) => {
    const result = results.find((one) => one.resource === resource && one.key === key);
    const good = result?.action === 'delete' ? 'deleted' : 'disabled';
    const verdict = result && isGood(result) ? good : (result?.verdict ?? 'not sent');
    return { device: session.ref, account: key, verdict, access };
  });
}

function secretOf({ kind }: Credential): string {
  return kind === 'token' ? 'token' : 'password';
}

class StillOpenError extends DeviceError {
  override readonly code = 'still-open';
}

/** Neither a login nor the refusal of one. */
class NotProvenError extends DeviceError {
  override readonly code = 'not-proven';
}

/**
 * Sends the old login once to each device, on a fresh connection. It is meant to be refused: the gate that
 * keeps a refused login from other devices does not count here.
 */
async function* prove(
  call: WriteCall,
  sessions: readonly DeviceSession[],
  what: string,
  login: Credential,
): AsyncGenerator<Output, ReadonlyMap<string, string>> {
  const proven = new Map<string, string>();
  const access = {
    ...withoutAsking(call.access),
    admit: () => Promise.resolve(),
    settle: () => undefined,
  };
  const tried = fanOut<DeviceSession, { session: DeviceSession; status: number | DevshError }>(
    sessions,
    call.writeWidth,
    async (session, emit) => {
      const fresh = new DeviceSession(session.entry);
      try {
        await fresh.openWith(access, login);
        // Not the root of the API, which may need no login.
        const path = listPath(session.profile, accountsOf(session.profile));
        const { status } = await fresh.use(access, (device) =>
          device.raw({ method: 'GET', path }, call.io.signal),
        );
        emit({ session, status });
      } catch (error) {
        if (!(error instanceof DevshError)) throw error;
        emit({ session, status: error });
      } finally {
        await fresh.close();
      }
    },
    call.io.signal,
  );
  for await (const { session, status } of tried) {
    const { ref } = session;
    if (status === 401 || (status instanceof DevshError && status.code === 'unauthorized')) {
      proven.set(ref.address, 'refused');
      continue;
    }
    const isIn = typeof status === 'number' && status < 300;
    // Not 403, neither: some devices send it for a disabled account, others for one without rights.
    proven.set(ref.address, isIn ? LOGGED_IN : NOT_PROVEN);
    const error =
      status instanceof DevshError
        ? status
        : isIn
          ? new StillOpenError(ref, `accepts ${what} (HTTP ${status}): the account is not closed`)
          : new NotProvenError(ref, `HTTP ${status} does not prove that it refuses ${what}`);
    yield { kind: 'error', error, device: ref };
  }
  return proven;
}
