import { ALLOW_WORDS, allowedBy } from '../../../change/allow.ts';
import type { OptionSpec } from '../options.ts';
import { failuresOf, integerOf, namesOf, onlyOf, timeMsOf } from '../option-values.ts';

/** What is written, and how it is rolled out. */
export const WRITE_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'yes',
    short: 'y',
    summary: 'Do not ask before writing',
    group: 'write',
    set: (options) => ({ ...options, yes: true }),
  },
  {
    name: 'dry-run',
    summary: 'Show what would be sent, and send nothing',
    group: 'write',
    set: (options) => ({ ...options, dryRun: true }),
  },
  {
    name: 'as-curl',
    summary: 'Print the curl calls instead, secrets as variables, and send none of them',
    group: 'curl',
    set: (options) => ({ ...options, asCurl: true }),
  },
  {
    name: 'allow',
    value: 'WORD',
    summary: 'Do what is refused else; "help allow" lists the words (repeatable)',
    group: 'write',
    choices: ALLOW_WORDS,
    set: (options, text) => ({
      ...options,
      allow: new Set([...options.allow, ...allowedBy(namesOf(text))]),
    }),
  },
  {
    name: 'where',
    value: 'FILTER',
    summary: 'All records that match, instead of one KEY',
    group: 'where',
    set: (options, text) => ({ ...options, where: text }),
  },
  {
    name: 'only',
    value: 'DEVICES=KEY',
    summary: 'This KEY on these devices alone (repeatable)',
    group: 'only',
    set: (options, text) => ({ ...options, only: [...options.only, onlyOf(text)] }),
  },
  {
    name: 'canary',
    value: 'N',
    summary: 'Write to N devices first, check the login, then ask whether to go on',
    group: 'roll-out',
    set: (options, text) => ({ ...options, canary: integerOf(text, 1, 100_000) }),
  },
  {
    name: 'batch',
    value: 'N',
    summary: 'Then go on in portions of N devices',
    group: 'roll-out',
    set: (options, text) => ({ ...options, batch: integerOf(text, 1, 100_000) }),
  },
  {
    name: 'pause',
    value: 'SECONDS',
    summary: 'Wait between two portions',
    group: 'roll-out',
    set: (options, text) => ({ ...options, pauseMs: timeMsOf(text, 's', 0, 86_400) }),
  },
  {
    name: 'max-failures',
    value: 'N|P%',
    summary: 'Stop when more devices than this have failed',
    group: 'roll-out',
    set: (options, text) => ({ ...options, maxFailures: failuresOf(text) }),
  },
  {
    name: 'confirm',
    value: 'SECONDS',
    summary: 'Take it back by itself unless you confirm in time (only while devsh runs)',
    group: 'confirm',
    set: (options, text) => ({ ...options, confirmMs: timeMsOf(text, 's', 1, 86_400) }),
  },
];
