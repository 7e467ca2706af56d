import type { DeviceRecord } from './record.ts';

/** Fields in which a record may name its own address, as hyperlinked serializers do instead of an id. */
const ADDRESS_FIELDS = ['url', 'href', 'self', '@odata.id'];

/** A record's address on its device: the path of the records, and what names it there. */
export interface OwnAddress {
  readonly field: string;
  /** Without a slash at the end. */
  readonly collection: string;
  readonly id: string;
}

/** The address of a record; undefined when it names none below the base path. */
export function ownAddress(record: DeviceRecord, basePath: string): OwnAddress | undefined {
  for (const field of ADDRESS_FIELDS) {
    const value = Object.hasOwn(record, field) ? record[field] : undefined;
    if (typeof value !== 'string' || !URL.canParse(value, 'https://device.invalid')) continue;
    const { pathname, search } = new URL(value, 'https://device.invalid');
    const [, collection = '', last = ''] = /^(.+)\/([^/]+)\/?$/.exec(pathname) ?? [];
    const id = decoded(last);
    const isBelow = `${collection}/`.startsWith(basePath) && `${collection}/` !== basePath;
    if (id !== undefined && isBelow && search === '') return { field, collection, id };
  }
  return undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
