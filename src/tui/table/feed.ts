import { expectedError } from '../../errors.ts';
import { perDeviceFields } from '../../fleet/compared.ts';
import type { Invocation } from '../../shell/command.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import type { Services } from '../../shell/services.ts';
import type { ReadOutput } from '../../shell/output.ts';
import { quoteWord } from '../../text/words.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { defaultView, storedColumns } from '../../shell/records/read-records.ts';
import { Throttle, type Store } from '../store.ts';
import type { TableRead } from './table-state.ts';
import type { ShellSession } from '../../shell/session.ts';

/** The filter of a line, as typed. */
export function typedFilter({ args, given: { filter } }: Invocation): string {
  const words = args.all('FILTER').map(quoteWord);
  return [...words, ...(filter === undefined ? [] : [filter])].join(' ');
}

/** Adds responses of devices to the main table. */
export class TableFeed {
  readonly #store: Store;
  readonly #fleet: Fleet;
  readonly #settings: Services['settings'];
  #pending: TableRead[] = [];
  readonly #updates = new Throttle(() => this.#dispatchReads());
  /** The devices named by a line, in the order of their responses. */
  #named: { line: string; devices: string[] } | undefined;
  /** By device, the read time of the records that were last added from the cache of its session. */
  readonly #lastAdded = new Map<string, unknown>();

  constructor(store: Store, fleet: Fleet, settings: Services['settings']) {
    this.#store = store;
    this.#fleet = fleet;
    this.#settings = settings;
  }

  /** Adds a response of a line. With `isFirst` it shows the table; later ones count only while the table is shown. */
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
          commandFilter: typedFilter(invocation),
          scope: hasDevices ? [...(this.#named?.devices ?? [])] : undefined,
          view: read.view,
          watchMs: given.watchMs,
        },
      });
    }
    this.#pending.push({ ...read, at: new Date() });
    this.#updates.schedule();
  }

  flush(): void {
    this.#updates.runNow();
  }

  #dispatchReads(): void {
    if (this.#pending.length === 0) return;
    const reads = this.#pending;
    this.#pending = [];
    this.#store.dispatch({ kind: 'reads', reads });
  }

  /** Drops the devices and the filter named by a line: the table follows the selection again. */
  reset(): void {
    const { resource } = this.#store.state.table.view;
    const profile = this.#fleet.selection[0]?.entry.profile ?? 'documented';
    this.#named = undefined;
    this.#lastAdded.clear();
    this.#store.dispatch({
      kind: 'table-source',
      source: {
        command: `${resourceWords(resource)} list`,
        commandFilter: '',
        scope: undefined,
        view: defaultView(resource, storedColumns(this.#settings, profile, resource)),
      },
    });
  }

  /** Adds the records that a connection or a read-back has just read, so that no device is read again. */
  addCachedReads(): void {
    const before = this.#store.state.table;
    if (before.commandFilter !== '' || before.scope !== undefined || before.view.isPast) return;
    if (before.reads.size === 0) this.reset();
    // `reset` may have changed the view: it has the kept columns now.
    const { table } = this.#store.state;
    const { resource } = table.view;
    const reads: TableRead[] = [];
    const perDevice = new Set(table.view.perDevice);
    for (const session of this.#fleet.selection) {
      const records = session.cached(resource);
      const at = session.cachedAt(resource);
      if (records === undefined || this.#lastAdded.get(session.ref.name) === at) continue;
      this.#lastAdded.set(session.ref.name, at);
      for (const field of perDeviceFields(session.profile, resource)) perDevice.add(field);
      reads.push({
        kind: 'read',
        view: table.view,
        device: session.ref,
        at,
        outcome: { ok: true, records },
        omits: session.omittedIn(resource, records),
        mayLack: session.mayLack(resource),
      });
    }
    if (reads.length === 0) return;
    const view = { ...table.view, perDevice: [...perDevice] };
    this.#store.dispatch({ kind: 'reads', reads: reads.map((read) => ({ ...read, view })) });
  }
}

/** Looks up the pending changes of connected devices, after a device is connected, and if `isDue`. */
export function pendingLookup({ services }: ShellSession, store: Store): (isDue?: boolean) => void {
  let last: Promise<unknown> = Promise.resolve();
  let known = '';
  const update = async (): Promise<void> => {
    if ((await services.runs.ids()).length === 0) return;
    const { pendingCounts } = await import('../../shell/writing/pending.ts');
    const pending = await pendingCounts(services, store.state.fleet.devices);
    store.know({ pending });
  };
  return (isDue = false) => {
    const devices = store.state.fleet.devices.map(({ address }) => address).join(' ');
    if (devices === known && !isDue) return;
    known = devices;
    // The lines that plan and connect report unreadable files.
    last = last.then(() => update().catch(expectedError));
  };
}
