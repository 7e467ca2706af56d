import { createRandom, type Random } from './random.ts';

/** The choices of the field `lang`. */
export const LANGUAGES = ['de', 'en', 'fr', 'it', 'es', 'ja'] as const;

/** One user: exactly the documented fields, in their order. */
export type User = Readonly<
  Record<'uuid' | 'first_name' | 'lastname' | 'username' | 'lang', string>
>;

/** Who may log in. Tied to a user: when that user is deleted, nobody gets in with it any more. */
export interface Account {
  readonly uuid: string;
  readonly password: string;
  readonly token: string;
  readonly mayWrite: boolean;
}

/** What one device holds. Records are never changed, only replaced. */
export class Store {
  readonly #users: Map<string, User>;
  readonly #accounts: readonly Account[];
  readonly #random: Random;

  constructor(users: readonly User[], accounts: readonly Account[], seed: string) {
    this.#users = new Map(users.map((user) => [user.uuid, user]));
    this.#accounts = accounts;
    this.#random = createRandom(seed);
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

  create(fields: Omit<User, 'uuid'>): User {
    const user = { uuid: this.#random.uuid(), ...fields };
    this.#users.set(user.uuid, user);
    return user;
  }

  replace(user: User): User {
    this.#users.set(user.uuid, user);
    return user;
  }

  delete(uuid: string): boolean {
    return this.#users.delete(uuid);
  }

  accountByPassword(username: string, password: string): Account | undefined {
    const uuid = this.named(username)?.uuid;
    return this.#accounts.find((account) => account.uuid === uuid && account.password === password);
  }

  accountByToken(token: string): Account | undefined {
    return this.#accounts.find(
      (account) => account.token === token && this.#users.has(account.uuid),
    );
  }

  /** The same contents apart from this store: what happens to the copy is forgotten. */
  copy(): Store {
    return new Store(this.users, this.#accounts, this.#random.hex(16));
  }
}
