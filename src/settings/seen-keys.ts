import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSecretField } from '../device/secret-fields.ts';
import type { DeviceRecord } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { readCached } from './cache.ts';
import { errorCode, fileError, ignoreFileError, makePrivateFolder } from '../os/files.ts';

/** More keys of a resource help nobody to complete one, and would make the file large. */
const MOST_KEYS = 5_000;
const MOST_FIELDS = 200;
const LONGEST = 200;

/** The same, seen again so soon, is not written again. */
const SAME_FOR_MS = 600_000;

/** The natural keys of the records of one resource and the names of their fields; no values. */
export interface SeenRecords {
  readonly keys: readonly string[];
  readonly fields: readonly string[];
  /** How many records there were, and when, as an ISO date. */
  readonly count?: number | undefined;
  readonly at?: string | undefined;
}

/**
 * What completion may offer of devices that are not connected: the keys last seen, one file for each
 * device, in the cache, for the user only. Reading and writing fail in silence: it can be seen again.
 */
export class SeenKeys {
  readonly #folder: string;
  readonly #isKept: boolean;
  readonly #known = new Map<string, Promise<Readonly<Record<string, SeenRecords>>>>();

  /** @param isKept false: nothing is read or written */
  constructor(folder: string, isKept: boolean) {
    this.#folder = folder;
    this.#isKept = isKept;
  }

  /** By resource. */
  of(address: string): Promise<Readonly<Record<string, SeenRecords>>> {
    const known = this.#known.get(address) ?? this.#read(address);
    this.#known.set(address, known);
    return known;
  }

  async keep(address: string, resource: string, seen: SeenRecords): Promise<void> {
    if (!this.#isKept) return;
    const held = await this.of(address);
    const resources = { ...held, [resource]: seen };
    if (isFresh(held[resource], seen)) return;
    this.#known.set(address, Promise.resolve(resources));
    await this.#write(this.#path(address), JSON.stringify({ resources })).catch(ignoreFileError);
  }

  async #read(address: string): Promise<Readonly<Record<string, SeenRecords>>> {
    return this.#isKept ? resourcesIn(await readCached(this.#path(address))) : {};
  }

  /**
   * In one step, but without waiting for the disk: after a power cut there is just nothing known. At
   * once, so that a signal finds no draft.
   */
  async #write(path: string, text: string): Promise<void> {
    await makePrivateFolder(this.#folder);
    const draft = `${path}.${randomUUID()}.tmp`;
    try {
      writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
      renameSync(draft, path);
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      removeDraft(draft);
      throw fileError('write', path, error);
    }
  }

  #path(address: string): string {
    return join(this.#folder, `${address.replace(/[^\w.-]/g, '_')}.json`);
  }
}

/** The reason for the failure is what counts, not whether the draft could be removed. */
function removeDraft(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // It stays.
  }
}

/** Whether `held` says the same, and is not much older. */
function isFresh(held: SeenRecords | undefined, seen: SeenRecords): boolean {
  if (held === undefined) return false;
  const isSame = JSON.stringify({ ...held, at: '' }) === JSON.stringify({ ...seen, at: '' });
  const ageMs = Date.parse(seen.at ?? '') - Date.parse(held.at ?? '');
  return isSame && (seen.at === held.at || (ageMs >= 0 && ageMs < SAME_FOR_MS));
}

/** What a file holds, as far as it can be understood. */
function resourcesIn(data: unknown): Readonly<Record<string, SeenRecords>> {
  if (!isObject(data) || !isObject(data['resources'])) return {};
  const { resources } = data;
  return Object.values(resources).every(isSeen) ? (resources as Record<string, SeenRecords>) : {};
}

function isSeen(data: unknown): data is SeenRecords {
  const areTexts = (list: unknown): boolean =>
    Array.isArray(list) && list.every((text) => typeof text === 'string');
  if (!isObject(data) || !areTexts(data['keys']) || !areTexts(data['fields'])) return false;
  const { count, at } = data;
  const isCount = count === undefined || (Number.isSafeInteger(count) && Number(count) >= 0);
  const isTime = at === undefined || (typeof at === 'string' && !Number.isNaN(Date.parse(at)));
  return isCount && isTime;
}

function isObject(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null;
}

/** What is kept of records; a key that is a secret by its name is none. */
export function seenRecords(
  records: readonly DeviceRecord[],
  keyField: string,
  now?: Date,
): SeenRecords {
  const fields = new Set(records.flatMap((record) => Object.keys(record)));
  const keys = isSecretField(keyField) ? [] : records.map((record) => valueText(record[keyField]));
  return {
    keys: [...new Set(keys)].filter(isShort).slice(0, MOST_KEYS),
    fields: [...fields]
      .filter((name) => !isSecretField(name) && isShort(name))
      .slice(0, MOST_FIELDS),
    count: now && records.length,
    at: now?.toISOString(),
  };
}

function isShort(text: string): boolean {
  return text !== '' && text.length <= LONGEST;
}
