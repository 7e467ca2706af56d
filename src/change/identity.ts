import { hasPositionalIds, idFieldOf, idOf, type Profile } from '../device/profile.ts';
import { type DeviceRecord, type Value, valueAt, valueText } from '../device/record.ts';
import { attempt } from '../errors.ts';
import { lettersOf, shownKey } from '../device/sensitive-fields.ts';
import type { Note } from '../output/sentences.ts';
import { MASK } from '../text/one-line.ts';
import { normalized, visible } from '../text/visible.ts';

/** What tells one record of a device from all others, as one reading showed it. */
export interface Identity {
  /** Canonical; absent if ids identify nothing there, or the id is the natural key. */
  readonly id?: string | undefined;
  readonly key: string;
  /** The fields that say whose account it is, as the device names them. */
  readonly person: DeviceRecord;
}

/** The record that an intent means on one device, and what must be true before it may act on it. */
export interface Meant extends Identity {
  /**
   * `fresh`: the line named the record, and the reading for its plan showed this. `older`: the intent is sent again
   * (undo, restore, a continued run), and the newest confirmed step left this, or the last reading before it showed it.
   */
  readonly age: 'fresh' | 'older';
  /** The record itself, as a plan has it: where ids are positions, its content tells which one it is. */
  readonly image?: DeviceRecord | undefined;
  /** Why the user is asked in any case: the device may be another one. */
  readonly doubt?: Note | undefined;
  /** A later reading did not show the id: who has it now may be another one. */
  readonly isIdGone?: true | undefined;
  /** A run since has written to another person under the id: that record may look like the one that is meant. */
  readonly isIdTaken?: true | undefined;
  /** Another record had the same natural key: then only an id can say which one is meant. */
  readonly isKeyShared?: true | undefined;
  /** The filter that found the record: it must still match. */
  readonly filter?: string | undefined;
  /** The records that the user takes for the one that is meant. */
  readonly also?: readonly Consent[] | undefined;
}

/** A yes to a question of the gate. */
export interface Consent {
  /** The natural key that the record has now. */
  readonly key: string;
  /** The record as the question showed it: the yes holds for no other. Absent for a word of the line. */
  readonly shown?: Identity | undefined;
}

/** A word of the line that answers a question of the gate: `fw2=bob`. */
export interface Mark {
  readonly device: string;
  /** The natural key that the record has there now. */
  readonly key: string;
}

/** What tells persons apart, in the order of the messages. */
const TRAITS = [
  { name: 'e-mail', pattern: /^(?:primary)?e?mail(?:address)?$/ },
  { name: 'full name', pattern: /^(?:full|display|real)name$/ },
  { name: 'first name', pattern: /^(?:first|given)name$/ },
  { name: 'last name', pattern: /^(?:last|family|sur)name$/ },
] as const;

type Trait = (typeof TRAITS)[number];

/** The text of one trait; empty if the record does not show it. */
export function traitText(name: Trait['name'], record: DeviceRecord): string {
  const trait = TRAITS.find((one) => one.name === name);
  return trait === undefined ? '' : traitOf(trait, record);
}

export function identityOf(profile: Profile, keyField: string, record: DeviceRecord): Identity {
  return {
    id: identifyingId(profile, keyField, record),
    key: keyOf(profile, keyField, record),
    person: personOf(record),
  };
}

/** The natural key of a record, or its id if it has none; see `shownKey`. */
export function keyOf(profile: Profile, keyField: string, record: DeviceRecord): string {
  const key = record[keyField];
  if (key !== undefined && key !== null) return shownKey(keyField, key);
  return shownKey(idFieldOf(profile, record) ?? 'id', idOf(profile, record));
}

/** The canonical id of a record; undefined if it is a position in the list, or the natural key itself. */
export function identifyingId(
  profile: Profile,
  keyField: string,
  record: DeviceRecord,
): string | undefined {
  if (hasPositionalIds(profile) || profile.idFields.includes(keyField)) return undefined;
  const id = idOf(profile, record);
  return id === undefined || id === '' ? undefined : canonicalId(id);
}

/** The same id in any spelling: percent-encoded, with a slash, a UUID in capitals, in braces or without dashes. */
export function canonicalId(id: string): string {
  const decoded = percentDecoded(id).trim();
  const text = decoded.endsWith('/') ? decoded.replace(/(?<=[^/])\/+$/, '') : decoded;
  const hex = /^(?:urn:uuid:)?\{?([0-9a-f-]{32,36})\}?$/i.exec(text)?.[1]?.replaceAll('-', '');
  return hex?.length === 32 ? hex.toLowerCase() : text;
}

/** What may be the id of a record, by the names of its fields: the profile of its device is not known. */
export function idsOf(record: DeviceRecord = {}): string[] {
  return Object.entries(record).flatMap(([field, value]) =>
    /^_?(?:(?:uu|gu)?id|pk)$/i.test(field) && valueText(value) !== '' ? [valueText(value)] : [],
  );
}

/** Whether `wanted` is what one of these fields holds, natural key or id, in any spelling of an id. */
export function isKeyOf(record: DeviceRecord, fields: readonly string[], wanted: string): boolean {
  const id = canonicalId(wanted);
  return fields.some((field) => {
    const text = valueText(valueAt(record, field));
    return text === wanted || canonicalId(text) === id;
  });
}

/** A device behind a proxy may decode a text twice. A percent sign that encodes nothing stays. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  const ascii = /%([0-7][0-9a-f])/gi;
  const decoded =
    attempt(URIError, () => decodeURIComponent(text)) ??
    text.replace(ascii, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  return decoded === text ? text : percentDecoded(decoded);
}

export function personOf(record: DeviceRecord): DeviceRecord {
  return Object.fromEntries(Object.entries(record).filter(([field]) => isPersonField(field)));
}

export function isPersonField(field: string): boolean {
  return TRAITS.some((trait) => isOf(trait, field));
}

/** Letter case, blanks and the composition of letters tell no persons apart. */
export function foldedTrait(text: string): string {
  return normalized(text, 'NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** What a record says about a person beside what was expected. */
export interface Likeness {
  /** Names of traits: `e-mail`. */
  readonly agreeing: readonly string[];
  /** In words: `e-mail ann@example.net, not bob@example.net`. */
  readonly contradicting: readonly string[];
}

/**
 * Compares a record with the person that an intent means. An empty value says nothing; a value that another
 * record shows, too, agrees with nothing.
 *
 * @param others the other records of the same reading
 * @param writes the fields that the intent itself writes: they contradict only if several differ, and more than agree
 */
export function likenessOf(
  expected: DeviceRecord,
  record: DeviceRecord,
  others: readonly DeviceRecord[],
  writes: DeviceRecord = {},
): Likeness {
  const agreeing: string[] = [];
  const contradicting: string[] = [];
  const overwritten: string[] = [];
  let written = 0;
  for (const trait of TRAITS) {
    const [then, now] = [traitOf(trait, expected), traitOf(trait, record)];
    if (then === '' || now === '' || then.includes(MASK)) continue;
    const isSame = foldedTrait(then) === foldedTrait(now);
    const text = `${trait.name} ${visible(now)}, not ${visible(then)}`;
    const isUnique = !others.some(
      (other) => foldedTrait(traitOf(trait, other)) === foldedTrait(now),
    );
    if (Object.keys(writes).some((field) => isOf(trait, field))) {
      const isWritten = foldedTrait(traitOf(trait, writes)) === foldedTrait(now);
      if (!isSame && !isWritten) overwritten.push(text);
      else if (isUnique) written += 1;
    } else if (!isSame) {
      contradicting.push(text);
    } else if (isUnique) {
      agreeing.push(trait.name);
    }
  }
  const isOther = overwritten.length > 1 && overwritten.length > agreeing.length + written;
  return { agreeing, contradicting: isOther ? [...contradicting, ...overwritten] : contradicting };
}

/** Whether records of this kind belong to persons: an account, or what shows an e-mail or a person's name. */
export function isPersonal(resource: string, record: DeviceRecord): boolean {
  return (
    resource === 'user' ||
    TRAITS.some((trait) => trait.name !== 'full name' && traitOf(trait, record) !== '')
  );
}

function traitOf(trait: Trait, record: DeviceRecord): string {
  const field = Object.keys(record).find((name) => isOf(trait, name));
  const value: Value | undefined = field === undefined ? undefined : valueAt(record, field);
  return valueText(value);
}

function isOf({ pattern }: Trait, field: string): boolean {
  return pattern.test(lettersOf(field));
}
