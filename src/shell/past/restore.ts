import { allowHint } from '../../change/allow.ts';
import {
  accountRemarks,
  closeAccounts,
  type ClosedAccounts,
  foldedRemarks,
  type Remark,
} from '../../change/closed-accounts.ts';
import { asBoolean } from '../../device/equality.ts';
import { meantBy } from '../../change/lineage.ts';
import type { DevicePlan, Plan } from '../../change/plan.ts';
import type { ReadInFull, RequestedChanges } from '../../change/read-and-plan.ts';
import { bookkeepingFields, idOf, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, valueAt } from '../../device/record.ts';
import { isSecretField, permittingValue } from '../../device/sensitive-fields.ts';
import { DevshError, NotFoundError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type Filter, matches } from '../../fleet/filter.ts';
import type { HistoryFiles } from '../../history/history-files.ts';
import { Keeper } from '../../history/kept.ts';
import { digestKeyName, type DeviceIdentity } from '../../history/replay.ts';
import { redactorFor } from '../../history/observer.ts';
import { History, notReadText, type PastState } from '../../history/history.ts';
import { wayBack, type WayBack } from '../../history/way-back.ts';
import { aOrAn, counted, pluralOf, someOf } from '../../text/one-line.ts';
import type { Word } from '../../text/words.ts';
import { zonedTime } from '../../text/time.ts';
import { bothKeyAndWhere, changeFields, plainKey, whereFilter } from '../arguments.ts';
import type { Call, WriteCall } from '../command.ts';
import type { Note } from '../../output/sentences.ts';
import { info, type Output, warning } from '../output.ts';
import { pastOf, pastTime } from './coverage.ts';
import { lastActivity, runsSince } from '../writing/stored-runs.ts';
import { linesWithSecrets, namingLines, refuseOpenAccounts } from '../writing/undo.ts';
import { refuseReadOnly } from '../writing/consent.ts';
import { write, type WriteIntent } from '../writing/write.ts';
import { foldedLook } from '../../change/account-harm.ts';
import { isLockout, type Run } from '../../change/journal.ts';

type RestoreCall = WriteCall & Call<'at' | 'where' | 'prune' | 'also'>;

interface Planned {
  readonly name: string;
  readonly from: Awaited<ReturnType<typeof fromNow>>;
  readonly way: WayBack;
  readonly accounts: ClosedAccounts | undefined;
}

/** The earlier reading does not fit the device of today, or is not safe to write. */
class NotRestorableError extends DevshError {
  readonly code = 'not-restorable';
  override readonly exitCode = 6;
}

/** `user restore`: plans the changes from the records of now to those that were read then. */
export async function* restoreRecords(call: RestoreCall, resource: string): AsyncGenerator<Output> {
  const { words, given, where } = namedRecords(call, resource);
  const { at } = call.options;
  if (at === undefined) {
    throw new UsageError(`${resource} restore needs a time: --at 03:00, --at 2d, --at RUN`, {
      column: call.args.end,
    });
  }
  const time = await pastTime(call, 'at', at);
  refuseReadOnly(call);
  const sessions = await call.sessions();
  const files = await call.shell.readings();
  const history = await pastOf(call);
  const pasts = new Map(
    sessions.map((session) => [session, history.stateAt(session.ref.name, resource, time)]),
  );
  for (const text of readingTexts(pasts, call.shell.services.now())) yield info(text);
  const since = Math.min(...states(pasts).map(({ past }) => past.from));
  const { runs, unreadable } = await runsSince(call.shell.services, since);
  if (unreadable.size > 0) {
    const ids = someOf([...unreadable.keys()]);
    yield warning(`journals that cannot be read, perhaps of a lockout: ${ids}`);
  }
  const lockedOut = lockedOutBy(runs, resource, since);
  const { found, leftOut, isSelected } = selectionOf(words, where, lockedOut);
  const planned: Planned[] = [];
  const restoring = { call, resource, files, runs, given, isSelected };
  const changesFor = (session: DeviceSession): RequestedChanges => {
    const past = pasts.get(session);
    const keys = words.length > 0 ? words : [''];
    const about = keys.map((key) => ({ action: 'set', resource, key }) as const);
    const changes = async (readInFull: ReadInFull) => {
      if (past === undefined || past instanceof DevshError) throw past ?? new Error('no state');
      const one = await planOn(restoring, session, past, await readInFull(resource));
      planned.push(one);
      return one.accounts?.changes ?? one.way.changes;
    };
    return { changes, about };
  };
  const lineFor = linesWithSecrets(call, sessions, { text: at, time });
  const review: WriteIntent['review'] = async function* (plan) {
    const unknown = words.filter((word) => !found.has(word));
    refuseUnknown(plan, unknown, resource);
    refuseUnused(planned, given.fields, resource);
    await refuseOpenAccounts(call, planned, lineFor);
    const remarks = foldedRemarks([
      ...leftOut,
      ...planned.flatMap((one) => remarksOn(one, resource)),
      ...plan.devices.flatMap(enabledAgain),
    ]);
    for (const text of remarks) yield warning(text);
    const unchanged = planned.reduce((count, { way }) => count + way.unchanged, 0);
    const same = info(`${counted(unchanged, 'record')} as then: nothing to do there`);
    if (unchanged > 0) yield { ...same, hasSuccess: true };
    return { plan, details: remarks, needsChange: true };
  };
  yield* namingLines(write(call, { sessions, wanted: changesFor, age: 'older', review }), lineFor);
}

interface Restoring extends Pick<ReturnType<typeof namedRecords>, 'given'> {
  readonly call: RestoreCall;
  readonly resource: string;
  readonly files: HistoryFiles;
  readonly runs: readonly Run[];
  readonly isSelected: ReturnType<typeof selectionOf>['isSelected'];
}

/** Plans the way back on one device. Throws a `RefusedError` for what is probably a mistake. */
async function planOn(
  { call, resource, files, runs, given, isSelected }: Restoring,
  session: DeviceSession,
  past: PastState,
  full: readonly DeviceRecord[],
): Promise<Planned> {
  const from = await fromNow(files, session, { resource, past, full });
  const { ref: device, profile } = session;
  const goneAt = new History(files).goneAt(device.name, profile);
  const doubt = doubtOf(session, past);
  const way = wayBack({
    ...from,
    given,
    isSelected: (key, record) => isSelected(session, key, record),
    prune: call.options.prune,
    meantBy: (then) => meantBy(runs, { device, resource, profile, goneAt, doubt }, then, past.from),
  });
  refuseMistakes(call, session, way, { resource, count: from.records.length });
  const accounts = call.options.allow.has('loss')
    ? undefined
    : closeAccounts(way.changes, profile, full);
  return { name: device.name, from, way, accounts };
}

/** The KEYs or the filter of the line, and the fields that it gives for a record that is added again. */
function namedRecords(call: RestoreCall, resource: string) {
  const all = [...call.args.words('KEY'), ...call.args.words('FIELD=VALUE')];
  const isGiven = ({ text }: Word, index: number): boolean =>
    /^[^=]+=/.test(text) && (index > 0 || isSecretField(/^([^=]+?):?=/.exec(text)?.[1] ?? ''));
  const given = all.filter(isGiven);
  const keys = all.filter((word, index) => !isGiven(word, index));
  const [key, second] = keys;
  const { where } = call.options;
  if (key !== undefined && where !== undefined) throw bothKeyAndWhere(`${resource} restore`, key);
  const [field] = given;
  if (field !== undefined && (key === undefined || second !== undefined)) {
    throw new UsageError(
      `fields are for one record: "${resource} restore KEY password=… --at TIME"`,
      { column: field.start },
    );
  }
  return {
    words: keys.map(({ text }) => plainKey(call, resource, text)),
    given: changeFields(given),
    where: where === undefined ? undefined : whereFilter(call.args, where),
  };
}

/** Chooses the records that go back, on all devices. */
function selectionOf(
  words: readonly string[],
  where: Filter | undefined,
  lockedOut: ReadonlyMap<string, string>,
) {
  /** The words that name a record, then or now. */
  const found = new Set<string>();
  const leftOut: Remark[] = [];
  const isSelected = ({ ref, profile }: DeviceSession, key: string, record: DeviceRecord) => {
    if (words.length > 0) {
      const id = idOf(profile, record);
      const named = words.filter((word) => word === key || word === id);
      for (const word of named) found.add(word);
      return named.length > 0;
    }
    if (!matches(where, record, ref.name)) return false;
    const run = lockedOut.get(foldedLook(key));
    if (run === undefined) return true;
    const what = `${key} is left out, because run ${run} locked it out since: name it to restore it`;
    leftOut.push({ device: ref.name, what });
    return false;
  };
  return { found, leftOut, isSelected };
}

function states(pasts: ReadonlyMap<DeviceSession, PastState | DevshError>) {
  return [...pasts].flatMap(([{ ref }, past]) =>
    past instanceof DevshError ? [] : [{ device: ref.name, past }],
  );
}

/** Names the readings to which the devices go back, and the next ones: changes between the two may be lost. */
function readingTexts(
  pasts: ReadonlyMap<DeviceSession, PastState | DevshError>,
  now: Date,
): string[] {
  const at = (ms: number): string => zonedTime(ms, now);
  return foldedRemarks(
    states(pasts).flatMap(({ device, past: { to, nextRead, identities } }) => {
      if (!isOneDevice(identities)) return [];
      const next = nextRead === undefined ? '' : `; the next reading was at ${at(nextRead.from)}`;
      return [{ device, what: `back to what was read at ${at(to)}${next}` }];
    }),
  );
}

function isOneDevice(all: readonly Pick<DeviceIdentity, 'address' | 'pin'>[]): boolean {
  const [first] = all;
  return all.every(({ address, pin }) => address === first?.address && pin === first.pin);
}

/** Why it may be another device than then; undefined if it is the same. The gate asks about each record of another. */
function doubtOf({ ref, pin }: DeviceSession, { identities }: PastState): Note | undefined {
  const { name, address } = ref;
  const doubt = { code: 'not-as-meant', name } as const;
  if (pin === undefined) return { ...doubt, is: 'no-pin' };
  const all = [...identities, { address, pin }];
  if (isOneDevice(all)) return undefined;
  const isMoved = new Set(all.map((one) => one.address)).size > 1;
  return { ...doubt, is: isMoved ? 'other-address' : 'other-pin' };
}

interface Then {
  readonly resource: string;
  readonly past: PastState;
  /** The full records that the device has now. */
  readonly full: readonly DeviceRecord[];
}

/** The state of the device now, in the form of the earlier reading, so that both can be compared. */
async function fromNow(
  files: HistoryFiles,
  session: DeviceSession,
  { resource, past, full }: Then,
) {
  const { profile, ref } = session;
  // The earlier reading is of the list, which may show fewer fields than the full records.
  const records = session.cached(resource) ?? full;
  const keyField = keyFieldOf(profile, resource, records);
  if (past.state.size > 0 && keyField !== past.keyField) {
    throw new NotRestorableError(
      `${ref.name}: its ${pluralOf(resource)} are named by "${keyField}", then by "${past.keyField}"`,
    );
  }
  const key = await files.knownKey();
  const keeper = new Keeper(key ?? Buffer.alloc(0), redactorFor(session));
  return {
    ...{ profile, resource, records, full, past: { ...past, keyField } },
    now: keeper.state(
      { resource, records, keyField, idField: past.idField },
      new Set(past.leftOut),
      past.state,
    ),
    isComparable: key !== undefined && past.identities[0]?.digestKey === digestKeyName(key),
  };
}

/** Throws if `--prune` would delete all records, or one that was only renamed: the earlier list may have been wrong. */
function refuseMistakes(
  call: RestoreCall,
  { ref }: DeviceSession,
  { changes, lookAlikes }: WayBack,
  { resource, count }: { readonly resource: string; readonly count: number },
): void {
  if (call.options.allow.has('prune')) return;
  if (count > 0 && changes.filter(({ action }) => action === 'delete').length === count) {
    throw new NotRestorableError(
      `${ref.name}: none of its ${counted(count, resource)} was there then: --prune would delete them all; ${allowHint('prune')}`,
    );
  }
  const [pair] = lookAlikes;
  if (pair === undefined) return;
  throw new NotRestorableError(
    `${ref.name}: "${pair[0]}" looks like "${pair[1]}", which --prune would delete; ${allowHint('prune')}`,
  );
}

/** Throws for a KEY that no device had then or has now, unless a device was not read. */
function refuseUnknown(plan: Plan, unknown: readonly string[], resource: string): void {
  if (unknown.length === 0 || plan.devices.some(({ error }) => error !== undefined)) return;
  throw new NotFoundError(
    `no ${resource} ${someOf(unknown)} then or now on ${someOf(plan.devices.map(({ device }) => device.name))}`,
  );
}

/** Throws if the line gives fields and no record is added again: only an added record uses them. */
function refuseUnused(planned: readonly Planned[], given: DeviceRecord, resource: string): void {
  const isAdded = planned.some(({ way }) => way.changes.some(({ action }) => action === 'add'));
  const [field] = Object.keys(given);
  if (field === undefined || isAdded || planned.length === 0) return;
  throw new UsageError(
    `${field}=… is for ${aOrAn(resource)} that is gone, and this one is there: "${resource} set" changes it`,
  );
}

/** Warns of what the plan does not bring back, and what it leaves alone. */
function remarksOn({ name, from, way, accounts }: Planned, resource: string): Remark[] {
  const { unclear, lost, gained, newcomers, changes } = way;
  const { past, profile, isComparable } = from;
  // Links of a record do not move, and nobody would restore them.
  const links = bookkeepingFields(profile, resource);
  const moving = past.leftOut.filter((field) => !links.includes(field));
  const hasSecrets = [...past.state.values()].some(({ digests }) => digests !== undefined);
  const texts = [
    unclear.length > 0 && `left out, because their names are not unique: ${someOf(unclear)}`,
    [...lost].map(([field, keys]) => `cannot be restored: ${field} of ${someOf(keys)}`),
    gained.length > 0 && `stays, because it did not exist then: ${someOf(gained)}`,
    newcomers.length > 0 && `added since, and stays without --prune: ${someOf(newcomers)}`,
    changes.length > 0 &&
      moving.length > 0 &&
      `not compared, and not restored: ${moving.join(', ')}`,
    past.notRead !== undefined &&
      `not compared, because the list shows no more: ${notReadText(past.notRead)}`,
    hasSecrets &&
      !isComparable &&
      'unknown whether passwords changed since: the key of their digests is new',
  ];
  return [
    ...(accounts === undefined ? [] : accountRemarks(name, accounts)),
    ...texts.flat().flatMap((text) => (text === false ? [] : { device: name, what: text })),
  ];
}

/** Warns of accounts that the plan lets log in again. */
function enabledAgain({ device, steps }: DevicePlan): Remark[] {
  return steps.flatMap(({ action, key, before, asked }): Remark[] => {
    const isEnabled = Object.keys(asked).some((field) => {
      const opens = permittingValue(field);
      const [old, next] = [valueAt(before, field), valueAt(asked, field)];
      return opens !== undefined && asBoolean(next) === opens && asBoolean(old) === !opens;
    });
    return action === 'set' && isEnabled
      ? [{ device: device.name, what: `${key} may log in again` }]
      : [];
  });
}

/** By account name in folded spelling: the run since `since` (ms UTC) that disabled or deleted it by `lockout`. */
function lockedOutBy(runs: readonly Run[], resource: string, since: number) {
  const lockouts = runs.filter((run) => isLockout(run) && lastActivity(run) >= since);
  return new Map(
    lockouts.flatMap(({ run, plan }) =>
      plan.devices
        .flatMap((one) => [...one.steps, ...(one.wanted ?? [])])
        .filter((step) => step.resource === resource)
        .map((step) => [foldedLook(step.key), run] as const),
    ),
  );
}
