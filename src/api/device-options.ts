import { normalizeFingerprint, readCa } from '../device/trust-anchors.ts';
import { BUILT_IN_PROFILES, builtIn } from '../device/built-in-profiles.ts';
import { Credential } from '../device/credential.ts';
import type { Profile } from '../device/profile.ts';
import { type ConfiguredRoute, parseRoute } from '../device/route/choose-route.ts';
import type { Trust } from '../device/tls.ts';
import { UsageError } from '../errors.ts';
import { readUserFile } from '../os/user-file.ts';
import { suggest } from '../text/suggest.ts';

/** Who asks: an account with its password, or a token (`user` says whose it is; it is not sent). */
export type Login =
  | { readonly user: string; readonly password: string }
  | { readonly token: string; readonly user?: string };

/** How `openDevice` is told of a device. */
export interface DeviceOptions {
  /** What the device is called in plans, results and errors; its address unless given. */
  readonly name?: string;
  /** Requests are sent without any login when it is absent. */
  readonly login?: Login;
  /**
   * The SHA-256 fingerprint of the device's certificate (hex, colons optional): any other certificate is
   * refused before a byte of HTTP is sent.
   */
  readonly fingerprint?: string;
  /**
   * CA certificates in PEM form that the device's certificate must be signed by. Without `fingerprint`,
   * `ca` and `insecure`, the CAs that Node trusts count.
   */
  readonly ca?: string;
  /** No certificate is checked. Whoever is in between gets the login: for a lab only. */
  readonly insecure?: true;
  /**
   * How the device speaks: `documented` (unless given), `drf`, `generic-rest`, `form-action`, or the path
   * of a profile file (`.yaml`).
   */
  readonly profile?: string;
  /** A proxy (`http://proxy:3128`, `socks5://…`), or `none`; unless given, HTTPS_PROXY and NO_PROXY count. */
  readonly proxy?: string;
  /** An SSH jump host (`admin@bastion`), reached by `ssh -W`. */
  readonly jump?: string;
  /** For one whole answer; 10,000 unless given. */
  readonly timeoutMs?: number;
  /** Nothing is ever written to this device. */
  readonly readOnly?: boolean;
}

/** Every option that there is; the type keeps it whole. */
export const DEVICE_OPTIONS: Readonly<Record<keyof DeviceOptions, true>> = {
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
};

/** Throws UsageError when more than one is said, or what is said cannot be understood. */
export function trustOf({ fingerprint, ca, insecure }: DeviceOptions): Trust {
  // Not every caller has types: `insecure: false` must not be an unchecked certificate.
  if (![undefined, true].includes(insecure))
    throw new UsageError('insecure: true, or leave it out');
  const said = [fingerprint, ca, insecure].filter((one) => one !== undefined);
  if (said.length > 1) throw new UsageError('say one of fingerprint, ca and insecure');
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

/** Throws CredentialError for what cannot be sent, UsageError for what is none: not every caller has types. */
export function credentialOf(login: Login): Credential {
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

/** Throws UsageError for both, and for what cannot be understood. */
export function routeOf({ proxy, jump }: DeviceOptions): ConfiguredRoute | undefined {
  if (proxy !== undefined && jump !== undefined) throw new UsageError('say either proxy or jump');
  if (proxy !== undefined) return parseRoute('proxy', proxy);
  return jump === undefined ? undefined : parseRoute('jump', jump);
}

/** Throws UsageError for a name that is not known, SettingsError for a file with a mistake in it. */
export async function profileOf(profile = 'documented'): Promise<Profile> {
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
 * Not every caller has types: `readonly` for `readOnly` must not be a device that is written to. Throws
 * a UsageError for an option that there is not; `known` names all of them.
 */
export function refuseUnknownOptions<T extends object>(
  of: string,
  options: T,
  known: Readonly<Record<keyof T, true>>,
): void {
  const names = Object.keys(known);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const [meant] = suggest(name, names);
    const hint = meant === undefined ? `it has ${names.join(', ')}` : `did you mean ${meant}?`;
    throw new UsageError(`${of} has no option "${name}"; ${hint}`);
  }
}
