import type { Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  isNested,
  isValueList,
  nestedValue,
  type Value,
  valueText,
} from '../device/record.ts';
import { disablingValue } from '../device/sensitive-fields.ts';
import { foldedLook } from './account-harm.ts';
import { canonicalId, foldedTrait, personOf, traitText } from './identity.ts';

/** In the plan, each verdict, the journal and the report. */
export const NOT_KNOWN = 'open sessions and API tokens: not known to be ended';

export interface AccountReading {
  readonly device: DeviceRef;
  readonly keyField: string;
  readonly records: readonly DeviceRecord[];
}

export interface FoundAccount {
  readonly device: DeviceRef;
  readonly record: DeviceRecord;
  readonly keyField: string;
  readonly key: string;
  /** Why it may be another person, or the same one. */
  readonly why: string;
}

/** Names an account on all devices, or on one: `bob`, `fw2=bob`. */
export interface Mark {
  readonly key: string;
  readonly device?: string | undefined;
}

/** What the devices have of a person. Only `same` is taken without a mark. */
export interface AccountSearch {
  /** The same username, and nothing that speaks against it. */
  readonly same: readonly FoundAccount[];
  /** The same username, but another e-mail or full name than most devices have. */
  readonly contradicting: readonly FoundAccount[];
  /** Another username with the same e-mail or full name. */
  readonly related: readonly FoundAccount[];
  /** Another username that looks like it: a hint only. */
  readonly lookAlikes: readonly FoundAccount[];
}

/** What tells persons apart, in the order of the messages. */
const TRAITS = [
  { name: 'e-mail', of: (record: DeviceRecord) => traitText('e-mail', record) },
  {
    name: 'full name',
    of: (record: DeviceRecord) =>
      traitText('full name', record) ||
      [traitText('first name', record), traitText('last name', record)].filter(Boolean).join(' '),
  },
] as const;

/** What all records that show something say about the person, as the first of them shows it. */
export function agreedPerson(records: readonly DeviceRecord[]): DeviceRecord {
  const shown = records.flatMap((record) => Object.entries(personOf(record))).filter(isShown);
  return Object.fromEntries(
    [...grouped(shown, ([field]) => field).values()].flatMap((texts) => {
      const isAgreed = new Set(texts.map(([, value]) => foldedTrait(valueText(value)))).size === 1;
      return isAgreed ? [texts[0]] : [];
    }),
  );
}

function isShown([, value]: readonly [field: string, value: Value]): boolean {
  return valueText(value) !== '';
}

/** Finds an account by its exact username, and what may belong to the same person. Pure. */
export function findAccount(key: string, readings: readonly AccountReading[]): AccountSearch {
  const all = readings.flatMap(({ device, keyField, records }) =>
    records.map((record) => ({
      ...{ device, record, keyField },
      key: valueText(record[keyField]),
    })),
  );
  const named = all.filter((one) => one.key === key);
  const usual = TRAITS.map(({ of }) => usualText(named.map(({ record }) => of(record))));
  const same: FoundAccount[] = [];
  const contradicting: FoundAccount[] = [];
  for (const one of named) {
    const differences = TRAITS.flatMap(({ name, of }, index) => {
      const text = of(one.record);
      if (text === '' || foldedTrait(text) === usual[index]) return [];
      return [`${name} ${text}`];
    });
    if (differences.length === 0) same.push({ ...one, why: 'the same username' });
    else contradicting.push({ ...one, why: `another ${differences.join(', ')}` });
  }
  // Of a username that is contradicted everywhere, each person may be the wanted one.
  const persons = same.length > 0 ? same : contradicting;
  const known = TRAITS.map(
    ({ of }) => new Set(persons.map(({ record }) => foldedTrait(of(record)))),
  );
  const related: FoundAccount[] = [];
  const lookAlikes: FoundAccount[] = [];
  for (const one of all) {
    if (one.key === key) continue;
    const shared = TRAITS.filter(({ of }, index) => {
      const text = foldedTrait(of(one.record));
      return text !== '' && known[index]?.has(text) === true;
    });
    const why = shared.map(({ name, of }) => `the same ${name} (${of(one.record)})`).join(', ');
    if (shared.length > 0) related.push({ ...one, why });
    else if (foldedLook(one.key) !== '' && foldedLook(one.key) === foldedLook(key)) {
      lookAlikes.push({ ...one, why: 'looks like it' });
    }
  }
  return { same, contradicting, related, lookAlikes };
}

/** The text of more than half of the records that have one; undefined if there is none. */
function usualText(texts: readonly string[]): string | undefined {
  const known = texts.map(foldedTrait).filter((text) => text !== '');
  return known.find((text) => known.filter((other) => other === text).length > known.length / 2);
}

/** The accounts to take: the same one, and what the marks name. */
export function takenAccounts(
  { same, contradicting, related, lookAlikes }: AccountSearch,
  marks: readonly Mark[],
): readonly FoundAccount[] {
  const others = [...contradicting, ...related, ...lookAlikes];
  return [...same, ...others.filter((one) => marks.some((mark) => isMarked(one, mark)))];
}

export function isMarked({ key, device }: FoundAccount, mark: Mark): boolean {
  return key === mark.key && (mark.device === undefined || mark.device === device.name);
}

/** Switches of an account, the clearest first. `deleted` and the like may do more than disable. */
const SWITCHES = [/active/, /enabled?/, /disabled?/, /lock/, /block/, /suspend|bann?/];

/**
 * The fields that disable an account: those of the profile, else the switch that the record or the description
 * of the device shows; undefined if it has none.
 */
export function disablingFields(
  { resources }: Profile,
  resource: string,
  record: DeviceRecord,
): DeviceRecord | undefined {
  const { disabledAs, fields: described = {} } = resources[resource] ?? {};
  if (disabledAs !== undefined) return disabledAs;
  const known: DeviceRecord = {
    ...Object.fromEntries(
      Object.entries(described)
        .filter(([, { type }]) => type === 'boolean')
        .map(([field]) => [field, true]),
    ),
    ...record,
  };
  const fields = Object.keys(known).filter((field) => described[field]?.readOnly !== true);
  for (const pattern of SWITCHES) {
    for (const field of fields.filter((one) => pattern.test(one.toLowerCase()))) {
      const value = disablingValue(field, known[field] ?? null);
      if (value !== undefined) return { [field]: value };
    }
  }
  return undefined;
}

/** The resources whose records are sessions or tokens, with the field that names their account. */
export function accessResources({ resources }: Profile): readonly (readonly [string, string])[] {
  return Object.entries(resources).flatMap(([resource, facts]) =>
    facts?.accountField === undefined ? [] : [[resource, facts.accountField] as const],
  );
}

/**
 * The sessions or tokens of some accounts. `isKnown`: the field that names their account holds a name or an id of some
 * account of the device, by itself or inside an object, so that none for these accounts means that there is none.
 */
export function accessRecords(
  { idFields }: Profile,
  field: string,
  records: readonly DeviceRecord[],
  { own, all, keyField }: AccountNames,
): { readonly found: readonly DeviceRecord[]; readonly isKnown: boolean } {
  const fields = [keyField, ...idFields];
  const namesIn = (value: Value | undefined): readonly string[] =>
    !isNested(value ?? null)
      ? [canonicalId(valueText(value))]
      : isValueList(value)
        ? value.flatMap(namesIn)
        : fields.flatMap((name) => namesIn(nestedValue(value as DeviceRecord, name)));
  const names = (accounts: readonly DeviceRecord[]): ReadonlySet<string> =>
    new Set(accounts.flatMap(namesIn).filter((name) => name !== ''));
  const [wanted, known] = [names(own), names(all)];
  const has = (some: ReadonlySet<string>) => (record: DeviceRecord) =>
    namesIn(nestedValue(record, field)).some((name) => some.has(name));
  const found = records.filter(has(wanted));
  return { found, isKnown: records.length === 0 || records.some(has(known)) };
}

interface AccountNames {
  readonly own: readonly DeviceRecord[];
  readonly all: readonly DeviceRecord[];
  readonly keyField: string;
}
