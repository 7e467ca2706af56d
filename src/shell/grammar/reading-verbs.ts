import { title, type Invocation } from './bind.ts';
import type { CommandSpec, VerbSpec } from './spec.ts';

/** Commands that change nothing, neither on a device nor on this machine. */
const READING: ReadonlySet<string> = new Set([
  'devices',
  'device list',
  'resources',
  'plan',
  'runs',
  'runs merge',
  'run show',
  'report',
  'get',
  'profile show',
  'profile check',
  'profile schema',
  'credentials',
  'vault list',
  'trust list',
  'trust scan',
  'history',
  'doctor',
  'info',
  'help',
  'simulator faults',
  'simulator quirks',
]);

/** Commands that only choose what the next lines are about. */
const CHOOSING: ReadonlySet<string> = new Set(['connect', 'disconnect', 'use', 'quit']);

export function isReading(command: CommandSpec, verb: VerbSpec): boolean {
  const isRecords = command.section === 'Records' && ['list', 'show'].includes(verb.name);
  return isRecords || READING.has(title(command, verb));
}

/** Whether nothing is changed when the line is run with `--dry-run`. */
export function isDryRunnable({ command, verb, given }: Invocation): boolean {
  // Also a plan is a file that was not there, or was another one.
  if (given.output !== undefined && given.output !== '-') return false;
  return (
    verb.options.includes('yes') || isReading(command, verb) || CHOOSING.has(title(command, verb))
  );
}
