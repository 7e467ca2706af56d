import { ownAddress, type Profile } from './profile.ts';
import type { DeviceRecord, Value } from './record.ts';
import { isValueList } from './value-text.ts';

/** What such fields are called, whatever they hold: `@odata.etag`, `lang@odata.type`, `_links`. */
const BY_NAME = /^(?:@.+|.+@odata\..+|_?etag|_links)$/i;

/** Fields of these names may also be the record's own: they count only when they hold addresses. */
const BY_CONTENT = /^(?:_?self|url|uri|href|links?|resource_uri)$/i;

/** So many records show which fields a list has. */
const LOOKED_AT = 50;

/**
 * The fields in which a device keeps book of a record: its state, its address, links to others. They
 * are shown, and neither compared nor sent back. A `url` that leads elsewhere is a field like any other.
 *
 * @param basePath where the resources of the device are
 */
export function bookkeepingIn(records: readonly DeviceRecord[], basePath: string): string[] {
  const some = records.slice(0, LOOKED_AT);
  const names = new Set<string>();
  for (const record of some) for (const name in record) names.add(name);
  return [...names].filter(
    (name) =>
      BY_NAME.test(name) ||
      (BY_CONTENT.test(name) &&
        some.every(
          (record) => !Object.hasOwn(record, name) || isAddress(record[name] ?? null, basePath),
        )),
  );
}

/** Whether a list holds nothing but the addresses of its records, as Redfish does. */
export function areLinks(records: readonly DeviceRecord[], { basePath }: Profile): boolean {
  return (
    records.length > 0 &&
    records.every(
      (record) =>
        ownAddress(record, basePath) !== undefined &&
        bookkeepingIn([record], basePath).length === Object.keys(record).length,
    )
  );
}

/** Whether it is an address on the device, or holds nothing but such. */
function isAddress(value: Value, basePath: string): boolean {
  if (typeof value === 'string') {
    if (!/^(?:https?:\/)?\//i.test(value) || !URL.canParse(value, 'https://device.invalid')) {
      return false;
    }
    const { pathname } = new URL(value, 'https://device.invalid');
    return pathname.startsWith(basePath) && pathname !== basePath;
  }
  if (typeof value !== 'object' || value === null) return false;
  const parts: readonly Value[] = isValueList(value) ? value : Object.values(value);
  return parts.length > 0 && parts.some((part) => isAddress(part, basePath));
}
