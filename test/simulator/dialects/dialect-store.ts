import {
  type Account,
  Store,
  type StoredRecord,
  Table,
  type User,
} from '../../../src/simulator/store.ts';

/** A user with what the dialects `drf` and `generic-rest` add. */
export type DialectUser = User & {
  /** An inactive user cannot log in. */
  readonly is_active?: boolean;
  /** ISO 8601. */
  readonly modified?: string;
};

/** Records with a number each. */
export class NumberedTable extends Table {
  readonly #numbers: Map<string, number>;
  #last: number;

  constructor(records: readonly StoredRecord[]) {
    super(records);
    this.#numbers = new Map(records.map(({ uuid }, index) => [uuid, index + 1]));
    this.#last = records.length;
  }

  /** Counted up from 1 and never reused; 0 for an unknown record. */
  numberOf(uuid: string): number {
    return this.get(uuid) === undefined ? 0 : (this.#numbers.get(uuid) ?? 0);
  }

  override put(record: StoredRecord): void {
    if (this.get(record.uuid) === undefined) this.#numbers.set(record.uuid, ++this.#last);
    super.put(record);
  }

  /** A copy that does not share changes with this table. */
  copy(): NumberedTable {
    const copy = new NumberedTable(this.records);
    for (const [uuid, number] of this.#numbers) copy.#numbers.set(uuid, number);
    copy.#last = this.#last;
    return copy;
  }
}

/** The data of a device with several resources, and with accounts that may be inactive. */
export class DialectStore extends Store {
  declare protected readonly tables: ReadonlyMap<string, NumberedTable>;

  override get users(): readonly DialectUser[] {
    return super.users;
  }

  override table(resource: string): NumberedTable | undefined {
    return this.tables.get(resource);
  }

  override accountByPassword(username: string, password: string): Account | undefined {
    return this.#active(super.accountByPassword(username, password));
  }

  override accountByToken(token: string): Account | undefined {
    return this.#active(super.accountByToken(token));
  }

  #active(account: Account | undefined): Account | undefined {
    const user: DialectUser | undefined = this.get(account?.uuid ?? '');
    return user?.is_active === false ? undefined : account;
  }

  /** A copy that does not share changes with this store. */
  copy(): DialectStore {
    const tables = new Map([...this.tables].map(([name, table]) => [name, table.copy()]));
    return new DialectStore(tables, this.accounts.values(), this.random.hex(16));
  }
}
