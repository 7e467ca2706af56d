/**
 * One value as a device sent it. Integers beyond 2^53 are `bigint`, so that no digit is lost.
 * Strings are untrusted: they are stored as they came and made visible only where they are shown.
 */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Value[]
  | { readonly [field: string]: Value };

/** One record of a resource (a user, an interface), field by field, in the order of the device. */
export type DeviceRecord = Readonly<Record<string, Value>>;

/** Which device something is about: its name in the inventory or as typed, and its `host:port`. */
export interface DeviceRef {
  readonly name: string;
  readonly address: string;
}

/** A field of a record; undefined when it has none. Objects inherit a `constructor`, which is no field. */
export function valueAt<T>(
  record: Readonly<Record<string, T>> | undefined,
  field: string,
): T | undefined {
  return record !== undefined && Object.hasOwn(record, field) ? record[field] : undefined;
}

/**
 * Items by the name that each has, in the order of their coming; those without a name are left out.
 * (`Map.groupBy`, which Node 20 does not have.)
 */
export function grouped<Item, Name>(
  items: Iterable<Item>,
  nameOf: (item: Item) => Name | undefined,
): Map<Name, [Item, ...Item[]]> {
  const groups = new Map<Name, [Item, ...Item[]]>();
  for (const item of items) {
    const name = nameOf(item);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}
