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
  readonly password: string;
  readonly token: string;
  readonly mayWrite: boolean;
}

/** The data of one device. Records are never changed, only replaced. */
export class Store {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #users: Table;
  readonly #accounts: readonly Account[];
  /** Set by a write; by uuid. */
  #passwords = new Map<string, string>();
  #tokens = new Map<string, string>();
  #locked = new Set<string>();
  readonly #random: Random;

  /** `tables`: by resource. */
  constructor(tables: ReadonlyMap<string, Table>, accounts: readonly Account[], seed: string) {
    this.#users = tables.get('user') ?? new Table([]);
    this.#tables = new Map([...tables, ['user', this.#users]]);
    this.#accounts = accounts;
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
    const user = this.named(username);
    if (user === undefined || user.is_active === false) return undefined;
    if (this.#locked.has(username)) return undefined;
    return this.hasPassword(user.uuid, password) ? this.#accountOf(user.uuid) : undefined;
  }

  hasPassword(uuid: string, password: string): boolean {
    const own =
      this.#passwords.get(uuid) ?? this.#accounts.find((one) => one.uuid === uuid)?.password;
    return own === password;
  }

  lock(username: string): void {
    this.#locked.add(username);
  }

  setPassword(uuid: string, password: string): void {
    this.#passwords.set(uuid, password);
  }

  restoreLogins(): void {
    this.#passwords.clear();
    this.#tokens.clear();
  }

  /** Replaces the token of a user. */
  newToken(uuid: string): string {
    const token = this.#random.hex(40);
    this.#tokens.set(uuid, token);
    return token;
  }

  /** The others may only read. */
  #accountOf(uuid: string): Account {
    const account = this.#accounts.find((one) => one.uuid === uuid);
    return account ?? { uuid, password: '', token: '', mayWrite: false };
  }

  accountByToken(token: string): Account | undefined {
    const user = this.users.find(({ uuid }) => {
      const own = this.#tokens.get(uuid) ?? this.#accounts.find((one) => one.uuid === uuid)?.token;
      return own === token;
    });
    return user === undefined || user.is_active === false ? undefined : this.#accountOf(user.uuid);
  }

  /** A copy that does not share changes with this store. */
  copy(): Store {
    const tables = new Map([...this.#tables].map(([name, table]) => [name, table.copy()]));
    const copy = new Store(tables, this.#accounts, this.#random.hex(16));
    copy.#passwords = new Map(this.#passwords);
    copy.#tokens = new Map(this.#tokens);
    copy.#locked = this.#locked;
    return copy;
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
  /** How often it was stored. */
  readonly version: number;
  readonly record: StoredRecord;
}

/** The records of one resource, in the order of creation. They are never changed, only replaced. */
export class Table {
  readonly #rows: Map<string, Row>;
  #last: number;
  #listings = 0;

  constructor(records: readonly StoredRecord[]) {
    this.#rows = new Map(
      records.map((record, index) => [record.uuid, { number: index + 1, version: 1, record }]),
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

  versionOf(uuid: string): number {
    return this.#rows.get(uuid)?.version ?? 0;
  }

  /** How often all records have been listed, this time included. */
  countListing(): number {
    this.#listings += 1;
    return this.#listings;
  }

  put(record: StoredRecord): void {
    const number = this.#rows.get(record.uuid)?.number ?? ++this.#last;
    this.#rows.set(record.uuid, { number, version: this.versionOf(record.uuid) + 1, record });
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
