import { isSecretName } from '../device/sensitive-fields.ts';
import { type DeviceRecord, valueText } from '../device/record.ts';
import { CachedFile } from './cache.ts';

/** More keys do not help completion and would make the file large. */
const MOST_KEYS = 5_000;
const MOST_FIELDS = 200;
const LONGEST = 200;
/** Its own version: the keys stay valid when devsh is updated. */
const FORMAT = '1';

/** The natural keys and field names of the records of one resource, without values. */
export interface SeenRecords {
  readonly keys: readonly string[];
  /** Without secret ones. */
  readonly fields: readonly string[];
}

type SeenByResource = Readonly<Record<string, SeenRecords>>;

/** For completion without a connection: the keys last read, one cache file for each device. */
export class SeenKeys {
  readonly #folder: string;
  readonly #isKept: boolean;
  readonly #known = new Map<string, Promise<SeenByResource>>();

  /** @param isKept false: nothing is read or written */
  constructor(folder: string, isKept: boolean) {
    this.#folder = folder;
    this.#isKept = isKept;
  }

  of(address: string): Promise<SeenByResource> {
    const known = this.#known.get(address) ?? this.#read(address);
    this.#known.set(address, known);
    return known;
  }

  async keep(address: string, resource: string, seen: SeenRecords): Promise<void> {
    if (!this.#isKept) return;
    const cached = await this.of(address);
    if (JSON.stringify(cached[resource]) === JSON.stringify(seen)) return;
    const resources = { ...cached, [resource]: seen };
    this.#known.set(address, Promise.resolve(resources));
    await this.#file(address).keep(resources);
  }

  async #read(address: string): Promise<SeenByResource> {
    return (this.#isKept ? await this.#file(address).read() : undefined) ?? {};
  }

  #file(address: string): CachedFile<SeenByResource> {
    return new CachedFile(this.#folder, address.replace(/[^\w.-]/g, '_'), FORMAT);
  }
}

/** What to cache of records. Secret keys are left out. */
export function seenRecords(records: readonly DeviceRecord[], keyField: string): SeenRecords {
  const fields = new Set(records.flatMap((record) => Object.keys(record)));
  const keys = isSecretName(keyField) ? [] : records.map((record) => valueText(record[keyField]));
  return {
    keys: [...new Set(keys)].filter(isShort).slice(0, MOST_KEYS),
    fields: [...fields]
      .filter((name) => !isSecretName(name) && isShort(name))
      .slice(0, MOST_FIELDS),
  };
}

function isShort(text: string): boolean {
  return text !== '' && text.length <= LONGEST;
}
