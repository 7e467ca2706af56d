import { type DeviceRecord, grouped, valueText } from '../device/record.ts';
import { ProtocolError } from '../device/errors.ts';
import {
  CancelledError,
  DevshError,
  expectedError,
  ReadOnlyError,
  unlessFailed,
} from '../errors.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { mapInTurns } from '../fleet/fan-out.ts';
import type { Allowed } from './allow.ts';
import { assumptionsOf, fieldReadings, lookAlikesOf } from './doubts.ts';
import { type Change, recordsWhere } from './change.ts';
import { noteIdsMovedSince } from './observe.ts';
import { planDevice } from './plan-device.ts';
import { pause, SETTLE_DELAYS_MS } from './run-step.ts';
import {
  type DevicePlan,
  type FieldReading,
  isStopped,
  mergeDevicePlans,
  unplanned,
} from './plan.ts';
import { fieldsIn, parseFilter } from '../fleet/filter.ts';
import { hasDependents, isSingle, keyFieldOf, listFacts, type Profile } from '../device/profile.ts';
import { absenceOf, listDoubt } from '../fleet/absence.ts';
import { recordsNamed } from './pairing.ts';
import type { Note } from '../output/sentences.ts';

interface Planning {
  readonly access: Access;
  readonly signal: AbortSignal;
  /** Refusals that are overridden; absent: none. */
  readonly allow?: Allowed;
}

/** The changes for a device: as given, or computed from its records. */
export type RequestedChanges = readonly Change[] | ComputedChanges;

interface ComputedChanges {
  readonly changes: (inFull: ReadInFull) => Promise<readonly Change[]>;
  /** For the report on a device that cannot be read. */
  readonly about: NonNullable<DevicePlan['wanted']>;
}

/**
 * Reads all records of a resource once, with all their fields or as its list shows them. A record that a file names by id
 * and that the list lacks is read at its own path.
 */
export type ReadInFull = (
  resource: string,
  how?: 'listed' | { readonly claimed: ClaimedRecords },
) => Promise<readonly DeviceRecord[]>;

/** The records of a file that have an id: the device should have them. */
type ClaimedRecords = (listed: readonly DeviceRecord[]) => readonly DeviceRecord[];

/**
 * Reads one device and plans the changes. Throws only for the user's mistakes. A device may still be processing a
 * request that was sent just before a crash: it counts as lost only after further reads.
 */
export async function readAndPlan(
  planning: Planning,
  session: DeviceSession,
  requested: RequestedChanges,
): Promise<DevicePlan> {
  for (let attempt = 0; ; attempt += 1) {
    const { isOpen = false, ...plan } = await planOnce(planning, session, requested);
    const delayMs = SETTLE_DELAYS_MS[attempt];
    if (!isOpen || delayMs === undefined) return plan;
    await pause(delayMs, planning.signal);
  }
}

/** `isOpen`: a request was sent before, and shows no effect yet. */
async function planOnce(
  planning: Planning,
  session: DeviceSession,
  requested: RequestedChanges,
): Promise<DevicePlan & { readonly isOpen?: boolean }> {
  const { access, signal } = planning;
  const { ref, entry } = session;
  const records = new Map<string, readonly DeviceRecord[]>();
  const lists = new Map<string, readonly DeviceRecord[]>();
  const doubts = new Map<Change, Note>();
  const named: FieldReading[] = [];
  const list = async (resource: string): Promise<readonly DeviceRecord[]> => {
    const listed = lists.get(resource) ?? (await session.list(access, resource, signal));
    lists.set(resource, listed);
    return listed;
  };
  let changes = 'about' in requested ? [] : requested;
  try {
    if (entry.readOnly === true) {
      throw new ReadOnlyError({ code: 'not-sent', is: 'read-only' }, { where: ref.name });
    }
    if ('about' in requested) {
      changes = await requested.changes(async (resource, how) => {
        const listed = await list(resource);
        if (how === 'listed') return listed;
        // The device's field descriptions show which values it accepts.
        await learnFirst(planning, session, resource, requested.about);
        const shown = await session.inFull(access, resource, listed, signal);
        const images = how?.claimed(shown) ?? [];
        const held = [...shown, ...(await claimed(planning, session, resource, shown, images))];
        records.set(resource, held);
        return held;
      });
    }
    for (const [resource, own] of grouped(changes, (change) => change.resource)) {
      const isRead = records.has(resource);
      const listed = records.get(resource) ?? (await list(resource));
      // This also shows whether the list omits fields.
      const isTyped = own.every(({ typed }) => typed);
      if (!isTyped) await learnFirst(planning, session, resource, own);
      const concerned = (): readonly DeviceRecord[] => [
        ...new Set(own.flatMap((one) => concernedBy(session.profile, one, listed, ref.name))),
      ];
      const held = isRead
        ? listed
        : await session.withDetails(access, resource, [listed, concerned], signal);
      records.set(resource, [
        ...held,
        ...(await unlisted(planning, session, { changes: own, records: held, doubts })),
      ]);
      const inFull = async (): Promise<readonly DeviceRecord[]> => {
        if (isTyped) await learnFirst(planning, session, resource, own);
        return isRead ? held : session.inFull(access, resource, listed, signal);
      };
      if (planning.allow?.has('invalid') !== true)
        named.push(...(await readingsOf(session, resource, own, [held, inFull])));
      const meant = own.flatMap((change) => change.meant ?? []);
      noteIdsMovedSince(session.facts, resource, meant, records.get(resource) ?? []);
    }
    const plan = await planFrom(planning, session, changes, { records, doubts });
    return { ...plan, fieldReadings: named };
  } catch (error) {
    // A usage error is the user's mistake, and the same on every device.
    if (!(error instanceof DevshError) || error.code === 'usage') throw error;
    const unread = { ...unplanned(ref, changes, error), pin: session.pin };
    return 'about' in requested && changes.length === 0
      ? { ...unread, wanted: requested.about }
      : unread;
  }
}

/** The plan of the changes from what the device holds. `isOpen`: see `planOnce`. */
async function planFrom(
  planning: Planning,
  session: DeviceSession,
  changes: readonly Change[],
  {
    records,
    doubts,
  }: Readonly<Record<'records', ReadonlyMap<string, readonly DeviceRecord[]>>> & {
    readonly doubts: ReadonlyMap<Change, Note>;
  },
): Promise<DevicePlan & { readonly isOpen: boolean }> {
  const { facts, profile } = session;
  const isLate = facts.get('effects') === 'late';
  const about = { device: session.ref, profile, allow: planning.allow, isLate };
  const parts = await mapInTurns(changes, (change) => {
    if (planning.signal.aborted) throw new CancelledError({ code: 'not-sent', is: 'cancelled' });
    return planDevice(
      { ...about, doubt: doubts.get(change) },
      change,
      records.get(change.resource) ?? [],
    );
  });
  const merged = mergeDevicePlans(session.ref, parts);
  const hasDelete = merged.steps.some(({ action }) => action === 'delete');
  const steps =
    hasDelete && hasDependents(session.profile)
      ? await (
          await import('./dependents.ts')
        ).withDependents({ ...planning, session }, merged.steps)
      : merged.steps;
  const stopped = changes.flatMap((change, index) => stoppedOlder(change, parts[index]));
  const plan = { ...merged, steps, ...(stopped.length > 0 && { changes: stopped }) };
  const assumed = assumptionsOf(session.profile, plan.steps);
  const lookAlikes = await lookAlikesOf(plan.steps, (resource) => records.get(resource) ?? []);
  return {
    ...plan,
    isOpen: changes.some(
      ({ sent }, index) =>
        sent && parts[index]?.settled.every(({ verdict }) => verdict === 'unknown') !== false,
    ),
    pin: session.pin,
    ...(session.trust?.kind === 'insecure' && { isUnchecked: true }),
    ...(assumed.length > 0 && { assumed }),
    ...(lookAlikes.length > 0 && { lookAlikes }),
  };
}

/** Reads the records in full, and how they are described, if a change names a field that the device may not have. */
async function readingsOf(
  session: DeviceSession,
  resource: string,
  changes: readonly Change[],
  [records, inFull]: readonly [readonly DeviceRecord[], () => Promise<readonly DeviceRecord[]>],
): Promise<readonly FieldReading[]> {
  const readings = fieldReadings(session.profile, resource, changes, records);
  if (readings.every(({ others }) => others === undefined)) return readings;
  const full = await inFull().catch(expectedError);
  // If there are too many records to read one by one, some may have the field.
  if (full instanceof ProtocolError) return readings.map(({ field }) => ({ resource, field }));
  if (full instanceof Error) throw full;
  return fieldReadings(session.profile, resource, changes, full);
}

/** An older intent that the gate or changed values stop, as it stays pending: without the answers of this time. */
function stoppedOlder(change: Change, part: DevicePlan | undefined): readonly Change[] {
  const { meant } = change;
  if (meant?.age !== 'older') return [];
  if (part?.settled.some(isStopped) !== true) return [];
  return [{ ...change, meant: { ...meant, also: undefined } }];
}

/** Learns how records are written, which the API document leaves open; before a delete only their fields. */
async function learnFirst(
  { access, signal }: Planning,
  session: DeviceSession,
  resource: string,
  changes: readonly Pick<Change, 'action'>[],
): Promise<void> {
  const isDelete = changes.every(({ action }) => action === 'delete');
  const { origins } = session.profile;
  // If the user has configured all of it, there is nothing to ask.
  if (['method', 'path', 'encoding'].every((fact) => origins[`update.${fact}`] === 'configured')) {
    return;
  }
  await unlessFailed(session.learn(access, resource, isDelete ? 'fields' : 'once', signal));
}

/**
 * Finds the records that changes mean and that exist although the list does not show them. Adds to `doubts` why one may
 * exist.
 */
async function unlisted(
  { access, signal }: Planning,
  session: DeviceSession,
  {
    changes,
    records,
    doubts,
  }: {
    readonly changes: readonly Change[];
    readonly records: readonly DeviceRecord[];
    readonly doubts: Map<Change, Note>;
  },
): Promise<readonly DeviceRecord[]> {
  const { profile } = session;
  const found: DeviceRecord[] = [];
  for (const change of changes) {
    const { resource, action } = change;
    const keyField = keyFieldOf(profile, resource, records);
    const isNamed = action === 'add' || change.target.kind === 'key';
    if (!isNamed || isSingle(profile, resource)) continue;
    const meantAmong = (some: readonly DeviceRecord[]): readonly DeviceRecord[] =>
      recordsNamed({ profile, keyField, records: some }, change);
    if (meantAmong(records).length > 0 || meantAmong(found).length > 0) continue;
    const listed = { session, access, resource, records, signal };
    const absence = await absenceOf(listed, meantAmong, imageOf(profile, keyField, change));
    if (absence.kind === 'there') found.push(absence.record);
    if (absence.kind !== 'not known') continue;
    // A fresh add wants a record that does not exist. A record is made again unless something speaks against the list.
    const isSent = change.sent !== undefined;
    const isAgain = action === 'add' && change.lost !== undefined && !isSent;
    const doubt = isAgain ? await listDoubt(session, resource, records.length) : absence.why;
    if (doubt !== undefined && (isAgain || isSent || action !== 'add')) doubts.set(change, doubt);
  }
  return found;
}

/** The claimed records that the list lacks and that their own paths show under the same name. */
async function claimed(
  { access, signal }: Planning,
  session: DeviceSession,
  resource: string,
  records: readonly DeviceRecord[],
  images: readonly DeviceRecord[],
): Promise<readonly DeviceRecord[]> {
  const { profile } = session;
  const keyField = keyFieldOf(profile, resource, records);
  const nameOf = (record: DeviceRecord): string => valueText(record[keyField]);
  const names = new Set(records.map(nameOf));
  const found: DeviceRecord[] = [];
  for (const image of images.filter((one) => nameOf(one) !== '' && !names.has(nameOf(one)))) {
    if (listFacts(session.profile, resource).detail === 'none') break;
    const isMeant = (record: DeviceRecord): boolean => nameOf(record) === nameOf(image);
    const listed = { session, access, resource, records, signal };
    const absence = await absenceOf(listed, (some) => some.filter(isMeant), image);
    if (absence.kind === 'there' && isMeant(absence.record)) found.push(absence.record);
  }
  return found;
}

/** What an older change knows of its record. */
function imageOf(profile: Profile, keyField: string, { meant }: Change): DeviceRecord | undefined {
  const [idField] = profile.idFields;
  if (meant?.id === undefined || idField === undefined) return undefined;
  return { [keyField]: meant.key, [idField]: meant.id };
}

/** The records that a change may affect: all of them if a filter needs a field that the list omits. */
function concernedBy(
  profile: Profile,
  change: Change,
  records: readonly DeviceRecord[],
  deviceName: string,
): readonly DeviceRecord[] {
  if (change.action === 'add' || change.target.kind === 'key') {
    const keyField = keyFieldOf(profile, change.resource, records);
    return recordsNamed({ profile, keyField, records }, change);
  }
  const { filter } = change.target;
  const isListed = fieldsIn(parseFilter(filter, { isFuzzy: false })).every((field) =>
    records.some((record) => Object.hasOwn(record, field)),
  );
  return isListed ? recordsWhere(filter, records, deviceName) : records;
}
