import type { Add, Change } from '../change/change.ts';
import { restorable } from '../change/data-loss.ts';
import { type Answer, mayAct } from '../change/gate.ts';
import { type Identity, identityOf, type Meant } from '../change/identity.ts';
import { typedFields } from '../change/typed-fields.ts';
import { lookAlikeAmong } from '../change/record-file/match-rows.ts';
import { isEqual } from '../device/equality.ts';
import { isSingle, type Profile } from '../device/profile.ts';
import { type DeviceRecord, grouped, valueAt, valueText, withoutFields } from '../device/record.ts';
import { isSecretName } from '../device/sensitive-fields.ts';
import { MASK } from '../text/one-line.ts';
import type { PastState } from './history.ts';
import type { KeptRecord, KeptState } from './kept.ts';

/** A device as it is now, and the records of it that go back to an earlier state. */
export interface WayBackFrom {
  readonly profile: Profile;
  readonly resource: string;
  readonly past: Pick<PastState, 'state' | 'keyField' | 'leftOut' | 'notRead'>;
  /** The list as the device shows it now. */
  readonly records: readonly DeviceRecord[];
  /** The same records with all fields that the device shows of each, if they were read. */
  readonly full: readonly DeviceRecord[];
  /** The same records in their kept form. */
  readonly now: KeptState;
  /** Whether the digests of both states were made with one key. */
  readonly isComparable: boolean;
  readonly isSelected: (key: string, record: DeviceRecord) => boolean;
  /** Whether to delete what was added since. */
  readonly prune: boolean;
  /** Fields that the line gives for a record that is added again, such as a password. */
  readonly given: Pick<Add, 'fields' | 'asJson'>;
  /** Tells which identity an earlier record means now. */
  readonly meantBy: (then: Identity) => Meant;
}

/** The changes that bring a device back to an earlier state, and the differences that stay, with the keys concerned. */
export interface WayBack {
  readonly changes: readonly Change[];
  readonly unchanged: number;
  /** Keys of records that were added since, and that stay. */
  readonly newcomers: readonly string[];
  /** Keys that several records have, so that devsh cannot pair them; and records without a key to add them by. */
  readonly unclear: readonly string[];
  /** Fields that changed since and cannot be written, of records that need no other change. */
  readonly lost: ReadonlyMap<string, readonly string[]>;
  /** Fields that the records did not have then. */
  readonly gained: readonly string[];
  /** Records to add whose keys look like those to delete: pairs of their names. */
  readonly lookAlikes: readonly (readonly [added: string, deleted: string])[];
}

/** Compares the earlier reading with that of now. Pure. */
export function wayBack(from: WayBackFrom): WayBack {
  const { profile, resource, past, records, now, prune } = from;
  const { keyField } = past;
  const keyOf = (record: DeviceRecord): string => valueText(valueAt(record, keyField));
  const nowKeys = new Map([...now.keys()].map((key, index) => [records[index] ?? {}, key]));
  const then = new Map(
    [...past.state].map(([key, { fields }]) => [key, withoutFields(fields, past.leftOut)]),
  );
  const usual = new Set([...then.values()].flatMap((record) => Object.keys(record)));
  const isShared = sharedKeys(keyField, keyOf, [...then.values()], records);
  const changes: Change[] = [];
  const unclear: string[] = [];
  const missing = new Map<string, Change>();
  const lost = new Map<string, string[]>();
  const gained = new Set<string>();
  const found = new Set<DeviceRecord>();
  let unchanged = 0;
  for (const [key, record] of then) {
    const old = keyOf(record);
    if (!from.isSelected(old, record)) continue;
    const isSecretKey = isSecretName(keyField);
    const meant = meantOf(from, record, isShared(old));
    const current = isSingle(profile, resource)
      ? records[0]
      : recordNow(from, past.state.get(key), record, meant);
    if (current !== undefined) found.add(current);
    if (isSecretKey || (isShared(old) && meant.id === undefined)) {
      unclear.push(old);
    } else if (current === undefined) {
      const change = added(from, past.state.get(key), record, meant);
      if (change === undefined) unclear.push(old);
      else missing.set(old, change);
    } else {
      const more = Object.keys(current).filter(
        (field) =>
          !Object.hasOwn(record, field) && !past.leftOut.includes(field) && !isSecretName(field),
      );
      // A field that no record had then is new on the device, so it stays.
      const removes = more.filter((field) => usual.has(field));
      for (const field of more) if (!usual.has(field)) gained.add(field);
      const kept = now.get(nowKeys.get(current) ?? '');
      const back = setBack(from, [past.state.get(key), kept], record, current);
      if (Object.keys(back.fields).length + removes.length > 0) {
        const target = { kind: 'key', key: keyOf(current) } as const;
        const isSure = isSingle(profile, resource) && meant.doubt === undefined;
        const whom = isSure ? {} : { meant };
        changes.push({ action: 'set', resource, target, ...back, removes, isExact: true, ...whom });
      } else {
        if (Object.keys(back.lost).length === 0) unchanged += 1;
        for (const field of Object.keys(back.lost)) {
          lost.set(field, [...(lost.get(field) ?? []), old]);
        }
      }
    }
  }
  const later = records.filter(
    (record) => !found.has(record) && from.isSelected(keyOf(record), record),
  );
  const newcomers = later.map(keyOf);
  const doubted = new Map(
    later.map((record) => [keyOf(record), meantOf(from, record, isShared(keyOf(record)))]),
  );
  const deleted = prune && !isSingle(profile, resource) ? newcomers : [];
  for (const key of deleted.filter((one) => !isShared(one) && one !== '')) {
    const meant = doubted.get(key);
    const whom = meant?.doubt === undefined ? {} : { meant };
    changes.push({ action: 'delete', resource, target: { kind: 'key', key }, ...whom });
  }
  const likeOf = lookAlikeAmong(deleted);
  return {
    ...{ changes: [...missing.values(), ...changes], unchanged, lost },
    unclear: [...new Set([...unclear, ...deleted.filter(isShared)])],
    newcomers: prune ? [] : newcomers,
    gained: [...gained],
    lookAlikes: [...missing.values()].flatMap((change) => {
      const key = change.action === 'add' ? keyOf(change.fields) : '';
      const other = likeOf(key);
      return key === '' || other === undefined ? [] : [[key, other] as const];
    }),
  };
}

function meantOf(from: WayBackFrom, record: DeviceRecord, isKeyShared: boolean): Meant {
  const { profile, past, meantBy } = from;
  const meant = meantBy(identityOf(profile, past.keyField, record));
  return isKeyShared ? { ...meant, isKeyShared } : meant;
}

/** The present record that an earlier one means, if only perhaps: the gate of the plan asks about it, or stops it. */
function recordNow(
  from: WayBackFrom,
  kept: KeptRecord | undefined,
  record: DeviceRecord,
  meant: Meant,
): DeviceRecord | undefined {
  const { profile, resource, past, records } = from;
  const reading = { profile, keyField: past.keyField, device: '', records };
  const answer = (writes: DeviceRecord): Answer =>
    mayAct({ action: 'set', resource, meant, writes }, reading);
  const first = answer({});
  if (first.kind === 'go' || first.kind === 'absent' || first.record === undefined) {
    return 'record' in first ? first.record : undefined;
  }
  // Values that are written back do not speak against the record.
  const second = answer(setBack(from, [kept, undefined], record, first.record).fields);
  return 'record' in second ? second.record : undefined;
}

/** Tests whether a key may mean several records. If the key is a secret, it is masked in kept records, so it may. */
function sharedKeys(
  keyField: string,
  keyOf: (record: DeviceRecord) => string,
  ...states: readonly (readonly DeviceRecord[])[]
): (key: string) => boolean {
  if (isSecretName(keyField)) return () => true;
  const groups = states.map((records) => grouped(records, keyOf));
  return (key) => groups.some((group) => (group.get(key)?.length ?? 0) > 1);
}

/** The fields whose earlier values are not known because the list was a summary. They do not count as absent. */
function unknownThen({ notRead }: WayBackFrom['past'], full: readonly DeviceRecord[]): string[] {
  if (notRead === undefined) return [];
  const names = new Set([...notRead.omits, ...full.flatMap((record) => Object.keys(record))]);
  return [...names].filter((field) => !notRead.shown.includes(field));
}

/** The change that adds a record again; undefined if its key is an id or a secret, so that it cannot be added. */
function added(
  { profile, resource, past, full, given }: WayBackFrom,
  kept: KeptRecord | undefined,
  record: DeviceRecord,
  meant: Meant,
): Change | undefined {
  const masked = Object.keys(kept?.digests ?? {});
  const isJson = profile.create.encoding === 'json';
  const typed = typedFields({ profile, resource, records: full }, given.fields, {
    ...{ asJson: given.asJson, isJson },
  }).fields;
  const { fields, lost } = restorable(profile, resource, withoutFields(record, masked));
  if (isSingle(profile, resource) || valueText(valueAt(fields, past.keyField)) === '') {
    return undefined;
  }
  return {
    ...{ action: 'add', resource, isExact: true, meant },
    fields: { ...fields, ...typed },
    lost: withoutFields(
      { ...masks(unknownThen(past, full)), ...lost, ...masks(masked) },
      Object.keys(typed),
    ),
  };
}

/** The fields that differ now and can be written, and those that cannot. */
function setBack(
  { profile, resource, past, isComparable }: WayBackFrom,
  [then, now]: readonly [KeptRecord | undefined, KeptRecord | undefined],
  record: DeviceRecord,
  current: DeviceRecord,
): { readonly fields: DeviceRecord; readonly lost: DeviceRecord } {
  const secrets = Object.entries(then?.digests ?? {}).filter(
    ([field]) => !past.leftOut.includes(field),
  );
  const masked = secrets.map(([field]) => field);
  const differing = Object.entries(withoutFields(record, masked)).filter(
    ([field, value]) => !isEqual(value, valueAt(current, field)),
  );
  const { fields, lost } = restorable(profile, resource, Object.fromEntries(differing));
  const changed = secrets.flatMap(([field, digest]) =>
    isComparable && valueAt(now?.digests, field) !== digest ? [field] : [],
  );
  return { fields, lost: { ...lost, ...masks(changed) } };
}

function masks(fields: readonly string[]): DeviceRecord {
  return Object.fromEntries(fields.map((field) => [field, MASK]));
}
