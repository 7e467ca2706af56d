import { WATCH_MS } from '../../watching/watch.ts';
import type { OptionSpec } from '../options.ts';
import { namesOf, timeMsOf } from '../option-values.ts';

/** What of the records and answers is shown, and how often. */
export const TABLE_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'columns',
    value: 'FIELDS',
    summary:
      'Show these fields only, in this order; at a prompt kept for the next list, "auto" shows all',
    group: 'table',
    set: (options, text) => ({ ...options, columns: namesOf(text) }),
  },
  {
    name: 'sort',
    value: 'FIELDS',
    summary: 'Sort by these fields; -field sorts downwards',
    group: 'table',
    set: (options, text) => ({ ...options, sort: namesOf(text) }),
  },
  {
    name: 'filter',
    value: 'FILTER',
    summary: 'Only records that match: words, field=value, field!=value, field~regex',
    group: 'table',
    set: (options, text) => ({ ...options, filter: text }),
  },
  {
    name: 'fold',
    summary: 'Show records that are equal on several devices as one row',
    group: 'table',
    set: (options) => ({ ...options, fold: true }),
  },
  {
    name: 'drift',
    summary:
      'Compare the records of the devices: same, differs, missing; ends with 8 when they differ',
    group: 'table',
    set: (options) => ({ ...options, drift: true }),
  },
  {
    name: 'watch',
    value: 'SECONDS',
    isValueOptional: true,
    summary: 'Read again every so many seconds (default 5), and show what changed, until Ctrl-C',
    group: 'watch',
    set: (options, text) => ({
      ...options,
      watchMs: text === '' ? WATCH_MS : timeMsOf(text, 's', 0.2, 86_400),
    }),
  },
  {
    name: 'interval',
    value: 'SECONDS',
    summary: 'How long to wait between two rounds (default 5)',
    group: 'interval',
    set: (options, text) => ({ ...options, intervalMs: timeMsOf(text, 's', 0.2, 86_400) }),
  },
  {
    name: 'raw',
    summary: 'Print the body as it came',
    group: 'raw',
    set: (options) => ({ ...options, raw: true }),
  },
  {
    name: 'first-page',
    summary: 'Only the first page of a list that has several, as it came',
    group: 'pages',
    set: (options) => ({ ...options, firstPage: true }),
  },
];
