import { CancelledError, DevshError, RefusedError } from '../errors.ts';
import { type ProgramEnd, runProgram } from '../os/program.ts';
import { visible, visibleLines } from '../text/visible.ts';
import { quoteLine } from '../text/words.ts';
import type { Call } from './command.ts';
import { info, type Output, success } from './output.ts';
import { confirm } from './session.ts';

const SECONDS = 60;
const MAX_BYTES = 256 * 1024;

class ProgramError extends DevshError {
  readonly code = 'program';
}

interface Program {
  readonly label: string;
  /** `NAME=VALUE` */
  readonly variables: readonly string[];
  readonly argv: readonly string[];
  readonly seconds: number | undefined;
  /** The values that the alias got, among them the devices that the program is about. */
  readonly values: readonly string[];
}

/** Runs a program without a shell and without a terminal. Its output is untrusted text. */
export async function* runAliasProgram(
  call: Call<'yes'>,
  { label, variables, argv, seconds = SECONDS, values }: Program,
): AsyncGenerator<Output> {
  await refuseReadOnly(call, values);
  const details = [visible(quoteLine([...variables, ...argv]))];
  const nothing = 'nothing was run';
  const question = `${label}: run this program? Type y to run it:`;
  await confirm(call, 1, () => question, { details, nothing });
  // While the question was open, a device may have become read-only.
  await refuseReadOnly(call, values);
  yield { kind: 'progress', done: 0, total: 0, text: label };
  const { signal, isOnScreen } = call.io;
  const limits = { limitMs: seconds * 1000, maxBytes: MAX_BYTES, signal };
  const given: NodeJS.ProcessEnv = {};
  for (const word of variables) given[word.replace(/=.*/s, '')] = word.replace(/^[^=]*=/, '');
  const input = variables.length === 0 ? '' : `${JSON.stringify(given)}\n`;
  const end = await runProgram({ argv, env: call.shell.services.env, given, input, ...limits });
  const printed = end.kind === 'not started' ? [] : [end.stdout, end.stderr];
  const [out = '', err = ''] = printed.map((text) => visibleLines(text).trimEnd());
  const text = isOnScreen === true ? `${out}\n${err}`.trim() : out;
  if (text !== '') yield { kind: 'text', name: 'output', text };
  if (err !== '' && isOnScreen !== true) yield info(err);
  const problem = problemOf(end, seconds);
  if (problem !== undefined) throw new ProgramError(`${label}: ${problem}`);
  if (text === '') yield success(`${label}: done`);
}

/** A program may change each device among its values, or each selected device if there is none. */
async function refuseReadOnly(call: Call<'yes'>, values: readonly string[]): Promise<void> {
  const { fleet, services } = call.shell;
  const named = new Set(values.flatMap((value) => value.split(',')));
  const connected = fleet.connected.map(({ entry }) => entry);
  const known = [...connected, ...(await services.inventory.load()).devices];
  const told = known.filter(({ name, address }) => named.has(name) || named.has(address));
  const concerned = told.length > 0 ? told : (await call.selected()).map(({ entry }) => entry);
  const fixed = concerned.find(({ readOnly }) => readOnly === true);
  if (!call.isReadOnly && fixed === undefined) return;
  const what = call.isReadOnly ? 'this session' : visible(fixed?.name ?? '');
  throw new RefusedError(`${what} is read-only, and the program may write`);
}

function problemOf(end: ProgramEnd, seconds: number): string | undefined {
  switch (end.kind) {
    case 'ended':
      return end.status === 0 ? undefined : `ended with ${end.status}`;
    case 'not started':
      return `not started: ${end.reason}`;
    case 'late':
      return `stopped after ${seconds} s; its output so far is shown`;
    case 'too long':
      return `stopped after ${MAX_BYTES / 1024} KB of output; its beginning is shown`;
    case 'stopped':
      throw new CancelledError();
  }
}
