import type { OptionSpec } from '../options.ts';
import { filledOf } from '../option-values.ts';

/** Records in files. */
export const FILE_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'overwrite',
    summary: 'Replace files that exist already',
    group: 'export',
    set: (options) => ({ ...options, overwrite: true }),
  },
  {
    name: 'per-device',
    summary: 'One file for each device, called as the device',
    group: 'export',
    set: (options) => ({ ...options, perDevice: true }),
  },
  {
    name: 'output-dir',
    value: 'DIR',
    summary: 'The folder for --per-device',
    group: 'export',
    set: (options, text) => ({ ...options, outputDir: filledOf(text) }),
  },
  {
    name: 'prune',
    summary: 'Also delete what the file does not have, on the devices that it is about',
    group: 'import',
    set: (options) => ({ ...options, prune: true }),
  },
  {
    name: 'key',
    value: 'FIELD',
    summary: 'The field that tells which record a row is about (default: the natural key)',
    group: 'import',
    set: (options, text) => ({ ...options, key: filledOf(text) }),
  },
  {
    name: 'map',
    value: 'COLUMN=FIELD',
    summary:
      'What a column of the file is called on the devices; COLUMN= leaves it out (repeatable)',
    group: 'import',
    set: (options, text) => ({ ...options, map: [...options.map, filledOf(text)] }),
  },
];
