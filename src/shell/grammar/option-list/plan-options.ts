import { parseShard } from '../../../change/shard.ts';
import { REPORT_KINDS, type OptionSpec } from '../options.ts';
import { filledOf, integerOf, reportKindOf, timeMsOf } from '../option-values.ts';

/** Plans, their parts and their runs. */
export const PLAN_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'output',
    short: 'o',
    value: 'FILE',
    summary:
      'Write it to this file: a plan, to be applied later as it is, a report, exported records',
    group: 'output',
    set: (options, text) => ({ ...options, output: filledOf(text) }),
  },
  {
    name: 'expires',
    value: 'HOURS',
    summary: 'How long the plan file may be applied (default 24)',
    group: 'plan',
    set: (options, text) => ({ ...options, expiresMs: timeMsOf(text, 'h', 0.001, 8760) }),
  },
  {
    name: 'resource',
    value: 'NAME',
    summary: 'What the lines of a CSV file are (default user)',
    group: 'change-set',
    set: (options, text) => ({ ...options, resource: filledOf(text) }),
  },
  {
    name: 'replan',
    summary: 'Plan anew from what the devices hold now',
    group: 'apply',
    set: (options) => ({ ...options, replan: true }),
  },
  {
    name: 'shard',
    value: 'I/N',
    summary: 'Only part I of N of the devices of a plan file: 2/4 is the second of four',
    group: 'apply',
    set: (options, text) => ({ ...options, shard: parseShard(text) }),
  },
  {
    name: 'shard-index',
    value: 'I',
    summary: 'The same, counted from 0 (default: JOB_COMPLETION_INDEX, as Kubernetes sets it)',
    group: 'apply',
    set: (options, text) => ({ ...options, shardIndex: integerOf(text, 0, 9_999) }),
  },
  {
    name: 'shard-total',
    value: 'N',
    summary: 'How many parts there are, for --shard-index',
    group: 'apply',
    set: (options, text) => ({ ...options, shardTotal: integerOf(text, 1, 10_000) }),
  },
  {
    name: 'result',
    value: 'FILE',
    summary: 'Keep the result of a plan file here; the same line goes on where it ended',
    group: 'apply',
    set: (options, text) => ({ ...options, result: filledOf(text) }),
  },
  {
    name: 'plan',
    value: 'FILE',
    summary: 'The plan file whose parts these are',
    group: 'merge',
    set: (options, text) => ({ ...options, plan: filledOf(text) }),
  },
  {
    name: 'rest',
    summary: 'Also the steps that were never reached',
    group: 'retry',
    set: (options) => ({ ...options, rest: true }),
  },
  {
    name: 'as',
    value: 'KIND',
    summary: `The report as ${REPORT_KINDS.join(', ')}`,
    group: 'report',
    choices: REPORT_KINDS,
    set: (options, text) => ({ ...options, as: reportKindOf(text) }),
  },
  {
    name: 'keep-going',
    summary: 'Run the lines after one that failed, too',
    group: 'script',
    set: (options) => ({ ...options, keepGoing: true }),
  },
];
