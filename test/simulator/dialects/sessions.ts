import { randomBytes } from 'node:crypto';
import type { Account } from '../../../src/simulator/store.ts';

/** The quirk `short-sessions`. */
const SHORT_REQUESTS = 5;
const SHORT_MS = 2_000;

interface Session {
  readonly account: Account;
  readonly startedAt: number;
  requests: number;
}

/** The open sessions of one device, by their token. */
export class Sessions {
  readonly #open = new Map<string, Session>();

  get count(): number {
    return this.#open.size;
  }

  start(account: Account): string {
    const token = randomBytes(20).toString('hex');
    this.#open.set(token, { account, startedAt: Date.now(), requests: 0 });
    return token;
  }

  /** Counts one request. Undefined for a session that has ended, or never began. */
  use(token: string, isShort: boolean): Account | undefined {
    const session = this.#open.get(token);
    if (session === undefined) return undefined;
    session.requests += 1;
    const isOver = session.requests > SHORT_REQUESTS || Date.now() - session.startedAt > SHORT_MS;
    if (!isShort || !isOver) return session.account;
    this.#open.delete(token);
    return undefined;
  }

  end(token: string): boolean {
    return this.#open.delete(token);
  }
}
