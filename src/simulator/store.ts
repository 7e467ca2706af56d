import { createRandom, type Random } from './random.ts';

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

/** The data of one device. Users are never changed, only replaced. */
export class Store {
  /** The records by uuid, in the order of creation. */
  readonly #users: Map<string, User>;
  readonly accounts: Map<string, Account>;
  protected readonly random: Random;

  constructor(users: Map<string, User>, accounts: Iterable<Account>, seed: string) {
    this.#users = users;
    this.accounts = new Map(Array.from(accounts, (account) => [account.uuid, account]));
    this.random = createRandom(seed);
  }

  /** In the order of creation. */
  get users(): readonly User[] {
    return [...this.#users.values()];
  }

  get(uuid: string): User | undefined {
    return this.#users.get(uuid);
  }

  named(username: string): User | undefined {
    return this.users.find((user) => user.username === username);
  }

  insert(fields: Omit<User, 'uuid'>): User {
    return this.put({ ...fields, uuid: this.random.uuid() });
  }

  put(user: User): User {
    this.#users.set(user.uuid, user);
    return user;
  }

  delete(uuid: string): boolean {
    return this.#users.delete(uuid);
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
