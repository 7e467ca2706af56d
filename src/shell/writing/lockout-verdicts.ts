import type { Change } from '../../change/change.ts';
import { type FoundAccount, NOT_KNOWN } from '../../change/lockout.ts';
import { isGood, type StepResult } from '../../change/verdict.ts';
import { type DeviceRef, grouped } from '../../device/record.ts';
import { type DevshError, RefusedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
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
}

interface Row {
  readonly device: DeviceRef;
  readonly account: string | null;
  readonly verdict: string;
  /** What became of sessions and tokens. */
  readonly access: string | null;
}

const NOT_ENDED = 'not known to be ended';

/** Never claims more than was read back: `disabled` and `deleted` say nothing about what was open before. */
export function* lockoutVerdicts(outcome: Outcome): Generator<Output> {
  const { key, targets, left, absent, read, results } = outcome;
  const acted = targets.flatMap((target) => rowsOf(target, results));
  const found: Row[] = [
    ...acted,
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
    ['device', 'account', 'verdict', { key: 'access', title: 'SESSIONS AND TOKENS' }],
    rows.map(({ device, ...row }) => ({ device: device.name, address: device.address, ...row })),
    { hasSuccess: closed.length > 0 },
  );
  const parts = [...grouped(rows.slice(0, found.length), ({ verdict }) => verdict)];
  const texts = parts.map(([verdict, some]) => `${verdict} on ${namesOf(some)}`);
  const lasting = targets.filter((target) => endedOn(target, results) < (target.open ?? 0));
  const isWhole = closed.length === found.length && lasting.length === 0;
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
