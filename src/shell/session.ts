import type { RunControl } from '../change/run-control.ts';
import { CredentialGate } from '../fleet/credential-gate.ts';
import type { LabelColor } from '../fleet/inventory-schema.ts';
import { DeclinedError, RefusedError, unlessFailed } from '../errors.ts';
import { Credential } from '../device/credential.ts';
import { type DeviceRef, grouped } from '../device/record.ts';
import type { Trust } from '../device/tls.ts';
import { join } from 'node:path';
import type { HistoryFiles } from '../history/history-files.ts';
import type { Observer } from '../history/observer.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { Given as GivenOptions } from './grammar/options.ts';
import type { Services } from './services.ts';
import type { InventoryDevice } from '../fleet/inventory.ts';
import { someOf } from '../text/one-line.ts';

/** A question to the user: `confirm` is answered by typing `expected`; a `secret` is not shown. */
export interface Question {
  readonly kind: 'confirm' | 'text' | 'secret';
  readonly text: string;
  readonly details?: readonly string[];
  readonly expected?: string;
  /** The colour of the label at the start of the text. */
  readonly color?: LabelColor | undefined;
  /** Whether it looks different from others. Enter alone then means no. */
  readonly isWarning?: boolean;
  /** Aborted when the answer is no longer needed: the question is removed. */
  readonly until?: AbortSignal;
  /** Whether it comes from work in progress. It is removed if the user has continued with something else. */
  readonly isLate?: boolean;
}

/** The origin of a line: how it can ask and read, and when it must stop. */
export interface ShellIo {
  /** Absent if the user cannot be asked. Resolves to `undefined` if the user declines. */
  readonly ask?: (question: Question) => Promise<string | undefined>;
  /** Called when a run begins with this device. */
  readonly onDevice?: (name: string) => void;
  /** Whether questions about certificates and logins wait in a list (`questions`) until the user opens it. */
  readonly asksLater?: boolean;
  /** Whether a person reads the tables on a screen, not a program. */
  readonly isOnScreen?: boolean;
  /** Whether a person types line after line, so that the columns of one line may apply to the next. */
  readonly isPrompt?: boolean;
  /** Whether it runs beside another line or by itself: then it does not try a refused login again. */
  readonly isBeside?: boolean;
  /** Whether the reader itself repeats lines with `--watch`. */
  readonly isRefreshing?: boolean;
  /** Whether this line is the last one: each connection can close after its last response. */
  readonly isLast?: boolean;
  /** Standard input as text, for `run -`. */
  readonly readInput: () => Promise<string>;
  /** Ctrl-C aborts it. The command must then finish the request in flight, and stop. */
  readonly signal: AbortSignal;
  /** Lets the user pause a run; absent without a full screen. */
  readonly control?: RunControl | undefined;
  /** Receives the progress of a long response: `fw1: 12.4 MB, 41,000 users`. */
  readonly progress?: (text: string) => void;
  /** Receives one line for each request if `-v` is given. */
  readonly trace: (line: string) => void;
}

/** Asks for `y` for one thing, else for the number. Throws a `RefusedError` for any other answer, or for none. */
export async function confirm(
  { io, options }: { readonly io: ShellIo; readonly options: { readonly yes: boolean } },
  count: number,
  textFor: (expected: string) => string,
  more: Pick<Question, 'details' | 'color'> & { readonly nothing?: string } = {},
): Promise<void> {
  if (options.yes) return;
  const { nothing = 'nothing was sent', ...shown } = more;
  if (io.ask === undefined) {
    throw new RefusedError(`not confirmed: use --yes to confirm without a question; ${nothing}`);
  }
  const expected = count === 1 ? 'y' : String(count);
  const answer = await io.ask({ kind: 'confirm', text: textFor(expected), expected, ...shown });
  if (answer !== expected) throw new DeclinedError(`you did not confirm: ${nothing}`);
}

/** Trust and credential that apply to this session alone. */
export interface Given {
  readonly trust: Trust;
  readonly credential: Credential;
}

/** The state that lasts from one line to the next. */
export class ShellSession {
  readonly services: Services;
  readonly fleet: Fleet;
  /** Whether all that this session keeps ends with it, as in the demo: devsh does not announce what it keeps. */
  keepsForItself = false;
  readonly gate = new CredentialGate();
  /** Trust and credential of this session alone, by device name. */
  readonly given = new Map<string, Given>();
  /** The user whose typed password a device refused, by device name. devsh does not ask for the user again. */
  readonly refusedUsers = new Map<string, string>();
  /** The `connect` lines as typed. The next session offers them. */
  readonly connectLines: string[] = [];
  /** Options of `devsh connect` that apply to all following lines. */
  defaults: GivenOptions = {};
  /** Set by `--read-only`: every write is refused for the rest of the session. */
  isReadOnly = false;
  #observer: Promise<Observer> | undefined;
  readonly #background: Promise<void>[] = [];
  /** Called when the session closes, for example to stop a simulator that it started. */
  readonly closing: (() => Promise<void>)[] = [];

  constructor(services: Services) {
    this.services = services;
    this.fleet = new Fleet(({ address }, news) => services.profiles.keep(address, news), {
      observe: (session, reading) => {
        if (services.historyLimits.days === 0) return;
        void this.#observed().then((observer) => observer.observe(session, reading));
      },
      known: async (session, resource) => (await this.#observed()).known(session, resource),
      proveAbsent: (session, resource, key) => {
        void this.#observed().then((observer) => observer.proveAbsent(session, resource, key));
      },
    });
  }

  /** Lets this session reach a device of its own, without the user's pins and keychain. */
  give(name: string, own: { fingerprint: string; username: string; password: string }): void {
    const pinnedAt = this.services.now().toISOString();
    this.given.set(name, {
      trust: { kind: 'pinned', fingerprint: own.fingerprint, pinnedAt },
      credential: Credential.basic(own.username, own.password),
    });
  }

  /** Adds work that no line waits for; closing the session waits for it. */
  inBackground(work: Promise<void>): void {
    this.#background.push(work);
  }

  /** The readings of each device over time, with those of this session. */
  async readings(): Promise<HistoryFiles> {
    const observer = await this.#observed();
    await observer.flush();
    return observer.files;
  }

  /** Continues the history of a device after the user has replaced its pin. */
  async replacePin(device: DeviceRef, old: string, pin: string): Promise<void> {
    await (await this.#observed()).replacePin(device, old, pin);
  }

  /** Opens the observer at the first reading. */
  #observed(): Promise<Observer> {
    return (this.#observer ??= this.#openObserver());
  }

  async #openObserver(): Promise<Observer> {
    const { services } = this;
    const { Observer } = await import('../history/observer.ts');
    const observer = new Observer(
      join(services.paths.state, 'readings'),
      () => services.historyLimits,
      (text, level) => services.notices.add(text, level),
      (byMs) => services.noteClockBehind(byMs, 'the last reading'),
    );
    observer.isAnnounced = this.keepsForItself;
    const inventory = await unlessFailed(services.inventory.load());
    await unlessFailed(observer.files.follow(inventory?.devices ?? []));
    return observer;
  }

  async close(): Promise<void> {
    // Ends the requests of the background work.
    await this.fleet.close();
    await Promise.allSettled(this.#background);
    await Promise.all(this.closing.map((close) => close()));
    await (await this.#observer)?.flush();
  }
}

const MOST_NAMED = 3;

/** `devsh PROD · all 12 · 2 absent> `, or `usual` while nothing is connected. */
export function promptText(fleet: Fleet, usual?: string): string {
  const scope = fleet.connected.length === 0 ? usual : scopeText(fleet);
  return scope === undefined ? 'devsh> ' : `devsh ${scope}> `;
}

/** `PROD · all 12 · 2 not connected`: the selected devices, and how many of them failed to connect. */
export function scopeText({ selection, connected, isNarrowed }: Fleet): string {
  const names = selection.map(({ ref }) => ref.name);
  const count = names.length;
  const which =
    !isNarrowed && count > 1
      ? `all ${count}`
      : count > 0 && count <= MOST_NAMED
        ? names.join(',')
        : `${count === 0 ? 'none' : count} of ${connected.length}`;
  const absent = selection.filter(({ failure }) => failure !== undefined).length;
  const gone = absent === 0 ? [] : [count === 1 ? 'not connected' : `${absent} not connected`];
  return [...labelsOf(selection.map(({ entry }) => entry)).texts, which, ...gone].join(' · ');
}

export interface Labels {
  /** `PROD`, or `3 PROD, 9 LAB` if the devices have different labels; empty without labels. */
  readonly texts: readonly string[];
  /** Undefined if the labels have different colours. */
  readonly color: LabelColor | undefined;
}

export function labelsOf(devices: readonly Pick<InventoryDevice, 'label' | 'color'>[]): Labels {
  const groups = grouped(devices, ({ label }) => label);
  if (groups.size === 0) return { texts: [], color: undefined };
  const [color, ...others] = new Set([...groups.values()].flat().map((one) => one.color));
  const said = [...groups].map(([label, { length }]) =>
    length === devices.length ? label : `${length} ${label}`,
  );
  return { texts: [someOf(said, 2)], color: others.length === 0 ? color : undefined };
}
