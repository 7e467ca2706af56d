import type { DeviceRecord } from '../device/record.ts';

/** A record with the identity that it has inside the device; a dialect may show another one. */
export type StoredRecord = DeviceRecord & { readonly uuid: string };

interface Row {
  readonly number: number;
  readonly record: StoredRecord;
}

/** The records of one resource, in the order of creation. They are never changed, only replaced. */
export class Table {
  readonly #rows: Map<string, Row>;
  #last: number;
  #listings = 0;

  constructor(records: readonly StoredRecord[]) {
    this.#rows = new Map(
      records.map((record, index) => [record.uuid, { number: index + 1, record }]),
    );
    this.#last = records.length;
  }

  get records(): readonly StoredRecord[] {
    return Array.from(this.#rows.values(), ({ record }) => record);
  }

  get(uuid: string): StoredRecord | undefined {
    return this.#rows.get(uuid)?.record;
  }

  /** Counted up from 1 and never given twice; 0 for a record that is not here. */
  numberOf(uuid: string): number {
    return this.#rows.get(uuid)?.number ?? 0;
  }

  /** How often all records have been shown, this time included. */
  countListing(): number {
    this.#listings += 1;
    return this.#listings;
  }

  put(record: StoredRecord): void {
    const number = this.#rows.get(record.uuid)?.number ?? ++this.#last;
    this.#rows.set(record.uuid, { number, record });
  }

  delete(uuid: string): boolean {
    return this.#rows.delete(uuid);
  }

  /** The same rows, apart from these. */
  copy(): Table {
    const copy = new Table([]);
    for (const [uuid, row] of this.#rows) copy.#rows.set(uuid, row);
    copy.#last = this.#last;
    return copy;
  }
}
