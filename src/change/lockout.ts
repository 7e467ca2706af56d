import type { Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  isNested,
  isValueList,
  nestedValue,
  type Value,
  valueText,
} from '../device/record.ts';
import { disablingValue } from '../device/sensitive-fields.ts';
import { canonicalId, foldedTrait, traitText } from './identity.ts';

/** The plan, each verdict, the journal and the report say so. */
export const NOT_KNOWN = 'open sessions and API tokens: not known to be ended';

export interface AccountReading {
  readonly device: DeviceRef;
  readonly keyField: string;
  readonly records: readonly DeviceRecord[];
}

export interface FoundAccount {
  readonly device: DeviceRef;
  readonly record: DeviceRecord;
  readonly key: string;
  /** Why it may be another person, or the same one. */
  readonly why: string;
}

/** What the devices have of a person. Only `same` is locked out. */
export interface AccountSearch {
  /** The same username, and nothing that speaks against it. */
  readonly same: readonly FoundAccount[];
  /** The same username, but another e-mail or full name than most devices have. */
  readonly contradicting: readonly FoundAccount[];
  /** Another username with the same e-mail or full name. */
  readonly related: readonly FoundAccount[];
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

/** Finds an account by its exact username, and what may belong to the same person. Pure. */
export function findAccount(key: string, readings: readonly AccountReading[]): AccountSearch {
  const all = readings.flatMap(({ device, keyField, records }) =>
    records.map((record) => ({ device, record, key: valueText(record[keyField]), why: '' })),
  );
  const named = all.filter((one) => one.key === key);
  const usual = TRAITS.map(({ of }) => usualText(named.map(({ record }) => of(record))));
  const differences = ({ record }: FoundAccount): string[] =>
    TRAITS.flatMap(({ name, of }, index) => {
      const text = of(record);
      return text === '' || foldedTrait(text) === usual[index] ? [] : [`${name} ${text}`];
    });
  const same = named.filter((one) => differences(one).length === 0);
  const contradicting = named
    .filter((one) => !same.includes(one))
    .map((one) => ({ ...one, why: `another ${differences(one).join(', ')}` }));
  // If the devices contradict each other about a username, each person may be the wanted one.
  const persons = same.length > 0 ? same : contradicting;
  const known = TRAITS.map(
    ({ of }) => new Set(persons.map(({ record }) => foldedTrait(of(record)))),
  );
  const related = all.flatMap((one) => {
    const shared = TRAITS.filter(({ of }, index) => {
      const text = foldedTrait(of(one.record));
      return text !== '' && known[index]?.has(text) === true;
    });
    if (one.key === key || shared.length === 0) return [];
    const texts = shared.map(({ name, of }) => `${name} (${of(one.record)})`);
    return [{ ...one, why: `the same ${texts.join(', ')}` }];
  });
  return { same, contradicting, related };
}

/** The text of more than half of the records that have one; undefined if there is none. */
function usualText(texts: readonly string[]): string | undefined {
  const known = texts.map(foldedTrait).filter((text) => text !== '');
  return known.find((text) => known.filter((other) => other === text).length > known.length / 2);
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
