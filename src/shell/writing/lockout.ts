import type { Change } from '../../change/change.ts';
import { identityOf, personOf } from '../../change/identity.ts';
import {
  accessRecords,
  accessResources,
  type AccountReading,
  disablingFields,
  findAccount,
  type FoundAccount,
} from '../../change/lockout.ts';
import { whose } from '../../change/pairing.ts';
import {
  type DevicePlan,
  isOwing,
  notCoveredBy,
  notCoveredText,
  NotPossibleError,
  type Plan,
  unplanned,
} from '../../change/plan.ts';
import type { ReadInFull, RequestedChanges } from '../../change/read-and-plan.ts';
import { isGood, type StepResult } from '../../change/verdict.ts';
import { accountsOf, idOf, keyFieldOf, type Profile } from '../../device/profile.ts';
import { type DeviceRecord, grouped, valueText } from '../../device/record.ts';
import { shownKey } from '../../device/sensitive-fields.ts';
import {
  DeclinedError,
  type DevshError,
  NotFoundError,
  RefusedError,
  unlessFailed,
  UsageError,
} from '../../errors.ts';
import { absenceOf } from '../../fleet/absence.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import { accountResources } from '../access/access.ts';
import { plainKey } from '../arguments.ts';
import type { Call, WriteCall } from '../command.ts';
import type { LOCKOUT } from '../grammar/options.ts';
import { info, type Output, table, type TableOutput, warning } from '../output.ts';
import { lineOn } from './consent.ts';
import { write, type WriteIntent } from './write.ts';
import { textOf } from '../../output/sentences.ts';

/** The caution in the plan, in each verdict, in the journal and in the report. */
const NOT_KNOWN = 'open sessions and API tokens: not known to be ended';

type LockoutCall = Call<(typeof LOCKOUT)[number]>;

/** The accounts that one device shows, and the changes that lock them out. */
interface Wanted extends AccountReading {
  readonly profile: Profile;
  /** The change that disables or deletes each account that is meant. */
  readonly closing: ReadonlyMap<DeviceRecord, Change>;
  /** Deletes the sessions and tokens of these accounts. */
  readonly ending: readonly Change[];
  /** Says that there may be more sessions and tokens; undefined if devsh knows all. */
  readonly caution: string | undefined;
  /** By account name: why devsh does not know whether the device has the account. */
  readonly doubts: ReadonlyMap<string, NotPossibleError>;
}

/** `lockout KEY…`: on every known device the accounts are disabled, and their sessions and tokens are deleted. */
export async function* lockOut(call: LockoutCall): AsyncGenerator<Output> {
  const keys = [...new Set(call.args.all('KEY').map((text) => plainKey(call, 'user', text)))];
  const all = call.atOnce();
  const sessions = await everyDevice(call);
  const resources = await accountResources(call.shell.services, sessions);
  const found = new Map<string, Wanted>();
  const wanted = (session: DeviceSession): RequestedChanges => {
    const resource = resources.get(session) ?? 'user';
    const changes = async (readInFull: ReadInFull) => {
      const one = await lookOn(all, session, { resource, keys, readInFull });
      found.set(session.ref.address, one);
      const [doubt] = one.doubts.values();
      if (one.closing.size === 0 && doubt !== undefined) throw doubt;
      return [...one.closing.values(), ...one.ending];
    };
    return { changes, about: keys.map((key) => ({ action: 'set', resource, key })) };
  };
  let plan: Plan | undefined;
  const review: WriteIntent['review'] = async function* (planned) {
    const readings = planned.devices.flatMap(({ device }) => found.get(device.address) ?? []);
    const searches = keys.map((key) => ({ key, ...findAccount(key, readings) }));
    const details: string[] = [];
    const read = counted(readings.length, 'device');
    const holders = searches.map(
      ({ key, same }) => `account ${visible(key)}: on ${same.length} of ${read} read`,
    );
    for (const text of holders) yield info(text);
    for (const { key, related } of searches) {
      const others = related.filter((one) => !keys.includes(one.key));
      for (const [text, some] of grouped(others, sharedText)) {
        const names = someOf(some.map(({ device }) => visible(device.name)));
        const line = `lockout ${[key, some[0].key].map(quoteWord).join(' ')}`;
        details.push(`not locked out: ${text} on ${names}; "${line}" does both`);
      }
    }
    const isNobody = searches.every(({ same }) => same.length === 0);
    for (const { key, same, contradicting } of searches) {
      const error = same.length === 0 && nobody(key, contradicting, planned, found);
      if (error && (isNobody || !(error instanceof NotPossibleError))) throw error;
    }
    for (const { closing, doubts } of readings) {
      if (closing.size === 0) continue;
      for (const error of doubts.values()) yield { kind: 'error', error, device: error.device };
    }
    yield* deletions(call, readings);
    const devices = planned.devices.map((one) => reviewed(one, searches, found));
    plan = { ...planned, devices };
    await confirmAbsent(call, planned, holders);
    const open = readings.filter(({ caution, closing }) => caution && closing.size > 0);
    if (open.length > 0) {
      details.push(`${NOT_KNOWN} (${someOf(open.map(({ device }) => visible(device.name)))})`);
    }
    if (readings.some(({ ending }) => ending.length > 0)) {
      details.push('no undo opens the ended sessions and tokens again');
    }
    for (const text of details) yield warning(text);
    return { plan, details };
  };
  const results: StepResult[] = [];
  for await (const output of write(all, {
    ...{ sessions, wanted, review, age: 'fresh', accounts: 'a fresh line' },
  })) {
    if (output.kind === 'result') results.push(output.result);
    yield output;
  }
  if (plan === undefined || call.options.dryRun) return;
  for (const { device, error } of plan.devices) {
    const isRead = found.has(device.address);
    if (isRead && error instanceof RefusedError) yield { kind: 'error', error, device };
  }
  yield outcome(plan, keys, found, results);
}

function sharedText({ key, traits }: FoundAccount): string {
  const texts = traits.map(({ name, text }) => `${name} (${text})`);
  return visible(`${key}: the same ${texts.join(', ')}`);
}

/** All devices of the inventory, and the connected ones, whatever is selected. */
async function everyDevice(call: LockoutCall): Promise<readonly DeviceSession[]> {
  const { fleet, services } = call.shell;
  const { devices } = await services.inventory.load();
  const listed = devices.length === 0 ? [] : await call.resolve(['@all']);
  const sessions = [...new Set([...listed, ...fleet.connected])];
  if (sessions.length > 0) return sessions;
  throw new UsageError('the inventory has no devices; "devsh device add" adds one');
}

interface Looking {
  readonly resource: string;
  readonly keys: readonly string[];
  readonly readInFull: ReadInFull;
}

/** Finds the accounts, sessions and tokens of one device. */
async function lookOn(
  { access, io: { signal } }: WriteCall,
  session: DeviceSession,
  { resource, keys, readInFull }: Looking,
): Promise<Wanted> {
  const listed = await readInFull(resource);
  const { profile, ref: device } = session;
  const keyField = keyFieldOf(profile, resource, listed);
  const records = [...listed];
  const doubts = new Map<string, NotPossibleError>();
  for (const key of keys) {
    const isMeant = (record: DeviceRecord): boolean => valueText(record[keyField]) === key;
    if (listed.some(isMeant)) continue;
    const list = { session, access, resource, records: listed, signal };
    const absence = await absenceOf(list, (some) => some.filter(isMeant));
    if (absence.kind === 'there') records.push(absence.record);
    if (absence.kind !== 'not known') continue;
    const text = `user ${shownKey(keyField, key)} is ${textOf(absence.why)}`;
    doubts.set(key, new NotPossibleError(device, 'not-known', text));
  }
  const own = records.filter((record) => keys.includes(valueText(record[keyField])));
  const ending: Change[] = [];
  let isKnown = accessResources(profile).length > 0;
  for (const [name, field] of own.length > 0 ? accessResources(profile) : []) {
    const held = await unlessFailed(readInFull(name, 'listed'));
    const all = held && accessRecords(profile, field, held, { own, all: records, keyField });
    isKnown &&= all?.isKnown === true;
    ending.push(...(all?.found ?? []).map((record) => deletion(profile, name, held ?? [], record)));
  }
  const caution = isKnown ? undefined : NOT_KNOWN;
  const purpose = { kind: 'lockout' as const, caution };
  const closing = new Map(
    own.map((record): [DeviceRecord, Change] => {
      const key = valueText(record[keyField]);
      // The change means only the account that was found.
      const meant = { ...identityOf(profile, keyField, record), age: 'fresh' as const };
      const change = { resource, target: { kind: 'key' as const, key }, meant, purpose };
      const fields = disablingFields(profile, resource, record);
      if (fields === undefined) return [record, { ...change, action: 'delete' }];
      return [record, { ...change, action: 'set', fields, isExact: true }];
    }),
  );
  return { device, profile, keyField, records, closing, ending, caution, doubts };
}

function deletion(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
  record: DeviceRecord,
): Change {
  const keyField = keyFieldOf(profile, resource, records);
  const id = idOf(profile, record);
  const key = id ?? shownKey(keyField, record[keyField]);
  const target = { kind: 'key', key, by: id === undefined ? 'name' : 'id' } as const;
  return { action: 'delete', resource, target, purpose: { kind: 'lockout', endsAccess: true } };
}

type Searches = readonly (ReturnType<typeof findAccount> & { readonly key: string })[];

/** Leaves out a device where another person may have one of the names. Notes what is pending on an absent device. */
function reviewed(
  planned: DevicePlan,
  searches: Searches,
  found: ReadonlyMap<string, Wanted>,
): DevicePlan {
  const { device, error } = planned;
  const [stranger] = searches
    .flatMap(({ contradicting }) => contradicting)
    .filter((one) => one.device.address === device.address);
  if (stranger !== undefined) {
    return unplanned(device, [], strangerError(stranger, found));
  }
  if (error === undefined || !isOwing(planned)) return planned;
  const known = searches.filter(({ same }) => same.length > 0);
  const changes = known.map(({ same }) => unreadChange(planned, same, found));
  return { ...planned, ...unplanned(device, changes, error) };
}

function strangerError(
  { key, traits, device, record }: FoundAccount,
  found: ReadonlyMap<string, Wanted>,
): RefusedError {
  const change = found.get(device.address)?.closing.get(record);
  const fields = change?.action === 'set' ? change.fields : {};
  const line = change && lineOn(device, { ...change, key }, fields);
  const others = traits.map(({ name, text }) => `${name} ${visible(text)}`).join(', ');
  return new RefusedError(
    `${device.name}: ${visible(key)} may be another person (another ${others}): it is not locked out; if you mean it: ${line ?? ''}`,
  );
}

/** The change that most other devices get, for the same person. A device without the account needs nothing. */
function unreadChange(
  { wanted: [about] = [] }: DevicePlan,
  same: readonly FoundAccount[],
  found: ReadonlyMap<string, Wanted>,
): Change {
  const changes = same.flatMap(
    ({ device, record }) => found.get(device.address)?.closing.get(record) ?? [],
  );
  const groups = grouped(changes, (one) =>
    JSON.stringify({ ...one, meant: undefined, purpose: undefined }),
  );
  const [[usual] = []] = [...groups.values()].sort((a, b) => b.length - a.length);
  if (usual === undefined || usual.action === 'add') throw new Error('no account was found');
  // The devices show the same person.
  const shown = same.flatMap(({ record }) => Object.entries(personOf(record)));
  const expected = Object.fromEntries(shown.filter(([, value]) => valueText(value) !== ''));
  const purpose = { kind: 'lockout', caution: NOT_KNOWN } as const;
  const resource = about?.resource ?? usual.resource;
  const change = { ...usual, resource, purpose, meant: undefined, expected };
  return change.action === 'set' ? { ...change, isOptional: true } : change;
}

/** The error if no device has an account to lock out. */
function nobody(
  key: string,
  strangers: readonly FoundAccount[],
  { devices }: Plan,
  found: ReadonlyMap<string, Wanted>,
): DevshError {
  const [stranger] = strangers;
  if (stranger !== undefined) return strangerError(stranger, found);
  const readings = [...found.values()];
  const [doubt] = readings.flatMap(({ doubts }) => doubts.get(key) ?? []);
  if (doubt !== undefined) return doubt;
  if (readings.length === 0) {
    return new RefusedError(
      'devsh could read no device: it knows nothing of the account, and sent nothing',
    );
  }
  const where = readings.length === devices.length ? 'no device' : 'no device that was read';
  return new NotFoundError(
    `${where} has an account "${visible(key)}" to act on${meantHint(key, readings)}; nothing was sent`,
  );
}

/** Suggests the account that has this id, or a similar name. A lockout takes no ids: each device has its own. */
function meantHint(key: string, readings: readonly Wanted[]): string {
  for (const one of readings) {
    const { device, keyField } = one;
    const [record] = whose({ ...one, resource: 'user' }, { ids: [key] }).byId;
    if (record === undefined) continue;
    const name = valueText(record[keyField]);
    return `; it is the id of ${visible(name)} on ${visible(device.name)} ("lockout ${quoteWord(name)}")`;
  }
  const names = readings.flatMap(({ keyField, records }) =>
    records.map((record) => valueText(record[keyField])),
  );
  return nearHint(key, names);
}

/** Throws a `RefusedError` if an account can only be deleted, and the user is not asked about it. */
function* deletions({ options, io }: LockoutCall, readings: readonly Wanted[]): Generator<Output> {
  const without = readings.filter(({ closing }) =>
    [...closing.values()].some(({ action }) => action === 'delete'),
  );
  if (without.length === 0 || options.deletes) return;
  const names = someOf(without.map(({ device }) => visible(device.name)));
  const why = `devsh knows no field that disables the account on ${names}`;
  // Only the full screen shows the plan while it asks.
  const isAsked = io.asksLater === true && !options.yes && !options.dryRun;
  if (!isAsked) throw new RefusedError(`${why}; --delete deletes it; nothing was sent`);
  yield warning(`${why}: the plan deletes it there`);
}

async function confirmAbsent(
  { io, line, options }: LockoutCall,
  plan: Plan,
  holders: readonly string[],
): Promise<void> {
  const absent = notCoveredBy(plan);
  if (absent.length === 0 || options.now || options.dryRun) return;
  const left = `${counted(absent.length, 'device')} not read (${notCoveredText(absent)}): the account may stay open there`;
  if (io.ask === undefined) {
    throw new RefusedError(`${left}; to act on the others: ${line} --now; nothing was sent`);
  }
  const answer = await io.ask({
    kind: 'confirm',
    text: `${left}. Type now to act on the others:`,
    expected: 'now',
    details: holders,
  });
  if (answer !== 'now') throw new DeclinedError('waiting: nothing was sent');
}

/** The result of each device as data for programs. People read it in the lines of the run. */
function outcome(
  { devices }: Plan,
  keys: readonly string[],
  found: ReadonlyMap<string, Wanted>,
  results: readonly StepResult[],
): TableOutput {
  const rows = devices.flatMap(({ device, error }) => {
    const { profile, caution } = found.get(device.address) ?? {};
    const here = results.filter((one) => one.device.address === device.address);
    const isAccount = ({ resource }: StepResult): boolean =>
      profile !== undefined && resource === accountsOf(profile);
    const ended = here.filter((one) => !isAccount(one));
    const listed = `${ended.filter(isGood).length} of ${ended.length} ended`;
    const access = ended.length === 0 ? 'none listed' : listed;
    const row = (account: string | null, verdict: string, of: string | null = null) => ({
      ...{ device: device.name, address: device.address },
      ...{ account, verdict, access: of },
    });
    if (error !== undefined) {
      const why = error instanceof NotPossibleError ? 'not known' : 'not taken';
      return keys.map((key) => row(key, profile === undefined ? 'not read' : why));
    }
    const accounts = here.filter(isAccount).map((result) => {
      const closed = result.action === 'delete' ? 'deleted' : 'disabled';
      const verdict = isGood(result) ? closed : result.verdict;
      return row(result.key, verdict, caution === undefined ? access : 'not known to be ended');
    });
    return accounts.length > 0 ? accounts : [row(null, 'no such account')];
  });
  const columns = ['device', 'account', 'verdict', 'access'];
  return table('lockout', columns, rows, { isDataOnly: true });
}
