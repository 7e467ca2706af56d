import { CredentialGate } from '../fleet/credential-gate.ts';
import { normalizeFingerprint, readCa } from '../device/trust-anchors.ts';
import { BUILT_IN_PROFILES, builtIn } from '../device/built-in-profiles.ts';
import { Credential } from '../device/credential.ts';
import type { Profile } from '../device/profile.ts';
import { chooseRoute, type ConfiguredRoute, parseRoute } from '../device/route/route.ts';
import type { Trust } from '../device/tls.ts';
import { CancelledError, UsageError } from '../errors.ts';
import { readUserFile } from '../os/user-file.ts';
import { suggest } from '../text/suggest.ts';
import { formatAddress, parseAddress, shortAddress } from '../device/address.ts';
import type { Access } from '../fleet/access.ts';
import { DeviceSession } from '../fleet/device-session.ts';
import type { DeviceRecord } from '../device/record.ts';

/** The login: an account with its password, or a token (`user` is its owner; it is not sent). */
export type Login =
  | { readonly user: string; readonly password: string }
  | { readonly token: string; readonly user?: string };

export interface DeviceOptions {
  /** The name of the device in plans, results and errors; default: its address. */
  readonly name?: string;
  /** Without it requests are sent without a login. */
  readonly login?: Login;
  /**
   * The SHA-256 fingerprint of the device's certificate (hex, colons optional): any other certificate is
   * refused before a byte of HTTP is sent.
   */
  readonly fingerprint?: string;
  /**
   * CA certificates in PEM form, one of which must have signed the device's certificate. Without
   * `fingerprint`, `ca` and `insecure`, the CAs that Node trusts are used.
   */
  readonly ca?: string;
  /** No certificate is checked. A man in the middle gets the login: for a lab only. */
  readonly insecure?: true;
  /**
   * The profile of the device: `documented` (default), `drf`, `generic-rest`, `form-action`, or the path of
   * a profile file (`.yaml`).
   */
  readonly profile?: string;
  /** A proxy (`http://proxy:3128`, `socks5://…`), or `none`; default: HTTPS_PROXY and NO_PROXY. */
  readonly proxy?: string;
  /** An SSH jump host (`admin@bastion`), used by `ssh -W`. */
  readonly jump?: string;
  /** Limit for one whole response; default 10,000. */
  readonly timeoutMs?: number;
  /** Nothing is ever written to this device. */
  readonly readOnly?: boolean;
  /** Accounts for emergencies, names or patterns: `apply` takes access from none that `allow` does not name. */
  readonly breakGlass?: readonly string[];
}

/** All options; the type keeps the list complete. */
const DEVICE_OPTIONS: Readonly<Record<keyof DeviceOptions, true>> = {
  name: true,
  login: true,
  fingerprint: true,
  ca: true,
  insecure: true,
  profile: true,
  proxy: true,
  jump: true,
  timeoutMs: true,
  readOnly: true,
  breakGlass: true,
};

/** Throws UsageError if more than one is given, or one is invalid. */
function trustOf({ fingerprint, ca, insecure }: DeviceOptions): Trust {
  // Callers in JavaScript have no types: `insecure: false` must not disable the check.
  if (![undefined, true].includes(insecure))
    throw new UsageError('insecure: true, or leave it out');
  const given = [fingerprint, ca, insecure].filter((one) => one !== undefined);
  if (given.length > 1) throw new UsageError('say one of fingerprint, ca and insecure');
  if (fingerprint !== undefined) {
    const normal = normalizeFingerprint(fingerprint);
    if (normal === undefined) {
      throw new UsageError('fingerprint: a SHA-256 fingerprint is 64 hex digits, colons optional');
    }
    return { kind: 'pinned', fingerprint: normal, pinnedAt: 'by the caller' };
  }
  if (ca !== undefined) return { kind: 'ca', pem: readCa(ca, 'ca'), file: 'ca' };
  return insecure === undefined ? { kind: 'system' } : { kind: 'insecure' };
}

/** Throws CredentialError for a login that cannot be sent, UsageError for an invalid one. */
function credentialOf(login: Login): Credential {
  const secret: unknown = 'token' in login ? login.token : login.password;
  if (typeof secret !== 'string' || (!('token' in login) && typeof login.user !== 'string')) {
    throw new UsageError('login: a user and a password, or a token, all of them texts');
  }
  const credential =
    'token' in login
      ? Credential.token(login.token, login.user)
      : Credential.basic(login.user, login.password);
  credential.header();
  return credential;
}

/** Throws UsageError if both are given, or one is invalid. */
function routeOf({ proxy, jump }: DeviceOptions): ConfiguredRoute | undefined {
  if (proxy !== undefined && jump !== undefined) throw new UsageError('say either proxy or jump');
  if (proxy !== undefined) return parseRoute('proxy', proxy);
  return jump === undefined ? undefined : parseRoute('jump', jump);
}

/** Throws UsageError for an unknown name, SettingsError for an invalid file. */
async function profileOf(profile = 'documented'): Promise<Profile> {
  const known = builtIn(profile);
  if (known !== undefined) return known;
  if (!/\.ya?ml$/i.test(profile)) {
    const names = BUILT_IN_PROFILES.map(({ name }) => name).join(', ');
    throw new UsageError(`there is no profile "${profile}": ${names}, or the path of a .yaml file`);
  }
  const { parseProfile } = await import('../device/profile-file.ts');
  return parseProfile(await readUserFile(profile), profile, profile);
}

/**
 * Callers in JavaScript have no types: with `readonly` for `readOnly` a device would be writable. Throws
 * UsageError for an unknown option.
 */
export function refuseUnknownOptions<T extends object>(
  of: string,
  options: T,
  known: Readonly<Record<keyof T, true>>,
): void {
  const names = Object.keys(known);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const [suggestion] = suggest(name, names);
    const hint =
      suggestion === undefined ? `it has ${names.join(', ')}` : `did you mean ${suggestion}?`;
    throw new UsageError(`${of} has no option "${name}"; ${hint}`);
  }
}

/** Shared by all devices of the process: a wrong password is sent to two of them at most. */
export const gate = new CredentialGate();

/** The caller's settings for a device; there is no user to ask. */
function accessBy(options: DeviceOptions, base: Profile): Access {
  const trust = trustOf(options);
  const credential = options.login && credentialOf(options.login);
  return {
    timeoutMs: options.timeoutMs,
    trust: () => Promise.resolve(trust),
    route: ({ address, route }) => chooseRoute(parseAddress(address), route, process.env),
    acceptCertificate: () => Promise.resolve(undefined),
    // Observed facts live as long as the device is open; the command line caches them.
    profile: () => Promise.resolve({ base, stored: {} }),
    credential: () => Promise.resolve(credential),
    anotherCredential: () => Promise.resolve(undefined),
    admit: ({ name }, login) => gate.admit(name, login),
    settle: ({ name }, login, outcome) => gate.settle(name, login, outcome),
  };
}

/** A longer timer of Node fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** One device. Its opener closes it. */
export class OpenDevice {
  readonly #session: DeviceSession;
  readonly #access: Access;

  private constructor(session: DeviceSession, access: Access) {
    this.#session = session;
    this.#access = access;
  }

  /** @internal */
  static of(session: DeviceSession, access: Access): OpenDevice {
    return new OpenDevice(session, access);
  }

  /** The internals, for `plan` and `apply` only; not even printed. @internal */
  static behind(device: OpenDevice): { session: DeviceSession; access: Access } {
    return { session: device.#session, access: device.#access };
  }

  get name(): string {
    return this.#session.ref.name;
  }

  /** `host:port` */
  get address(): string {
    return this.#session.ref.address;
  }

  /**
   * Every current record of a resource: from all pages, or an error, never a part. Values are as the device
   * sent them: texts are untrusted and may contain secrets.
   */
  async list(
    resource = 'user',
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly DeviceRecord[]> {
    if (signal?.aborted === true) throw new CancelledError();
    const records = await this.#session.list(this.#access, resource, signal);
    return this.#session.inFull(this.#access, resource, records, signal);
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}

/**
 * Opens one device: checks the options, and connects at the first use. Open all devices before you use the
 * first: a login that two of them refuse is then sent to no third one.
 *
 * @param address `host`, `host:port` or `[v6]:port`; HTTPS always
 */
export async function openDevice(
  address: string,
  options: DeviceOptions = {},
): Promise<OpenDevice> {
  refuseUnknownOptions('openDevice', options, DEVICE_OPTIONS);
  const parsed = parseAddress(address);
  const { name = shortAddress(parsed), timeoutMs, readOnly, breakGlass = [] } = options;
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= LONGEST_MS)) {
    throw new UsageError(`timeoutMs: a number of milliseconds above 0, up to ${LONGEST_MS}`);
  }
  // Callers in JavaScript have no types: an invalid value must not make the device writable.
  if (![undefined, true, false].includes(readOnly)) {
    throw new UsageError('readOnly: true or false');
  }
  const patterns: unknown = breakGlass;
  const isPattern = (one: unknown): boolean => typeof one === 'string' && one.trim() !== '';
  if (!Array.isArray(patterns) || !patterns.every(isPattern)) {
    throw new UsageError('breakGlass: a list of names or patterns, as ["rescue", "vendor-*"]');
  }
  const route = routeOf(options);
  const access = accessBy(options, await profileOf(options.profile));
  const entry = {
    name,
    address: formatAddress(parsed),
    groups: [],
    ...(route !== undefined && { route }),
    ...(readOnly === true && { readOnly }),
    breakGlass,
  };
  gate.forgetRefusals();
  return OpenDevice.of(new DeviceSession(entry), access);
}
