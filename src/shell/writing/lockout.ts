import { shownKey } from '../../device/sensitive-fields.ts';
import type { Change } from '../../change/change.ts';
import {
  accessRecords,
  accessResources,
  agreedPerson,
  type AccountReading,
  type AccountSearch,
  disablingFields,
  findAccount,
  type FoundAccount,
  isMarked,
  type Mark,
  NOT_KNOWN,
  takenAccounts,
} from '../../change/lockout.ts';
import { identityOf } from '../../change/identity.ts';
import { RecordIndex } from '../../change/pairing.ts';
import {
  type DevicePlan,
  isOwing,
  NotPossibleError,
  type Plan,
  unplanned,
} from '../../change/plan.ts';
import type { StepResult } from '../../change/verdict.ts';
import { accountsOf, idOf, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, grouped, valueText } from '../../device/record.ts';
import {
  DeclinedError,
  DevshError,
  NotFoundError,
  RefusedError,
  UsageError,
} from '../../errors.ts';
import { absenceOf } from '../../fleet/absence.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import type { Call, WriteCall } from '../command.ts';
import type { LOCKOUT } from '../grammar/options.ts';
import { awaiting, info, type Output, warning } from '../output.ts';
import { plainKey } from '../arguments.ts';
import { confirm } from '../session.ts';
import { accountResources } from '../access/access.ts';
import { lockoutVerdicts, type Target } from './lockout-verdicts.ts';
import { chooseSome, refuseOwnAccountWord, refuseReadOnly } from './consent.ts';
import { write, type WriteIntent } from './write.ts';

type LockoutCall = Call<(typeof LOCKOUT)[number]>;

/** `lockout KEY`: looks everywhere, shows who has the account, then acts on all devices at once. */
export async function* lockOut(call: LockoutCall): AsyncGenerator<Output> {
  const key = plainKey(call, 'user', call.args.required('KEY'));
  const all = call.atOnce();
  refuseReadOnly(all);
  refuseOwnAccountWord(call);
  const { readings, absent, doubts } = yield* readEverywhere(all, key, await everyDevice(call));
  if (readings.size === 0) {
    throw new RefusedError(
      'devsh could read no device: it knows nothing of the account, and sent nothing',
    );
  }
  const search = findAccount(key, [...readings.values()]);
  const { also } = call.options;
  yield* coverage(key, search, also, { readings, absent });
  checkMarks(also, search);
  const marks = [...also, ...(await askedMarks(call, search))];
  const taken = takenAccounts(search, marks);
  const left = [...search.contradicting, ...search.related].filter(
    (account) => !taken.includes(account),
  );
  if (taken.length === 0 && search.contradicting.length > 0) {
    throw new RefusedError(
      `e-mail or full name of "${visible(key)}" differ between the devices: name those to lock out with --also [DEVICE=]KEY; nothing was sent`,
    );
  }
  const [doubt] = doubts;
  if (taken.length === 0 && doubt !== undefined) throw doubt;
  for (const error of doubts) yield { kind: 'error', error, device: error.device };
  if (taken.length === 0) {
    const where = absent.size === 0 ? 'no device' : 'no device that was read';
    throw new NotFoundError(
      `${where} has an account "${visible(key)}" to act on${meantHint(key, readings)}; nothing was sent`,
    );
  }
  const targets = yield* targetsOf(call, all, taken, readings);
  await confirmAbsent(call, [...absent.keys()], holdersText(key, search, readings));
  const pending = pendingChanges(targets, key, search, marks);
  const unknown = targets.filter(({ open }) => open === undefined);
  const details: string[] = [];
  if (unknown.length > 0) {
    details.push(`${NOT_KNOWN} (${someOf(unknown.map(({ session }) => session.ref.name))})`);
  }
  if (targets.some(({ open = 0 }) => open > 0)) {
    details.push('no undo opens the ended sessions and tokens again');
  }
  // A question shows them; without one they are warnings, as the doubts of a plan.
  if (call.io.ask === undefined || call.options.yes || call.options.dryRun) {
    for (const text of details) yield warning(text);
  }
  const results: StepResult[] = [];
  const sessions = targets.map(({ session }) => session);
  const wanted = (session: DeviceSession): readonly Change[] =>
    targets.find((target) => target.session === session)?.changes ?? [];
  const review: WriteIntent['review'] = function* (planned) {
    return { plan: withCautions(planned, targets, absent, pending), details };
  };
  const accounts = 'a fresh line';
  const writing = write(all, { sessions, wanted, age: 'fresh', accounts, review });
  yield* inPlanOrder(writing, results);
  if (call.options.dryRun) return;
  yield* lockoutVerdicts({
    key,
    targets,
    left,
    absent,
    read: [...readings.keys()],
    results,
  });
  const without = [...absent].filter(([, error]) => pending.length === 0 || !isOwing({ error }));
  if (without.length > 0) {
    const names = someOf(without.map(([{ ref }]) => visible(ref.name)));
    yield warning(`nothing is pending on ${names}: repeat the lockout when they can be read`);
  }
}

/** An id may be that of another account elsewhere, so a lockout, which looks on all devices, takes names alone. */
function meantHint(key: string, readings: Readings): string {
  const names: string[] = [];
  for (const [{ profile, ref }, { keyField, records }] of readings) {
    const nameIn = (record: DeviceRecord): string => valueText(record[keyField]);
    const [record] = RecordIndex.of(records).withId(profile, key);
    if (record !== undefined) {
      const line = `lockout ${quoteWord(nameIn(record))}`;
      return `; it is the id of ${visible(nameIn(record))} on ${visible(ref.name)} ("${line}")`;
    }
    names.push(...records.map(nameIn));
  }
  return nearHint(key, names);
}

/** All devices of the inventory, and the connected ones. Asks for their number if the prompt names fewer. */
async function everyDevice(call: LockoutCall): Promise<readonly DeviceSession[]> {
  const { fleet, services } = call.shell;
  const { devices } = await services.inventory.load();
  const listed = devices.length === 0 ? [] : await call.resolve(['@all']);
  const sessions = [...new Set([...listed, ...fleet.connected])];
  if (sessions.length === 0) {
    throw new UsageError('the inventory has no devices; "devsh device add" adds one');
  }
  const inScope = fleet.selection.length;
  if (inScope > 0 && inScope < sessions.length) {
    await confirm(
      call,
      sessions.length,
      (expected) =>
        `lockout looks on all ${sessions.length} devices; the prompt has ${inScope}. Type ${expected} to look there:`,
    );
  }
  return sessions;
}

type Readings = ReadonlyMap<DeviceSession, AccountReading>;
type Absent = ReadonlyMap<DeviceSession, DevshError>;

async function* readEverywhere(
  call: WriteCall,
  key: string,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output, { readings: Readings; absent: Absent; doubts: NotPossibleError[] }> {
  const doubts: NotPossibleError[] = [];
  const readings = new Map<DeviceSession, AccountReading>();
  const absent = new Map<DeviceSession, DevshError>();
  const resources = await accountResources(call.shell.services, sessions);
  for (const [resource, some] of grouped(sessions, (session) => resources.get(session) ?? 'user')) {
    const refine = async (session: DeviceSession, records: AccountReading['records']) => {
      const { signal } = call.io;
      const keyField = keyFieldOf(session.profile, resource, records);
      const isMeant = (record: DeviceRecord): boolean => valueText(record[keyField]) === key;
      const listed = { session, access: call.access, resource, records, signal };
      const absence = records.some(isMeant) ? undefined : await absenceOf(listed, isMeant);
      if (absence?.kind === 'not known') {
        const text = `user ${shownKey(keyField, key)} is ${absence.why}`;
        doubts.push(new NotPossibleError(session.ref, 'not-known', text));
      }
      const all = absence?.kind === 'there' ? [...records, absence.record] : records;
      return session.inFull(call.access, resource, all, signal);
    };
    for await (const read of call.read(some, resource, { refine })) {
      const { session, awaited, total } = read;
      if (read.ok) {
        const { records } = read;
        const keyField = keyFieldOf(session.profile, resource, records);
        readings.set(session, { device: session.ref, keyField, records });
      } else absent.set(session, read.error);
      yield awaiting('looking for the account', awaited, total);
    }
  }
  call.io.signal.throwIfAborted();
  const ordered = <Value>(found: ReadonlyMap<DeviceSession, Value>) =>
    new Map([...found].sort(([a], [b]) => sessions.indexOf(a) - sessions.indexOf(b)));
  return { readings: ordered(readings), absent: ordered(absent), doubts };
}

function holdersText(key: string, { same }: AccountSearch, readings: Readings): string {
  const of = `of ${counted(readings.size, 'device')} read`;
  const on = same.length === 0 ? '' : `: ${someOf(same.map(({ device }) => device.name))}`;
  const [resource, other] = new Set([...readings.keys()].map(({ profile }) => accountsOf(profile)));
  const what = other === undefined ? resource : 'account';
  return `${what ?? 'account'} ${visible(key)}: on ${same.length} ${of}${on}`;
}

/** Who has the account, what may be the same person, and who was not read. */
function* coverage(
  key: string,
  search: AccountSearch,
  marks: readonly Mark[],
  { readings, absent }: { readonly readings: Readings; readonly absent: Absent },
): Generator<Output> {
  yield info(holdersText(key, search, readings));
  for (const [session, error] of absent) yield { kind: 'error', error, device: session.ref };
  const doubtful = [...search.contradicting, ...search.related];
  const isTaken = (account: FoundAccount) => marks.some((mark) => isMarked(account, mark));
  for (const [text, names] of groupedText(doubtful.filter(isTaken))) {
    yield info(`marked: ${text} on ${names}`);
  }
  for (const [text, names] of groupedText(doubtful.filter((one) => !isTaken(one)))) {
    yield warning(`only with --also: ${text} on ${names}`);
  }
  for (const [text, names] of groupedText(search.lookAlikes))
    yield info(`hint: ${text} on ${names}`);
}

function groupedText(accounts: readonly FoundAccount[]): [text: string, names: string][] {
  const groups = grouped(accounts, ({ key, why }) => `${visible(key)}: ${visible(why)}`);
  return [...groups].map(([text, found]) => [
    text,
    someOf(found.map(({ device }) => visible(device.name))),
  ]);
}

/** A mark of the line that names nothing may be a mistake: nothing is sent. */
function checkMarks(marks: readonly Mark[], search: AccountSearch): void {
  const all = [...search.same, ...search.contradicting, ...search.related, ...search.lookAlikes];
  const idle = marks.find((mark) => !all.some((account) => isMarked(account, mark)));
  if (idle === undefined) return;
  const where = idle.device === undefined ? 'the devices' : idle.device;
  throw new UsageError(
    `--also ${visible(idle.key)}: the search on ${where} shows no such account; nothing was sent`,
  );
}

/** Asks which of the doubtful accounts to take, too. `--yes` answers no. */
async function askedMarks(call: LockoutCall, search: AccountSearch): Promise<readonly Mark[]> {
  const doubtful = [...search.contradicting, ...search.related];
  if (doubtful.length === 0 || call.io.ask === undefined || call.options.yes) return [];
  if (call.options.dryRun || call.options.also.length > 0) return [];
  const lines = doubtful.map(
    ({ device, key, why }) => `${visible(device.name)}  ${visible(key)}: ${visible(why)}`,
  );
  const chosen = await chooseSome(call.io, 'Which of these also?', lines);
  return doubtful.flatMap(({ key, device }, index) =>
    chosen.includes(index) ? { key, device: device.name } : [],
  );
}

async function confirmAbsent(
  call: LockoutCall,
  absent: readonly DeviceSession[],
  holders: string,
): Promise<void> {
  const { now, dryRun } = call.options;
  if (absent.length === 0 || now || dryRun) return;
  const names = someOf(absent.map(({ ref }) => visible(ref.name)));
  const left = `${counted(absent.length, 'device')} not read (${names}): the account may stay open there`;
  if (call.io.ask === undefined) {
    throw new RefusedError(`${left}; to act on the others: ${call.line} --now; nothing was sent`);
  }
  const answer = await call.io.ask({
    kind: 'confirm',
    text: `${left}. Type now to act on the others:`,
    expected: 'now',
    details: [holders],
  });
  if (answer !== 'now') throw new DeclinedError('waiting: nothing was sent');
}

/** The accounts of a device to act on, and what ends their sessions and tokens; see `endingAccess`. */
interface AccessFound {
  readonly session: DeviceSession;
  readonly accounts: readonly FoundAccount[];
  readonly ends: Ends | DevshError;
}

interface Ends {
  readonly changes: readonly Change[];
  /** Whether these are all. */
  readonly isKnown: boolean;
}

/**
 * What each device needs. Where one cannot disable the account, a deletion is proposed. Throws a `RefusedError` if
 * nobody is asked about it.
 */
async function* targetsOf(
  { options, io }: LockoutCall,
  call: WriteCall,
  taken: readonly FoundAccount[],
  readings: Readings,
): AsyncGenerator<Output, readonly Target[]> {
  const byAddress = grouped(taken, ({ device }) => device.address);
  const concerned = [...readings.keys()].filter(({ ref }) => byAddress.has(ref.address));
  const look = async (session: DeviceSession, emit: (found: AccessFound) => void) => {
    const accounts = byAddress.get(session.ref.address) ?? [];
    emit({ session, accounts, ends: await endingAccess(call, session, accounts, readings) });
  };
  const looked: AccessFound[] = [];
  for await (const one of fanOut(concerned, call.readWidth, look, call.io.signal)) looked.push(one);
  call.io.signal.throwIfAborted();
  looked.sort((a, b) => concerned.indexOf(a.session) - concerned.indexOf(b.session));
  const targets: Target[] = [];
  const without: string[] = [];
  for (const { session, accounts, ends } of looked) {
    const changes = accounts.map((account) => closing(session, account));
    if (changes.some(({ action }) => action === 'delete')) without.push(session.ref.name);
    const isFailed = ends instanceof DevshError;
    if (isFailed) yield { kind: 'error', error: ends, device: session.ref };
    const ended = isFailed ? [] : ends.changes;
    targets.push({
      session,
      resource: accountsOf(session.profile),
      accounts,
      changes: [...changes, ...ended],
      open: isFailed || !ends.isKnown ? undefined : ended.length,
    });
  }
  if (without.length > 0 && !options.deletes) {
    const why = `devsh knows no field that disables the account on ${someOf(without)}`;
    // Only the full screen shows the plan until it is answered.
    const isAsked = io.asksLater === true && !options.yes && !options.dryRun;
    if (!isAsked) throw new RefusedError(`${why}; --delete deletes it; nothing was sent`);
    yield warning(`${why}: the plan deletes it there`);
  }
  return targets;
}

/** Disables an account, or deletes it if the device has no field for it. */
function closing({ profile }: DeviceSession, { key, record, keyField }: FoundAccount): Change {
  const target = { kind: 'key', key } as const;
  // The plan reads again: only the account that was found is meant.
  const meant = { ...identityOf(profile, keyField, record), age: 'fresh' as const };
  const resource = accountsOf(profile);
  const fields = disablingFields(profile, resource, record);
  return fields === undefined
    ? { action: 'delete', resource, target, meant }
    : { action: 'set', resource, target, fields, meant, isExact: true };
}

/** Deletes the sessions and tokens of these accounts, as far as the profile and their lists tell. */
async function endingAccess(
  call: WriteCall,
  session: DeviceSession,
  accounts: readonly FoundAccount[],
  readings: Readings,
): Promise<Ends | DevshError> {
  const { profile } = session;
  const resources = accessResources(profile);
  const { keyField = '', records: all = [] } = readings.get(session) ?? {};
  const names = { own: accounts.map(({ record }) => record), all, keyField };
  const changes: Change[] = [];
  let isKnown = resources.length > 0;
  try {
    for (const [resource, field] of resources) {
      const records = await session.list(call.access, resource, call.io.signal);
      const listed = accessRecords(profile, field, records, names);
      isKnown &&= listed.isKnown;
      const ownKey = keyFieldOf(profile, resource, records);
      for (const record of listed.found) {
        const key = idOf(profile, record) ?? shownKey(ownKey, record[ownKey]);
        changes.push({ action: 'delete', resource, target: { kind: 'key', key } });
      }
    }
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    return error;
  }
  return { changes, isKnown };
}

/** With what the verdicts do not claim, and with the devices that were not read. */
function withCautions(
  plan: Plan,
  targets: readonly Target[],
  absent: Absent,
  pending: readonly Change[],
): Plan {
  const left = [...absent].map(([{ ref, profile }, error]) => {
    const resource = accountsOf(profile);
    return unplanned(
      ref,
      pending.map((change) => ({ ...change, resource })),
      error,
    );
  });
  const devices = plan.devices.map((devicePlan): DevicePlan => {
    const target = targets.find(({ session }) => session.ref.address === devicePlan.device.address);
    const caution = target?.open === undefined ? NOT_KNOWN : undefined;
    const steps = devicePlan.steps.map((step) =>
      step.resource === target?.resource
        ? { ...step, purpose: { kind: 'lockout' as const, caution } }
        : {
            ...step,
            lost: undefined,
            purpose: { kind: 'lockout' as const, endsAccess: true as const },
          },
    );
    const settled = devicePlan.settled.map((result): StepResult =>
      result.verdict === 'failed' && result.resource !== target?.resource
        ? { ...result, note: `this ${result.resource} is not ended` }
        : result,
    );
    return { ...devicePlan, steps, settled };
  });
  return { ...plan, devices: [...devices, ...left] };
}

/**
 * What devices that were not read still get: the change that most others get to the same account. The person must
 * be the one that the others agree on, and a mark counts there only if it names no device.
 */
function pendingChanges(
  targets: readonly Target[],
  key: string,
  { same }: AccountSearch,
  marks: readonly Mark[],
): readonly Change[] {
  const isMeant = (name: string): boolean =>
    (name === key && same.length > 0) ||
    marks.some((mark) => mark.key === name && mark.device === undefined);
  const pairs = targets.flatMap(({ accounts, changes }) =>
    accounts.flatMap((account, index) => {
      const change = isMeant(account.key) ? changes[index] : undefined;
      return change === undefined || change.action === 'add' ? [] : [{ account, change }];
    }),
  );
  return [...grouped(pairs, ({ account }) => account.key).values()].flatMap((ofKey) => {
    const alike = grouped(ofKey, ({ change }) => JSON.stringify({ ...change, meant: undefined }));
    const [usual] = [...alike.values()].sort((a, b) => b.length - a.length);
    if (usual === undefined) return [];
    const certain = ofKey.filter(({ account }) => same.includes(account));
    const persons = (certain.length > 0 ? certain : ofKey).map(({ account }) => account.record);
    const change: Change = {
      ...usual[0].change,
      meant: undefined,
      expected: agreedPerson(persons),
    };
    return change.action === 'set' ? { ...change, isOptional: true } : change;
  });
}

/** All devices work at once: their results are shown in the order of the devices, when all have ended. */
async function* inPlanOrder(
  outputs: AsyncGenerator<Output>,
  results: StepResult[],
): AsyncGenerator<Output> {
  let devices: Plan['devices'] = [];
  let held: (Output & { readonly kind: 'result' })[] = [];
  const placeOf = ({ result }: Output & { readonly kind: 'result' }): number =>
    devices.findIndex(({ device }) => device.address === result.device.address);
  const release = (): readonly Output[] => {
    const ended = held.sort((a, b) => placeOf(a) - placeOf(b));
    held = [];
    return ended;
  };
  try {
    for await (const output of outputs) {
      if (output.kind === 'plan') ({ devices } = output.plan);
      if (output.kind === 'result') {
        results.push(output.result);
        held.push(output);
        continue;
      }
      if (output.kind === 'summary') yield* release();
      yield output;
    }
  } finally {
    yield* release();
  }
}
