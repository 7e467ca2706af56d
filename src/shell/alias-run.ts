import { CancelledError, DeclinedError, DevshError, RefusedError, UsageError } from '../errors.ts';
import { type ProgramEnd, runProgram } from '../os/program.ts';
import type { AliasPrompt } from '../settings/settings-table.ts';
import { shortened, visible, visibleLines } from '../text/visible.ts';
import { quoteLine, type Word } from '../text/words.ts';
import type { Call, Grammar, Invocation } from './command.ts';
import { acceptedAnswer } from './grammar/aliases.ts';
import { bind, title } from './grammar/bind.ts';
import { info, type Output, success } from './output.ts';
import { confirm, type ShellIo } from './session.ts';

const SECONDS = 60;
const MAX_BYTES = 256 * 1024;

/** A program did not end well. */
class ProgramError extends DevshError {
  readonly code = 'program';
}

const EXPECTED: Readonly<Record<AliasPrompt['kind'], string>> = {
  text: 'a text',
  number: 'a number',
  choice: 'one of the choices',
};

/** How a line can ask. */
export type Asking = Pick<ShellIo, 'ask' | 'signal'>;

/**
 * The line with the answers to what its alias asks: `retire prompt.to=ann key=bob`, and these words if it asked. Throws
 * a `DeclinedError`, or a `UsageError` if nobody can be asked.
 */
export async function answered(
  invocation: Invocation,
  io: Asking,
  grammar: Grammar,
): Promise<{ readonly invocation: Invocation; readonly words?: readonly Word[] }> {
  const { asks, command, verb } = invocation;
  if (asks === undefined) return { invocation };
  const { label, prompts, words, at } = asks;
  const end = words[at - 1]?.end ?? 0;
  const answers: Word[] = [];
  for (const prompt of prompts) {
    const text = `prompt.${prompt.name}=${await answerTo(prompt, label, io, end)}`;
    answers.push({ text, start: end, end });
  }
  const all = [...words.slice(0, at), ...answers, ...words.slice(at)];
  const done = bind(all, grammar);
  if (title(done.command, done.verb) !== title(command, verb)) {
    throw new RefusedError(`${label}: an answer never chooses the command: nothing was run`);
  }
  return { invocation: done, words: all };
}

async function answerTo(
  prompt: AliasPrompt,
  label: string,
  { ask, signal }: Asking,
  column: number,
): Promise<string> {
  const { name, text, kind, choices } = prompt;
  const question = `${label}: ${text}${choices === undefined ? '' : ` (${choices.join(', ')})`}:`;
  if (ask === undefined) {
    throw new UsageError(`${question} devsh cannot ask here: add prompt.${name}=VALUE`, { column });
  }
  for (let complaint = ''; ;) {
    const typed = (await ask({ kind: 'text', text: complaint + question }))?.trim();
    signal.throwIfAborted();
    if (typed === undefined) throw new DeclinedError(`${label}: not answered, nothing was run`);
    const value = acceptedAnswer(prompt, typed);
    if (value !== undefined) return value;
    complaint = `"${visible(shortened(typed, 40))}" is not ${EXPECTED[kind]}. `;
  }
}

interface Program {
  readonly label: string;
  /** `NAME=VALUE` */
  readonly variables: readonly string[];
  readonly argv: readonly string[];
  /** It changes nothing: it may run in read-only mode, and without a question. */
  readonly reads: boolean;
  readonly seconds: number | undefined;
  /** What was given to the alias, among it the devices that the program is about. */
  readonly values: readonly string[];
}

/** Runs a program without a shell and without a terminal; what it prints is foreign text. */
export async function* runAliasProgram(
  call: Call<'yes'>,
  { label, variables, argv, reads, seconds = SECONDS, values }: Program,
): AsyncGenerator<Output> {
  if (!reads) {
    await refuseReadOnly(call, values);
    const details = [visible(quoteLine([...variables, ...argv]))];
    const nothing = 'nothing was run';
    const text = `${label}: run this program? Type y to run it:`;
    await confirm(call, 1, () => text, { details, nothing });
    // While the question was open, a device may have become read-only.
    await refuseReadOnly(call, values);
  }
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

/** A program may change any device that it is told of; without one, any selected device. */
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
  throw new RefusedError(
    `${what} is read-only, and the program may write: declare "reads": true if it does not`,
  );
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
