import type { DeviceRecord } from '../device/record.ts';
import { createRandom, type Random } from './random.ts';

/** The choices of the field `lang`. */
export const LANGUAGES = ['de', 'en', 'fr', 'it', 'es', 'ja'] as const;

/** One user: the documented fields, in their order; some dialects add more. */
export type User = Readonly<
  Record<'uuid' | 'first_name' | 'lastname' | 'username' | 'lang', string>
> & {
  /** Dialects `drf` and `generic-rest`: an inactive user cannot log in. */
  readonly is_active?: boolean;
  /** ISO 8601, in the same dialects. */
  readonly modified?: string;
};

/** A login. It ends when its user is deleted. */
export interface Account {
  readonly uuid: string;
  readonly password?: string;
  readonly token?: string;
  readonly mayWrite: boolean;
}

/** The data of one device. Records are never changed, only replaced. */
export class Store {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #users: Table;
  /** By uuid. */
  readonly accounts: Map<string, Account>;
  readonly #random: Random;

  /** `tables`: by resource. */
  constructor(tables: ReadonlyMap<string, Table>, accounts: Iterable<Account>, seed: string) {
    this.#users = tables.get('user') ?? new Table([]);
    this.#tables = new Map([...tables, ['user', this.#users]]);
    this.accounts = new Map(Array.from(accounts, (account) => [account.uuid, account]));
    this.#random = createRandom(seed);
  }

  /** In the order of creation. */
  get users(): readonly User[] {
    return this.#users.records.filter(isUser);
  }

  table(resource: string): Table | undefined {
    return this.#tables.get(resource);
  }

  get(uuid: string): User | undefined {
    const record = this.#users.get(uuid);
    return record !== undefined && isUser(record) ? record : undefined;
  }

  named(username: string): User | undefined {
    return this.users.find((user) => user.username === username);
  }

  /** Adds a record of any resource. */
  insert(table: Table, fields: DeviceRecord): StoredRecord {
    const record = { ...fields, uuid: this.#random.uuid() };
    table.put(record);
    return record;
  }

  accountByPassword(username: string, password: string): Account | undefined {
    const account = this.accounts.get(this.named(username)?.uuid ?? '');
    return account?.password === password && this.#isActive(account) ? account : undefined;
  }

  accountByToken(token: string): Account | undefined {
    return [...this.accounts.values()].find((one) => one.token === token && this.#isActive(one));
  }

  #isActive({ uuid }: Account): boolean {
    const user = this.get(uuid);
    return user !== undefined && user.is_active !== false;
  }

  /** A copy that does not share changes with this store. */
  copy(): Store {
    const tables = new Map([...this.#tables].map(([name, table]) => [name, table.copy()]));
    return new Store(tables, this.accounts.values(), this.#random.hex(16));
  }
}

function isUser(record: StoredRecord): record is StoredRecord & User {
  const texts = [record['first_name'], record['lastname'], record['username'], record['lang']];
  return texts.every((text) => typeof text === 'string');
}

/** A record with its internal id; a dialect may show another one. */
export type StoredRecord = DeviceRecord & { readonly uuid: string };

interface Row {
  readonly number: number;
  readonly record: StoredRecord;
}

/** The records of one resource, in the order of creation. They are never changed, only replaced. */
export class Table {
  readonly #rows: Map<string, Row>;
  #last: number;

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

  /** Counted up from 1 and never reused; 0 for an unknown record. */
  numberOf(uuid: string): number {
    return this.#rows.get(uuid)?.number ?? 0;
  }

  put(record: StoredRecord): void {
    const number = this.#rows.get(record.uuid)?.number ?? ++this.#last;
    this.#rows.set(record.uuid, { number, record });
  }

  delete(uuid: string): boolean {
    return this.#rows.delete(uuid);
  }

  /** A copy that does not share changes with this table. */
  copy(): Table {
    const copy = new Table([]);
    for (const [uuid, row] of this.#rows) copy.#rows.set(uuid, row);
    copy.#last = this.#last;
    return copy;
  }
}
