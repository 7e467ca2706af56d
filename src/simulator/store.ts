import type { DeviceRecord } from '../device/record.ts';
import { createRandom, type Random } from './random.ts';

/** The choices of the field `lang`. */
export const LANGUAGES = ['de', 'en', 'fr', 'it', 'es', 'ja'] as const;

/** One user: the documented fields, in their order. */
export type User = Readonly<
  Record<'uuid' | 'first_name' | 'lastname' | 'username' | 'lang', string>
>;

/** A login. It ends when its user is deleted. */
export interface Account {
  readonly uuid: string;
  readonly password?: string;
  readonly token?: string;
  readonly mayWrite: boolean;
}

/** The data of one device. Records are never changed, only replaced. */
export class Store {
  protected readonly tables: ReadonlyMap<string, Table>;
  readonly #users: Table;
  /** By uuid. */
  readonly accounts: Map<string, Account>;
  protected readonly random: Random;

  /** `tables`: by resource. */
  constructor(tables: ReadonlyMap<string, Table>, accounts: Iterable<Account>, seed: string) {
    this.#users = tables.get('user') ?? new Table([]);
    this.tables = new Map([...tables, ['user', this.#users]]);
    this.accounts = new Map(Array.from(accounts, (account) => [account.uuid, account]));
    this.random = createRandom(seed);
  }

  /** In the order of creation. */
  get users(): readonly User[] {
    return this.#users.records.filter(isUser);
  }

  table(resource: string): Table | undefined {
    return this.tables.get(resource);
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
    const record = { ...fields, uuid: this.random.uuid() };
    table.put(record);
    return record;
  }

  accountByPassword(username: string, password: string): Account | undefined {
    const account = this.accounts.get(this.named(username)?.uuid ?? '');
    return account?.password === password ? account : undefined;
  }

  accountByToken(token: string): Account | undefined {
    return [...this.accounts.values()].find(
      (one) => one.token === token && this.get(one.uuid) !== undefined,
    );
  }
}

function isUser(record: StoredRecord): record is StoredRecord & User {
  const texts = [record['first_name'], record['lastname'], record['username'], record['lang']];
  return texts.every((text) => typeof text === 'string');
}

/** A record with its internal id; a dialect may show another one. */
export type StoredRecord = DeviceRecord & { readonly uuid: string };

/** The records of one resource, in the order of creation. They are never changed, only replaced. */
export class Table {
  readonly #records: Map<string, StoredRecord>;

  constructor(records: readonly StoredRecord[]) {
    this.#records = new Map(records.map((record) => [record.uuid, record]));
  }

  get records(): readonly StoredRecord[] {
    return [...this.#records.values()];
  }

  get(uuid: string): StoredRecord | undefined {
    return this.#records.get(uuid);
  }

  put(record: StoredRecord): void {
    this.#records.set(record.uuid, record);
  }

  delete(uuid: string): boolean {
    return this.#records.delete(uuid);
  }
}
