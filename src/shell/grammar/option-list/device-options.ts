import { parseRoute } from '../../../device/route/choose-route.ts';
import type { OptionSpec } from '../options.ts';
import { filledOf, integerOf, withRoute, storeOf, timeMsOf } from '../option-values.ts';

/** The built-in ones by name: reading them would load what one-shot commands do without. */
const PROFILES = ['documented', 'drf', 'generic-rest', 'form-action'];

/** Which devices are meant, and how they are reached and logged in to. */
export const DEVICE_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'on',
    value: 'SELECTOR',
    summary:
      'The devices: names, addresses, 10.0.0.[5-9], 10.0.0.0/29, @group, !but-not (repeatable)',
    group: 'devices',
    set: (options, text) => ({ ...options, on: [...options.on, text] }),
  },
  {
    name: 'user',
    value: 'NAME',
    summary: 'The account to log in as',
    group: 'devices',
    set: (options, text) => ({ ...options, user: filledOf(text) }),
  },
  {
    name: 'ca',
    value: 'FILE',
    summary: 'Trust certificates signed by the CA in this PEM file',
    group: 'devices',
    set: (options, text) => ({ ...options, ca: filledOf(text) }),
  },
  {
    name: 'insecure',
    summary: 'Do not check certificates (for this call)',
    group: 'devices',
    set: (options) => ({ ...options, insecure: true }),
  },
  {
    name: 'proxy',
    value: 'URL',
    summary: 'Reach the devices by this proxy (http, https, socks5, socks5h), or by "none"',
    group: 'devices',
    set: (options, text) => withRoute(options, parseRoute('proxy', text)),
  },
  {
    name: 'jump',
    value: 'HOST',
    summary: 'Reach the devices by this SSH jump host (ssh -W), or by "none"',
    group: 'devices',
    set: (options, text) => withRoute(options, parseRoute('jump', text)),
  },
  {
    name: 'timeout',
    value: 'SECONDS',
    summary: 'How long to wait for a whole answer (default 10)',
    group: 'devices',
    set: (options, text) => ({ ...options, timeoutMs: timeMsOf(text, 's', 0.001, 3600) }),
  },
  {
    name: 'concurrency',
    value: 'N',
    summary:
      'How many devices at a time (default: as many as the machine bears for reads, 1 for writes)',
    group: 'devices',
    set: (options, text) => ({ ...options, concurrency: integerOf(text, 1, 1024) }),
  },
  {
    name: 'profile',
    value: 'NAME',
    summary: `How the device speaks: ${PROFILES.join(', ')}, or a file of yours`,
    group: 'profile',
    choices: PROFILES,
    set: (options, text) => ({ ...options, profile: filledOf(text) }),
  },
  {
    name: 'token-stdin',
    summary: 'Read a token from standard input',
    group: 'devices',
    set: (options) => ({ ...options, tokenStdin: true }),
  },
  {
    name: 'password-stdin',
    summary: 'Read the password from standard input',
    group: 'devices',
    set: (options) => ({ ...options, passwordStdin: true }),
  },
  {
    name: 'passphrase-stdin',
    summary: 'Read the passphrase of the vault from standard input',
    group: 'devices',
    set: (options) => ({ ...options, passphraseStdin: true }),
  },
  {
    name: 'read-only',
    summary: 'Refuse every write',
    group: 'devices',
    set: (options) => ({ ...options, readOnly: true }),
  },
  {
    name: 'fingerprint',
    value: 'HEX',
    summary: 'The expected SHA-256 fingerprint, colons optional',
    group: 'trust',
    set: (options, text) => ({ ...options, fingerprint: text }),
  },
  {
    name: 'fingerprints',
    value: 'FILE',
    summary: 'A file with the fingerprints of many devices, as "trust scan" writes it',
    group: 'trust-list',
    set: (options, text) => ({ ...options, fingerprints: filledOf(text) }),
  },
  {
    name: 'check',
    summary: 'Only try the login of each device; nothing is asked or kept',
    group: 'login',
    set: (options) => ({ ...options, check: true }),
  },
  {
    name: 'token',
    summary: 'Ask for a token instead of a password',
    group: 'login',
    set: (options) => ({ ...options, token: true }),
  },
  {
    name: 'to',
    value: 'STORE',
    summary: 'Keep the login in the keychain or the vault',
    group: 'login',
    choices: ['keychain', 'vault'],
    set: (options, text) => ({ ...options, to: storeOf(text) }),
  },
];
