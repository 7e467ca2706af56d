import type { DeviceRecord } from '../device/record.ts';
import type { Scheme } from './authentication.ts';
import type { FaultScope } from './fault-switches.ts';
import type { FaultName } from './faults.ts';
import type { User } from './store.ts';

/** Who can log in to a simulated device, and how. */
export interface SimulatedAccount {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

/** One request that a device got. */
export interface LoggedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** The status that went out; 0 while, or when, there was no answer. */
  readonly status: number;
  readonly body: string;
  readonly authorization: Scheme;
  /** When it had been read: milliseconds since 1970. */
  readonly at: number;
}

/** One device on loopback. Belongs to its simulator, which closes it. */
export interface SimulatedDevice {
  /** `sim1`, `sim2` ... */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `host:port`. */
  readonly address: string;
  readonly url: string;
  /** SHA-256 of the certificate presented now: upper-case hex with colons. */
  readonly fingerprint: string;
  /** The certificate presented now, PEM; what `--ca` takes. */
  readonly certificate: string;
  readonly accounts: { readonly admin: SimulatedAccount; readonly viewer: SimulatedAccount };
  /** What the device holds now, in the order of creation. */
  readonly users: readonly User[];
  /** What its list of a resource shows now, on all pages; empty where there is no such resource. */
  records(resource: string): readonly DeviceRecord[];
  readonly log: readonly LoggedRequest[];
  /** How many connections it has taken, whatever became of them. */
  readonly connections: number;
  /**
   * Switches a fault: true until switched off (500-once: for one request), false off, or for that
   * many requests. Faults of the connection see no requests, so they know only true and false.
   * @throws RangeError when a count or a method is given for one of these.
   */
  setFault(name: FaultName, on?: boolean | number, scope?: FaultScope): void;
  clearFaults(): void;
  /** Behind everybody's back: changes the user of that name, or creates it. */
  putUser(fields: Partial<Omit<User, 'uuid'>> & Pick<User, 'username'>): User;
  /** Behind everybody's back; false when there is no such user. */
  removeUser(username: string): boolean;
}
