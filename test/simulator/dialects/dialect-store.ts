import type { DeviceRecord } from '../../../src/device/record.ts';
import { type Account, Store, type User } from '../../../src/simulator/store.ts';

/** A record with its internal id; a dialect may show another one. */
export type StoredRecord = DeviceRecord & { readonly uuid: string };

/** A user with what the dialects `drf` and `generic-rest` add. */
export type DialectUser = User & {
  /** An inactive user cannot log in. */
  readonly is_active?: boolean;
  /** ISO 8601. */
  readonly modified?: string;
};

/** Records by uuid, in the order of creation, with a number each. They are never changed, only replaced. */
export class NumberedTable extends Map<string, StoredRecord> {
  readonly #numbers = new Map<string, number>();
  #last = 0;

  constructor(records: readonly StoredRecord[]) {
    super();
    for (const record of records) this.set(record.uuid, record);
  }

  get records(): readonly StoredRecord[] {
    return [...this.values()];
  }

  /** Counted up from 1 and never reused; 0 for an unknown record. */
  numberOf(uuid: string): number {
    return !this.has(uuid) ? 0 : (this.#numbers.get(uuid) ?? 0);
  }

  override set(uuid: string, record: StoredRecord): this {
    if (!this.has(uuid)) this.#numbers.set(uuid, ++this.#last);
    return super.set(uuid, record);
  }

  put(record: StoredRecord): void {
    this.set(record.uuid, record);
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
  readonly #tables: ReadonlyMap<string, NumberedTable>;

  /** `tables`: by resource. */
  constructor(
    tables: ReadonlyMap<string, NumberedTable>,
    accounts: Iterable<Account>,
    seed: string,
  ) {
    const users: Map<string, StoredRecord> = tables.get('user') ?? new NumberedTable([]);
    // `users` and `get` leave out those that lack a field of a user.
    super(users as Map<string, User>, accounts, seed);
    this.#tables = tables;
  }

  override get users(): readonly DialectUser[] {
    return super.users.filter(isUser);
  }

  override get(uuid: string): User | undefined {
    const user = super.get(uuid);
    return user !== undefined && isUser(user) ? user : undefined;
  }

  table(resource: string): NumberedTable | undefined {
    return this.#tables.get(resource);
  }

  /** Adds a record of any resource. */
  insertInto(table: NumberedTable, fields: DeviceRecord): StoredRecord {
    const record = { ...fields, uuid: this.random.uuid() };
    table.put(record);
    return record;
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
    const tables = new Map([...this.#tables].map(([name, table]) => [name, table.copy()]));
    return new DialectStore(tables, this.accounts.values(), this.random.hex(16));
  }
}

function isUser({ first_name, lastname, username, lang }: Partial<User>): boolean {
  return [first_name, lastname, username, lang].every((text) => typeof text === 'string');
}
