import { quoteWord } from '../../text/words.ts';
import type { CommandSpec } from '../command.ts';
import { alias } from './alias.ts';
import { changes } from './changes.ts';
import { config } from './config.ts';
import { completion, doctor, help, history, info, quit, schema, version } from './help.ts';
import { apply, exportCommand, importCommand, plan } from './change-sets.ts';
import { connect, device, devices, disconnect, use } from './device.ts';
import { questions } from './questions.ts';
import { get, post, remove } from './raw.ts';
import { pending, report, resume, run, runs, undo } from './runs.ts';
import { resourceCommand } from './resource.ts';
import { anyResource, learn, profile, resources } from './profile.ts';
import { demo, simulator } from './simulator.ts';
import { trust } from './trust.ts';
import { credentials, lockout, login, logout, rotate, vault } from './accounts.ts';

/** The grammar: every first word, in the order of `help`. */
export const COMMANDS: readonly CommandSpec[] = [
  connect,
  disconnect,
  use,
  devices,
  device,
  resourceCommand('user'),
  lockout,
  rotate,
  resources,
  anyResource,
  exportCommand,
  importCommand,
  plan,
  apply,
  runs,
  resume,
  undo,
  pending,
  report,
  changes,
  get,
  post,
  remove,
  profile,
  learn,
  login,
  logout,
  credentials,
  vault,
  trust,
  questions,
  run,
  history,
  alias,
  config,
  schema,
  demo,
  simulator,
  doctor,
  info,
  version,
  completion,
  help,
  quit,
];

/** The first words of a line about a resource: `interface`, or `resource alias` if a command has that name. */
export function resourceWords(resource: string): string {
  const isCommand = COMMANDS.some(
    ({ name, aliases, defaultVerb }) =>
      (name === resource && defaultVerb !== 'list') || aliases?.includes(resource) === true,
  );
  return isCommand ? `resource ${resource}` : quoteWord(resource);
}
