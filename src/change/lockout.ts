import type { Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  frequencies,
  isNested,
  isValueList,
  nestedValue,
  type Value,
  valueText,
} from '../device/record.ts';
import { disablingValue } from '../device/sensitive-fields.ts';
import { canonicalId, foldedTrait, traitText } from './identity.ts';

export interface AccountReading {
  readonly device: DeviceRef;
  readonly keyField: string;
  readonly records: readonly DeviceRecord[];
}

/** What tells persons apart. */
interface Trait {
  readonly name: 'e-mail' | 'full name';
  readonly text: string;
}

export interface FoundAccount {
  readonly device: DeviceRef;
  readonly record: DeviceRecord;
  readonly key: string;
  /** The traits that differ from most accounts of the name, or that a related account shares with them. */
  readonly traits: readonly Trait[];
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

function traitsOf(record: DeviceRecord): readonly Trait[] {
  const names = [traitText('first name', record), traitText('last name', record)];
  const fullName = traitText('full name', record) || names.filter(Boolean).join(' ');
  const traits: readonly Trait[] = [
    { name: 'e-mail', text: traitText('e-mail', record) },
    { name: 'full name', text: fullName },
  ];
  return traits.filter(({ text }) => foldedTrait(text) !== '');
}

const spelled = ({ name, text }: Trait): string => `${name} ${foldedTrait(text)}`;

/** Finds an account by its exact username, and what may belong to the same person. Pure. */
export function findAccount(key: string, readings: readonly AccountReading[]): AccountSearch {
  const all = readings.flatMap(({ device, keyField, records }) =>
    records.map((record) => {
      return { device, record, key: valueText(record[keyField]), traits: traitsOf(record) };
    }),
  );
  const named = all.filter((one) => one.key === key);
  const shown = named.flatMap(({ traits }) => traits);
  const totals = new Map(frequencies(shown.map(({ name }) => name)));
  const counts = new Map(frequencies(shown.map(spelled)));
  // A trait is odd unless more than half of the accounts that have one show the same.
  const isOdd = (trait: Trait): boolean =>
    (counts.get(spelled(trait)) ?? 0) * 2 <= (totals.get(trait.name) ?? 0);
  const compared = named.map((one) => ({ ...one, traits: one.traits.filter(isOdd) }));
  const same = compared.filter(({ traits }) => traits.length === 0);
  const contradicting = compared.filter(({ traits }) => traits.length > 0);
  // If the devices contradict each other about a username, each person may be the wanted one.
  const persons = same.length > 0 ? same : contradicting;
  const known = new Set(persons.flatMap(({ record }) => traitsOf(record).map(spelled)));
  const related = all.flatMap((one) => {
    const traits = one.traits.filter((trait) => known.has(spelled(trait)));
    return one.key === key || traits.length === 0 ? [] : [{ ...one, traits }];
  });
  return { same, contradicting, related };
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
 * The sessions or tokens of some accounts. `isKnown`: the field that names their account holds, by itself or inside an
 * object, a name or an id of any account of the device. Only then `found` is complete.
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
