import { isDeepStrictEqual } from 'node:util';
import type { NewFact } from '../device/facts.ts';
import type { DeviceRecord } from '../device/record.ts';
import { DevshError } from '../errors.ts';
import { fanOut, type Width } from './fan-out.ts';
import type { Access } from './access.ts';
import { DeviceSession, type Memory } from './device-session.ts';
import type { DeviceEntry } from './inventory.ts';

/** Transforms the records of each device as part of reading it. */
export type Refine = (
  session: DeviceSession,
  records: readonly DeviceRecord[],
) => Promise<readonly DeviceRecord[]>;

export interface FleetCall {
  readonly access: Access;
  readonly signal?: AbortSignal | undefined;
  readonly refine?: Refine | undefined;
  /** Closes each connection after its device was read, because nothing follows. */
  readonly closes?: boolean;
  readonly width: Width;
}

export type FleetRead = {
  readonly session: DeviceSession;
  /** The devices that have not ended yet. The set shrinks while they are read. */
  readonly awaited: ReadonlySet<DeviceSession>;
  readonly total: number;
} & (
  | { readonly ok: true; readonly records: readonly DeviceRecord[] }
  | { readonly ok: false; readonly error: DevshError }
);

/** The devices of a shell session: the connected ones, and the selection for the next command. */
export class Fleet {
  readonly #sessions = new Map<string, DeviceSession>();
  #connected: readonly DeviceSession[] = [];
  #selected: readonly DeviceSession[] | undefined;
  /** Index by name, in order of the first connection. A device keeps its place when others connect or disconnect. */
  readonly #places = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly onNew: ((entry: DeviceEntry, news: readonly NewFact[]) => Promise<void>) | undefined;

  readonly #memory: Memory | undefined;

  constructor(onNew?: Fleet['onNew'], memory?: Memory) {
    this.onNew = onNew;
    this.#memory = memory;
  }

  get connected(): readonly DeviceSession[] {
    return this.#connected;
  }

  /** The index of a device since it was first connected, from 0. */
  placeOf({ ref }: DeviceSession): number {
    return this.#places.get(ref.name) ?? -1;
  }

  /** All devices used in this session, connected or not. */
  get known(): readonly DeviceSession[] {
    return [...this.#sessions.values()];
  }

  /** The devices of a command without `--on`. */
  get selection(): readonly DeviceSession[] {
    return this.#selected ?? this.#connected;
  }

  get isNarrowed(): boolean {
    return this.#selected !== undefined;
  }

  /** The sessions for these entries, created on first use and when an entry changes. Connects nothing. */
  sessions(entries: readonly DeviceEntry[]): DeviceSession[] {
    const connected = new Map(this.#connected.map((one) => [one.ref.name, one]));
    return entries.map((entry) => {
      const known = this.#sessions.get(entry.name);
      const current = connected.get(entry.name);
      for (const one of [known, current]) {
        if (one !== undefined && isDeepStrictEqual(one.entry, entry)) return one;
      }
      // `join` closes a connected session when it replaces it.
      if (known !== current) void known?.close();
      const changed = (): void => this.#changed();
      const session = new DeviceSession(entry, changed, this.#memory);
      const { onNew } = this;
      if (onNew !== undefined) session.facts.onNew((news) => onNew(entry, news));
      this.#sessions.set(entry.name, session);
      return session;
    });
  }

  /** Connects sessions: each gets its previous place or the last one. Selects them unless the selection is narrowed. */
  join(sessions: readonly DeviceSession[]): void {
    const current = new Map([...this.#connected, ...sessions].map((one) => [one.ref.name, one]));
    for (const one of this.#connected) if (current.get(one.ref.name) !== one) void one.close();
    for (const name of current.keys()) {
      if (!this.#places.has(name)) this.#places.set(name, this.#places.size);
    }
    this.#connected = [...current.values()].sort((a, b) => this.placeOf(a) - this.placeOf(b));
    this.#selected = this.#selected?.map((session) => current.get(session.ref.name) ?? session);
    this.#changed();
  }

  /** Disconnects sessions. If only these were selected, none is, so that no line writes to other devices. */
  async leave(sessions: readonly DeviceSession[]): Promise<void> {
    const gone = new Set(sessions);
    this.#connected = this.#connected.filter((session) => !gone.has(session));
    this.#selected = this.#selected?.filter((session) => !gone.has(session));
    if (this.#connected.length === 0) {
      this.#selected = undefined;
      this.#places.clear();
    }
    for (const session of sessions) this.#sessions.delete(session.entry.name);
    await Promise.all(sessions.map((session) => session.close()));
    this.#changed();
  }

  /** Narrows the selection; `undefined` widens it to all connected devices. */
  select(sessions: readonly DeviceSession[] | undefined): void {
    this.#selected = sessions;
    this.#changed();
  }

  /** Reads a resource from each device in parallel; yields each as soon as it responds. */
  read(
    sessions: readonly DeviceSession[],
    resource: string,
    call: FleetCall,
  ): AsyncIterable<FleetRead> {
    const { access, signal, refine, closes, width } = call;
    const total = sessions.length;
    const awaited = new Set(sessions);
    const readOne = async (session: DeviceSession, emit: (read: FleetRead) => void) => {
      try {
        const list = await session.list(access, resource, signal);
        const records = refine ? await refine(session, list) : list;
        awaited.delete(session);
        emit({ session, awaited, total, ok: true, records });
      } catch (error) {
        if (!(error instanceof DevshError)) throw error;
        awaited.delete(session);
        emit({ session, awaited, total, ok: false, error });
      } finally {
        if (closes === true) await session.close();
      }
    };
    return fanOut(sessions, width, readOne, signal);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    const all = new Set([...this.#sessions.values(), ...this.#connected]);
    await Promise.all([...all].map((session) => session.close({ isEnd: true })));
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
