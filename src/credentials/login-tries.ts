import { rm } from 'node:fs/promises';
import { appendText, readText } from '../os/files.ts';
import { accountName } from './keychain.ts';
import type { StoredAccount } from './store.ts';

/** The new or the old secret of an account under rotation. */
export type WhichSecret = 'new' | 'old';

/**
 * Which secret of an account was tried last, without the secret: a line for each try, written before it. Who is
 * killed after a refused login begins with the other secret the next time. Else each kill would add a refused
 * login until the device locks the account.
 */
export class LoginTries {
  readonly #path: string;
  #last: Promise<Map<string, WhichSecret>> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws SettingsError. */
  async last(account: StoredAccount): Promise<WhichSecret | undefined> {
    return (await this.#read()).get(accountName(account));
  }

  /** Throws SettingsError. */
  async note(account: StoredAccount, secret: WhichSecret): Promise<void> {
    const name = accountName(account);
    (await this.#read()).set(name, secret);
    await appendText(this.#path, `${JSON.stringify([name, secret])}\n`);
  }

  /** Once no outcome is open. */
  async clear(): Promise<void> {
    this.#last = undefined;
    await rm(this.#path, { force: true });
  }

  #read(): Promise<Map<string, WhichSecret>> {
    this.#last ??= readText(this.#path).then(
      (text = '') => new Map(text.split('\n').flatMap(tryIn)),
    );
    return this.#last;
  }
}

/** Returns nothing for a line that was cut off. */
function tryIn(line: string): [string, WhichSecret][] {
  try {
    return [JSON.parse(line) as [string, WhichSecret]];
  } catch {
    return [];
  }
}
