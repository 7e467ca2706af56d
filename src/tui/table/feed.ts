import { perDeviceFields } from '../../fleet/compared.ts';
import type { Invocation } from '../../shell/command.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import type { Services } from '../../shell/services.ts';
import type { ReadOutput, View } from '../../shell/output.ts';
import { quoteWord } from '../../text/words.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { defaultView } from '../../shell/records/kept-columns.ts';
import { Gathering, type Store } from '../store.ts';
import type { TableRead } from '../state.ts';
import { lastSeenText } from '../../shell/records/last-seen.ts';
import type { ShellSession } from '../../shell/session.ts';

/** The filter of a line, as it was typed. */
export function filterOf({ args, given: { filter } }: Invocation): string {
  const words = args.all('FILTER').map(quoteWord);
  return [...words, ...(filter === undefined ? [] : [filter])].join(' ');
}

/** Brings what devices answered into the main table. */
export class TableFeed {
  readonly #store: Store;
  readonly #fleet: Fleet;
  readonly #columns: Services['columns'];
  #pending: TableRead[] = [];
  readonly #news = new Gathering(() => {
    this.#take();
  });
  /** The devices of a line that named them itself, as they answer. */
  #named: { line: string; devices: string[] } | undefined;
  /** By device: the records that were last taken over; others may have read them. */
  readonly #taken = new Map<string, unknown>();

  constructor(store: Store, fleet: Fleet, columns: Services['columns']) {
    this.#store = store;
    this.#fleet = fleet;
    this.#columns = columns;
  }

  /**
   * One device has answered a line that fills the table.
   *
   * @param isFirst the line brings the table into sight; later answers only fill it as long as it is there
   */
  add(line: string, invocation: Invocation, read: ReadOutput, isFirst = false): void {
    const { given } = invocation;
    const hasDevices = given.on !== undefined;
    if (hasDevices) {
      if (this.#named?.line !== line) this.#named = { line, devices: [] };
      if (!this.#named.devices.includes(read.device.name))
        this.#named.devices.push(read.device.name);
    }
    const { table } = this.#store.state;
    const isThere = table.command === line;
    if (!isThere && !isFirst) return;
    if (isFirst || (hasDevices && table.scope?.length !== this.#named?.devices.length)) {
      this.#store.dispatch({
        kind: isFirst ? 'table' : 'table-source',
        source: {
          command: line,
          commandFilter: filterOf(invocation),
          scope: hasDevices ? [...(this.#named?.devices ?? [])] : undefined,
          view: read.view,
          watchMs: given.watchMs,
        },
      });
    }
    this.#pending.push({ ...read, at: new Date() });
    this.#news.soon();
  }

  flush(): void {
    this.#news.now();
  }

  #take(): void {
    if (this.#pending.length === 0) return;
    const reads = this.#pending;
    this.#pending = [];
    this.#store.dispatch({ kind: 'reads', reads });
  }

  /** Forgets the devices and the filter that a line named: the table follows the selection again. */
  reset(): void {
    const { table } = this.#store.state;
    this.#named = undefined;
    this.#taken.clear();
    this.#store.dispatch({
      kind: 'table-source',
      source: {
        command: `${resourceWords(table.view.resource)} list`,
        commandFilter: '',
        scope: undefined,
        view: this.#defaultView(table.view.resource),
      },
    });
  }

  #defaultView(resource: string): View {
    const [first] = this.#fleet.selection;
    const profile = first?.entry.profile ?? 'documented';
    return defaultView(resource, this.#columns.recall(profile, resource));
  }

  /**
   * Takes over what other commands have read: connecting reads each device, writing reads it back,
   * and nobody needs to ask a device again for what it has just told.
   */
  takeSeen(): void {
    const { table } = this.#store.state;
    if (table.commandFilter !== '' || table.scope !== undefined) return;
    if (table.reads.size === 0) this.reset();
    const { resource } = table.view;
    const reads: TableRead[] = [];
    const perDevice = new Set(table.view.perDevice);
    for (const session of this.#fleet.selection) {
      const records = session.cached(resource);
      if (records === undefined || this.#taken.get(session.ref.name) === records) continue;
      this.#taken.set(session.ref.name, records);
      for (const field of perDeviceFields(session.profile, resource)) perDevice.add(field);
      reads.push({
        kind: 'read',
        view: table.view,
        device: session.ref,
        at: session.cachedAt(resource),
        outcome: { ok: true, records },
      });
    }
    if (reads.length === 0) return;
    const view = { ...table.view, perDevice: [...perDevice] };
    this.#store.dispatch({ kind: 'reads', reads: reads.map((read) => ({ ...read, view })) });
  }
}

/** So many files are read; the screen shows no more devices. */
const MOST_FILES = 64;

/**
 * Tells what devices held when they were last asked, while they have not answered yet: each time that it
 * is called, of those that were not looked for before. Files are read one after the other, behind the
 * first frame.
 */
export function lastSeenOf({ given, services }: ShellSession, store: Store): () => void {
  const asked = new Set<string>();
  const read = async (addresses: readonly string[]): Promise<void> => {
    const texts = new Map<string, string>();
    for (const address of addresses) {
      const text = lastSeenText(await services.seenKeys.of(address), services.now());
      if (text !== undefined) texts.set(address, text);
    }
    if (texts.size > 0) store.dispatch({ kind: 'last-seen', texts });
  };
  return () => {
    const addresses = store.state.fleet.devices
      .filter(
        ({ kind, name, address }) => kind !== 'ready' && !asked.has(address) && !given.has(name),
      )
      .map(({ address }) => address)
      .slice(0, MOST_FILES - asked.size);
    if (addresses.length === 0) return;
    for (const address of addresses) asked.add(address);
    setImmediate(() => void read(addresses));
  };
}
