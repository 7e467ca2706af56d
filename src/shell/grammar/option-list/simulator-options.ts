import type { OptionSpec } from '../options.ts';
import { integerOf } from '../option-values.ts';

const ENVELOPES = 'array results data rows records user keyed key-value form-text'.split(' ');
const PAGINGS = ['none', 'next', 'page', 'offset'];

/** Simulated devices. */
export const SIMULATOR_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'devices',
    value: 'N',
    summary: 'How many devices to simulate (default 3)',
    group: 'simulator',
    set: (options, text) => ({ ...options, devices: integerOf(text, 1, 10_000) }),
  },
  {
    name: 'users',
    value: 'N',
    summary: 'How many users each device has (default 25)',
    group: 'simulator',
    set: (options, text) => ({ ...options, users: integerOf(text, 0, 1_000_000) }),
  },
  {
    name: 'latency',
    value: 'MS',
    summary: 'How long each answer takes, in milliseconds (default 0)',
    group: 'simulator',
    set: (options, text) => ({ ...options, latencyMs: integerOf(text, 0, 600_000) }),
  },
  {
    name: 'seed',
    value: 'N',
    summary: 'Another set of users; the same seed gives the same ones (default 1)',
    group: 'simulator',
    set: (options, text) => ({ ...options, seed: integerOf(text, 0, 2 ** 31) }),
  },
  {
    name: 'port',
    value: 'PORT',
    summary: 'The port to listen on (default 8443)',
    group: 'simulator',
    set: (options, text) => ({ ...options, port: integerOf(text, 0, 65_535) }),
  },
  {
    name: 'envelope',
    value: 'NAME',
    summary: `What lists are wrapped in: ${ENVELOPES.join(', ')}`,
    group: 'simulator',
    choices: ENVELOPES,
    set: (options, text) => ({ ...options, envelope: text }),
  },
  {
    name: 'paging',
    value: 'NAME',
    summary: `How lists are paged: ${PAGINGS.join(', ')}`,
    group: 'simulator',
    choices: PAGINGS,
    set: (options, text) => ({ ...options, paging: text }),
  },
  {
    name: 'quirk',
    value: 'NAME',
    summary: 'A habit of real devices (repeatable; "simulator quirks" lists them)',
    group: 'simulator',
    set: (options, text) => ({ ...options, quirks: [...options.quirks, text] }),
  },
  {
    name: 'fault',
    value: 'DEVICE:NAME',
    summary: 'Let a device misbehave (repeatable; "simulator faults" lists them)',
    group: 'simulator',
    set: (options, text) => ({ ...options, faults: [...options.faults, text] }),
  },
];
