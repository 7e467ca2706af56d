import { lastSeenText } from '../../shell/records/last-seen.ts';
import type { Session } from '../../shell/session.ts';
import type { Store } from '../store.ts';

/** So many files are read; the screen shows no more devices. */
const MOST_FILES = 64;

/**
 * Tells what devices held when they were last asked, while they have not answered yet. Files are read
 * one after the other, behind the first frame.
 */
export class LastSeen {
  readonly #session: Session;
  readonly #store: Store;
  readonly #asked = new Set<string>();

  constructor(session: Session, store: Store) {
    this.#session = session;
    this.#store = store;
  }

  /** Looks for the devices that wait now and were not looked for before. */
  look(): void {
    const { devices } = this.#store.state.fleet;
    const waiting = devices.filter(({ kind, name, address }) => {
      const isLooked = this.#asked.has(address) || this.#session.given.has(name);
      return kind !== 'ready' && !isLooked;
    });
    const addresses = waiting.map(({ address }) => address).slice(0, MOST_FILES - this.#asked.size);
    if (addresses.length === 0) return;
    for (const address of addresses) this.#asked.add(address);
    setImmediate(() => void this.#read(addresses));
  }

  async #read(addresses: readonly string[]): Promise<void> {
    const { services } = this.#session;
    const texts = new Map<string, string>();
    for (const address of addresses) {
      const text = lastSeenText(await services.seenKeys.of(address), services.now());
      if (text !== undefined) texts.set(address, text);
    }
    if (texts.size > 0) this.#store.dispatch({ kind: 'last-seen', texts });
  }
}
