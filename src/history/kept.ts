import { isEqual } from '../device/equality.ts';
import { createHmac } from 'node:crypto';
import {
  type DeviceRecord,
  grouped,
  isTimeStamp,
  isValueList,
  isValueObject,
  jsonText,
  type JsonValue,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import {
  isSecretField,
  isSecretName,
  isStatusField,
  maskedPath,
  maskedValue,
  showsSecret,
} from '../device/sensitive-fields.ts';
import { canonicalId } from '../change/identity.ts';
import { isDeviceTime } from '../device/record.ts';
import { MASK } from '../text/one-line.ts';

/** The fields by which the records of a list differ. */
export interface Naming {
  /** The natural key. */
  readonly keyField: string;
  /** The unique id. Set since a reading has shown two records with the same natural key. */
  readonly idField?: string | undefined;
}

/**
 * A record as it is kept: without secrets, and without the fields that move by themselves. A field with a secret is
 * masked in `fields`; its entry in `digests` tells whether it has changed.
 */
export interface KeptRecord {
  /** Unique in all readings of a period: the natural key, unless another record has the same one. */
  readonly key: string;
  readonly fields: DeviceRecord;
  readonly digests?: Readonly<Record<string, string>>;
}

export function keptWithout(record: KeptRecord, names: readonly string[]): KeptRecord {
  if (names.length === 0) return record;
  const rest = <T>(from: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
  const { key, fields, digests } = record;
  return { key, fields: rest(fields), ...(digests && { digests: rest(digests) }) };
}

/** The records by key, in the order of the device. */
export type KeptState = ReadonlyMap<string, KeptRecord>;

const NOTHING: KeptState = new Map();

/** The natural key, and the id where records share one. */
export interface RecordName {
  readonly key: string;
  readonly id?: { readonly field: string; readonly text: string } | undefined;
}

export function nameOf({ key, fields }: KeptRecord, { keyField, idField }: Naming): RecordName {
  if (idField === undefined) return { key };
  const name = isSecretName(keyField) ? key : valueText(valueAt(fields, keyField));
  const text = valueText(valueAt(fields, idField));
  return { key: name, ...(text !== '' && { id: { field: idField, text } }) };
}

/** The id of a record in canonical form; undefined if it has none. */
export function idText(record: DeviceRecord | undefined, idField: string): string | undefined {
  const text = valueText(valueAt(record, idField));
  return text === '' ? undefined : canonicalId(text);
}

/** The first of these fields that is unique in all records; undefined if the natural key is, or none is. */
export function idFieldFor(
  records: readonly DeviceRecord[],
  keyField: string,
  idFields: readonly string[],
): string | undefined {
  const isUnique = (texts: readonly (string | undefined)[]): boolean =>
    !texts.includes(undefined) && new Set(texts).size === texts.length;
  if (isUnique(records.map((record) => valueText(valueAt(record, keyField))))) return undefined;
  return idFields.find((field) => isUnique(records.map((record) => idText(record, field))));
}

/** Matches names of fields that count, or that name the last writer. */
const MOVES =
  /(?:counter|uptime|etag|_rev|revision)$|^(?:login|logon|access|request|use|visit|session|fail(?:ed|ure)?|bad)s?(?:login|logon|attempt|password)?s?(?:count|counter|total)$|^(?:last)?(?:modified|updated|changed|edited)by$|^last(?:login|seen|active)?(?:ip|address|host|from)$/;

/** Fields of these records that change without anybody changing them: `last_login`, `login_count`. */
export function movingFields(records: readonly DeviceRecord[]): string[] {
  const still = new Set<string>();
  const moving = new Set<string>();
  for (const record of records) {
    for (const field in record) {
      if (still.has(field) || (record[field] ?? '') === '') continue;
      if (isMoving(field, record[field])) moving.add(field);
      else still.add(field);
    }
  }
  return [...moving].filter((field) => !still.has(field));
}

function isMoving(field: string, value: Value | undefined): boolean {
  if (isStatusField(field) || isSecretName(field)) return false;
  return (
    isTimeStamp(value) ||
    isDeviceTime(field, value) ||
    MOVES.test(
      field
        .toLowerCase()
        .replace(/[^a-z0-9_]/g, '')
        .replace(/(?!^)_/g, ''),
    )
  );
}

/** Makes the kept form of the records of one device. The digests need a key of this machine. */
export class Keeper {
  readonly #key: Buffer;
  readonly #redact: (text: string) => string;
  readonly #mayKeep: (field: string) => boolean;

  /**
   * @param redact removes known secrets from a text
   * @param mayKeep whether the value of a field is kept, not only its digest. Keys and ids always are
   */
  constructor(
    key: Buffer,
    redact: (text: string) => string = (text) => text,
    mayKeep: (field: string) => boolean = () => true,
  ) {
    this.#key = key;
    this.#redact = redact;
    this.#mayKeep = mayKeep;
  }

  /** The digest of a whole reading without the fields in `moving`. */
  digestOf(records: readonly DeviceRecord[], moving: ReadonlySet<string>): string {
    const hash = createHmac('sha256', this.#key);
    for (let at = 0; at < records.length; at += AT_ONCE) {
      hash.update(jsonText(without(records.slice(at, at + AT_ONCE), moving)));
    }
    return shortened(hash);
  }

  /** The digest of the values of the fields in `moving`. */
  movingDigest(records: readonly DeviceRecord[], moving: readonly string[]): string {
    return this.#digest(
      jsonText(records.map((record) => moving.map((field) => record[field] ?? null))),
    );
  }

  /**
   * The kept records by key, in the order of the device.
   *
   * @param last the state of the reading before: a record keeps its key as long as it has the same id
   */
  state(
    { resource, records, ...naming }: ReadRecords,
    moving: ReadonlySet<string>,
    last: KeptState = NOTHING,
  ): KeptState {
    const keys = this.#keys(records, naming, moving, last);
    return new Map(
      records.map((record, index) => {
        const key = keys[index] ?? '';
        return [key, this.#kept({ resource, key, ...naming }, record, moving)];
      }),
    );
  }

  #keys(
    records: readonly DeviceRecord[],
    { keyField, idField }: Naming,
    moving: ReadonlySet<string>,
    last: KeptState,
  ): readonly string[] {
    const isSecretKey = isSecretName(keyField);
    const keys = records.map((record) => {
      const text = valueText(valueAt(record, keyField));
      return isSecretKey ? this.#digest(text) : text;
    });
    if (idField !== undefined) return keysById(records, keys, idField, last);
    return this.#numbered(records, keys, moving);
  }

  /** Numbers the records that have the same name and no id, by their content: their order may change. */
  #numbered(
    records: readonly DeviceRecord[],
    keys: string[],
    moving: ReadonlySet<string>,
  ): readonly string[] {
    const taken = new Set(keys);
    if (taken.size === keys.length) return keys;
    for (const [name, copies] of grouped([...keys.entries()], ([, key]) => key)) {
      if (copies.length === 1) continue;
      const texts = copies.map(([index]) => {
        return [index, jsonText(without(records.slice(index, index + 1), moving))] as const;
      });
      texts.sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
      let copy = 1;
      for (const [index] of texts.slice(1)) {
        do copy += 1;
        while (taken.has(`${name}#${copy}`));
        keys[index] = `${name}#${copy}`;
        taken.add(`${name}#${copy}`);
      }
    }
    return keys;
  }

  /** The last values of fields that move by themselves, by the keys of the records. */
  movingValues(
    records: readonly DeviceRecord[],
    keys: readonly string[],
    moving: readonly string[],
  ): (readonly [key: string, values: DeviceRecord])[] {
    const names = moving.filter((field) => !isSecretName(field) && this.#mayKeep(field));
    return records.flatMap((record, index) => {
      const values = names
        .filter((field) => Object.hasOwn(record, field))
        .map((field) => [field, this.#safe(field, record[field] ?? null)] as const);
      return values.length === 0 ? [] : [[keys[index] ?? '', Object.fromEntries(values)] as const];
    });
  }

  /** Whether a field has the same value, also if only one of them is a digest. */
  isSame(resource: string, field: string, one: KeptRecord, other: KeptRecord): boolean {
    const [a, b] = [valueAt(one.digests, field), valueAt(other.digests, field)];
    if (a === undefined && b === undefined) {
      return isEqual(valueAt(one.fields, field), valueAt(other.fields, field));
    }
    const digest = (record: KeptRecord): string | undefined => {
      const value = valueAt(record.fields, field);
      return value === undefined
        ? undefined
        : this.#fieldDigest(resource, record.key, field, value);
    };
    return (a ?? digest(one)) === (b ?? digest(other));
  }

  #kept(
    { resource, key, keyField, idField }: { resource: string; key: string } & Naming,
    record: DeviceRecord,
    moving: ReadonlySet<string>,
  ): KeptRecord {
    const fields: [string, Value][] = [];
    const digests: [string, string][] = [];
    for (const [field, value] of Object.entries(record)) {
      if (moving.has(field)) continue;
      // Every list shows a key, so it is never redacted: a user `admin` may have the password `admin`.
      const isKey = [keyField, idField].includes(field) && !isSecretName(field);
      const isKept = this.#mayKeep(field) || value === null;
      const safe = isKey ? value : isKept ? this.#safe(secretName(record, field), value) : MASK;
      fields.push([field, safe]);
      if (safe === value || isEqual(safe, value)) continue;
      digests.push([field, this.#fieldDigest(resource, key, field, value)]);
    }
    const kept = { key, fields: Object.fromEntries(fields) };
    return digests.length === 0 ? kept : { ...kept, digests: Object.fromEntries(digests) };
  }

  /** The value with everything secret masked. */
  #safe(field: string, value: Value): Value {
    if (isSecretField(field)) return maskedValue(field, value);
    if (isValueList(value)) return value.map((item) => this.#safe('', item));
    if (isValueObject(value)) {
      const parts = Object.entries(value).map(
        ([name, part]) => [name, this.#safe(secretName(value, name), part)] as const,
      );
      return Object.fromEntries(parts);
    }
    const masked = maskedValue(field, value);
    if (typeof masked === 'string') {
      const path = this.#redact(maskedPath(masked));
      return showsSecret(path) ? MASK : path;
    }
    if (typeof masked === 'boolean' || masked === null) return masked;
    const text = valueText(masked);
    const shown = this.#redact(text);
    return shown === text ? masked : shown;
  }

  /** The digest of a field. Equal passwords of two accounts have different digests. */
  #fieldDigest(resource: string, key: string, field: string, value: Value): string {
    return this.#digest(jsonText([resource, key, field, value]));
  }

  #digest(text: string): string {
    return shortened(createHmac('sha256', this.#key).update(text));
  }
}

interface ReadRecords extends Naming {
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
}

/** A record keeps its key as long as it has its id; a new one gets its name and its id as key. */
function keysById(
  records: readonly DeviceRecord[],
  names: readonly string[],
  idField: string,
  last: KeptState,
): readonly string[] {
  const known = new Map(
    Array.from(last.values(), ({ key, fields }) => [idText(fields, idField), key]),
  );
  const given = new Set<string>();
  return records.map((record, index) => {
    const id = idText(record, idField);
    const old = id === undefined ? undefined : known.get(id);
    if (old !== undefined && !given.has(old)) {
      given.add(old);
      return old;
    }
    let key = `${names[index] ?? ''}#${id ?? ''}`;
    // A record without an id may take its old key again, because it is probably the same record.
    while (given.has(key) || (id !== undefined && last.has(key))) key += '#';
    given.add(key);
    return key;
  });
}

/** Returns the name that a value stands beside in a pair, as in `{name: 'psk', value: 'x'}`, else the field. */
function secretName(record: DeviceRecord, field: string): string {
  if (!/^(?:.*[_a-z])?val(?:ue)?s?$/i.test(field)) return field;
  for (const name of NAMES) {
    const text = valueAt(record, name);
    if (typeof text === 'string' && isSecretName(text)) return text;
  }
  return field;
}

const NAMES = ['name', 'key', 'id', 'field', 'option', 'setting', 'parameter', 'attribute'];

/** The number of records that are hashed as one text. All at once would double the memory of a long list. */
const AT_ONCE = 256;

function shortened(hash: ReturnType<typeof createHmac>): string {
  return hash.digest('base64url').slice(0, 22);
}

/** Copies the records and clears the fields, which is fast; JSON leaves undefined fields out. */
function without(
  records: readonly DeviceRecord[],
  moving: ReadonlySet<string>,
): readonly JsonValue[] {
  if (moving.size === 0) return records;
  return records.map((record) => {
    const rest: Record<string, JsonValue> = { ...record };
    for (const field of moving) rest[field] = undefined;
    return rest;
  });
}
