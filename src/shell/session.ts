import { CredentialGate } from '../fleet/credential-gate.ts';
import type { LabelColor } from '../fleet/inventory-schema.ts';
import { CancelledError, DeclinedError, RefusedError } from '../errors.ts';
import { Credential } from '../device/credential.ts';
import type { Trust } from '../device/tls.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { Given as GivenOptions } from './grammar/options.ts';
import type { Services } from './services.ts';
import type { InventoryDevice } from '../fleet/inventory.ts';
import { someOf } from '../text/one-line.ts';

/**
 * A question to the user. `confirm` is answered by typing `expected` (a `y`, a count); `secret` is
 * typed without being shown.
 */
export interface Question {
  readonly kind: 'confirm' | 'text' | 'secret';
  readonly text: string;
  /** Lines to show above it. */
  readonly details?: readonly string[];
  readonly expected?: string;
  /** The colour of the label that the text begins with. */
  readonly color?: LabelColor | undefined;
  /** Aborted when the answer is no longer of use: the question is taken away. */
  readonly until?: AbortSignal;
  /** It follows from work, and is taken back where the user has gone on with something else. */
  readonly isLate?: boolean;
}

/** Where a line comes from: what it may ask, read, and when it is to stop. */
export interface ShellIo {
  /** Absent when there is nobody to ask. Resolves to `undefined` when the user declines. */
  readonly ask?: (question: Question) => Promise<string | undefined>;
  /** Certificates and logins wait in a list (`questions`) until the user opens it. */
  readonly asksLater?: boolean;
  /** Lets the user change a text in an editor; absent without a terminal. Resolves to what was saved. */
  readonly edit?: (draft: { readonly text: string; readonly name: string }) => Promise<string>;
  /** Somebody reads the tables on a screen, not a program. */
  readonly isOnScreen?: boolean;
  /** Somebody types one line after the other: what one says of columns may hold for the next. */
  readonly isPrompt?: boolean;
  /** Another line goes on meanwhile: a login that it found refused stays refused. */
  readonly isBeside?: boolean;
  /** With `--watch` the reader reads again by itself. */
  readonly isRefreshing?: boolean;
  /** No other line follows: a connection is of no more use when what it was opened for is read. */
  readonly isLast?: boolean;
  /** Standard input as text, for `run -`. */
  readonly readInput: () => Promise<string>;
  /** Aborted by Ctrl-C: finish what is in flight, then stop. */
  readonly signal: AbortSignal;
  /** Receives what has come of an answer that takes long: `fw1: 12.4 MB, 41,000 users`. */
  readonly progress?: (text: string) => void;
  /** Receives one line for each request when `-v` is given. */
  readonly trace: (line: string) => void;
}

/**
 * Asks in proportion: `y` is typed for one thing, and how many they are for more. Throws a `RefusedError`
 * for anything else, and where there is nobody to ask.
 */
export async function confirm(
  { io, options }: { readonly io: ShellIo; readonly options: { readonly yes: boolean } },
  count: number,
  textFor: (expected: string) => string,
  more: Pick<Question, 'details' | 'color'> & { readonly nothing?: string } = {},
): Promise<void> {
  if (options.yes) return;
  const { nothing = 'nothing was sent', ...shown } = more;
  if (io.ask === undefined) {
    throw new RefusedError(`not confirmed: say --yes to do it without a question; ${nothing}`);
  }
  const expected = count === 1 ? 'y' : String(count);
  const answer = await io.ask({ kind: 'confirm', text: textFor(expected), expected, ...shown });
  if (answer !== expected) throw new DeclinedError(`not confirmed: ${nothing}`);
}

/** What is waited for, or CancelledError when `signal` ends it: a pipe or a terminal may never give anything. */
export async function unlessCancelled<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const cancelled = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => {
      reject(new CancelledError());
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([waiting, cancelled]);
  } finally {
    over.abort();
  }
}

/** A pin and a credential that belong to this session alone. */
export interface Given {
  readonly trust: Trust;
  readonly credential: Credential;
}

/** What lasts from one line to the next. */
export class ShellSession {
  readonly services: Services;
  readonly fleet: Fleet;
  readonly gate = new CredentialGate();
  /** By device name: trust and credential of this session alone. */
  readonly given = new Map<string, Given>();
  /** By device name: who typed a password that the device refused, and is not asked who he is again. */
  readonly refusedUsers = new Map<string, string>();
  /** As they were typed; the next session offers them. */
  readonly connectLines: string[] = [];
  /** Options of `devsh connect` that hold for all lines that follow. */
  defaults: GivenOptions = {};
  /** Set by `--read-only`: every write is refused until the session ends. */
  isReadOnly = false;
  readonly #background: Promise<void>[] = [];
  /** To be closed with the session: a simulator that was started in it. */
  readonly closing: (() => Promise<void>)[] = [];

  constructor(services: Services) {
    this.services = services;
    this.fleet = new Fleet(({ address }, news) => services.profiles.keep(address, news));
  }

  /** Lets this session reach a device of its own without the user's pins and keychain. */
  give(name: string, own: { fingerprint: string; username: string; password: string }): void {
    const pinnedAt = this.services.now().toISOString();
    this.given.set(name, {
      trust: { kind: 'pinned', fingerprint: own.fingerprint, pinnedAt },
      credential: Credential.basic(own.username, own.password),
    });
  }

  /** Work that no line waits for; the session waits for it before it closes. */
  inBackground(work: Promise<void>): void {
    this.#background.push(work);
  }

  async close(): Promise<void> {
    // Closing ends the requests that background work waits for.
    await this.fleet.close();
    await Promise.allSettled(this.#background);
    await Promise.all(this.closing.map((close) => close()));
  }
}

/** Longer lists of names say how many they are. */
const MOST_NAMED = 3;

/**
 * `devsh sim2> `, `devsh PROD · all 12 · 2 absent> `: what the next command without `--on` is about.
 *
 * @param usual the selector that stands for it while nothing is connected
 */
export function promptText(fleet: Fleet, usual?: string): string {
  const scope = fleet.connected.length === 0 ? usual : scopeText(fleet);
  return scope === undefined ? 'devsh> ' : `devsh ${scope}> `;
}

/** `PROD · all 12 · 2 absent`: which of the connected devices, and how many of them do not answer. */
export function scopeText({ selection, connected, isNarrowed }: Fleet): string {
  const names = selection.map(({ ref }) => ref.name);
  const count = names.length;
  const which =
    !isNarrowed && count > 1
      ? `all ${count}`
      : count > 0 && count <= MOST_NAMED
        ? names.join(',')
        : `${count === 0 ? 'none' : count} of ${connected.length}`;
  const absent = selection.filter(({ state }) => state.kind === 'failed').length;
  const gone = absent === 0 ? [] : [count === 1 ? 'absent' : `${absent} absent`];
  return [...labelsOf(selection.map(({ entry }) => entry)).texts, which, ...gone].join(' · ');
}

export interface Labels {
  /** `PROD`, or `3 PROD, 9 LAB` where not all devices have the same one; empty without any. */
  readonly texts: readonly string[];
  /** Undefined where the labels do not agree. */
  readonly color: LabelColor | undefined;
}

/** What the inventory calls these devices. */
export function labelsOf(devices: readonly Pick<InventoryDevice, 'label' | 'color'>[]): Labels {
  const counts = new Map<string, number>();
  for (const { label } of devices) {
    if (label !== undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  if (counts.size === 0) return { texts: [], color: undefined };
  const labelled = devices.filter(({ label }) => label !== undefined);
  const colors = new Set(labelled.map(({ color }) => color));
  const said = [...counts].map(([label, count]) =>
    count === devices.length ? label : `${count} ${label}`,
  );
  return { texts: [someOf(said, 2)], color: colors.size === 1 ? labelled[0]?.color : undefined };
}
