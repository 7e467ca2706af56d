import { THEME_NAMES } from '../../../theme-names.ts';
import { COLOR_CHOICES, FORMATS, type OptionSpec } from '../options.ts';
import { colorOf, formatOf, themeOf } from '../option-values.ts';

/** What every command takes. */
export const GENERAL_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'help',
    short: 'h',
    summary: 'Explain the command',
    group: 'general',
    set: (options) => ({ ...options, help: true }),
  },
  {
    name: 'version',
    short: 'V',
    summary: 'Print the version',
    group: 'general',
    set: (options) => ({ ...options, version: true }),
  },
  {
    name: 'format',
    value: 'FORMAT',
    summary: `Print data as ${FORMATS.join(', ')}`,
    group: 'general',
    choices: FORMATS,
    set: (options, text) => ({ ...options, format: formatOf(text) }),
  },
  {
    name: 'json',
    summary: 'The same as --format json',
    group: 'general',
    set: (options) => ({ ...options, format: 'json' }),
  },
  {
    name: 'quiet',
    short: 'q',
    summary: 'No remarks, only data and errors',
    group: 'general',
    set: (options) => ({ ...options, quiet: true }),
  },
  {
    name: 'verbose',
    short: 'v',
    summary: 'Show each request on stderr, secrets masked',
    group: 'general',
    set: (options) => ({ ...options, verbose: true }),
  },
  {
    name: 'color',
    value: 'WHEN',
    summary: `Colours: ${COLOR_CHOICES.join(', ')} (default: auto, on a terminal)`,
    group: 'general',
    choices: COLOR_CHOICES,
    set: (options, text) => ({ ...options, color: colorOf(text) }),
  },
  {
    name: 'no-color',
    summary: 'No colours, as with NO_COLOR in the environment',
    group: 'general',
    set: (options) => ({ ...options, color: 'never' }),
  },
  {
    name: 'no-pager',
    summary: 'Do not show what is longer than the screen in $PAGER',
    group: 'general',
    set: (options) => ({ ...options, noPager: true }),
  },
  {
    name: 'plain',
    summary: 'A line-by-line prompt instead of the full screen',
    group: 'general',
    set: (options) => ({ ...options, plain: true }),
  },
  {
    name: 'theme',
    value: 'THEME',
    summary: `Looks of the full screen: ${THEME_NAMES.join(', ')}`,
    group: 'general',
    choices: THEME_NAMES,
    set: (options, text) => ({ ...options, theme: themeOf(text) }),
  },
];
