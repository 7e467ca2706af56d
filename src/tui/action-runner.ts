import { CancelledError, DevshError, RefusedError } from '../errors.ts';
import type { ProgramEnd } from '../os/program.ts';
import type { Shell } from '../shell/shell.ts';
import { shortened, visible, visibleLines } from '../text/visible.ts';
import { quoteLine } from '../text/words.ts';
import type { OwnAction, OwnPrompt } from './keys/key-binding.ts';
import type { LineRunner } from './line-runner.ts';
import type { Questions } from './questions.ts';
import type { Store } from './store.ts';

/** An action as it applies to what was at the cursor at the time of the key. */
export interface Bound {
  readonly action: OwnAction;
  /** The names of the devices that are concerned; empty: any. */
  readonly devices: readonly string[];
  /** Its line gets a value that a device has chosen. */
  readonly isForeign: boolean;
  /** Throws a `RefusedError` for a value that may not be put in. */
  readonly fill: (answers: ReadonlyMap<string, string>) => readonly string[];
}

/** Runs a program without a shell and without a terminal; never rejects. */
export type RunProgram = (
  argv: readonly string[],
  limits: { readonly limitMs: number; readonly maxBytes: number; readonly signal: AbortSignal },
) => Promise<ProgramEnd>;

const SECONDS = 60;
const MAX_BYTES = 256 * 1024;
/** A message shows at most this much of a program and its arguments. */
const LONGEST_SHOWN = 200;

/** The commands that may get a value of a device, besides those of records. */
const TAKE_FOREIGN = ['get', 'post', 'delete'];

/** Runs the user's own actions: asks their prompts, then a line as if typed, or a program. */
export class ActionRunner {
  readonly #shell: Shell;
  readonly #store: Store;
  readonly #questions: Questions;
  readonly #lines: LineRunner;
  readonly #runProgram: RunProgram;

  constructor(
    shell: Shell,
    store: Store,
    questions: Questions,
    lines: LineRunner,
    runProgram: RunProgram,
  ) {
    this.#shell = shell;
    this.#store = store;
    this.#questions = questions;
    this.#lines = lines;
    this.#runProgram = runProgram;
  }

  async start({ action, devices, isForeign, fill }: Bound): Promise<void> {
    try {
      const answers = await this.#askAll(action);
      if (answers === undefined) return;
      const words = fill(answers);
      if (action.line === undefined) await this.#startProgram(action, words, devices);
      else this.#startLine(words, isForeign);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      this.#store.logMessage('bad', `error: ${action.label}: ${error.message}`);
    }
  }

  /** Undefined if the user declines one. */
  async #askAll({ label, prompts = [] }: OwnAction): Promise<Map<string, string> | undefined> {
    const answers = new Map<string, string>();
    for (const prompt of prompts) {
      const choices = prompt.choices === undefined ? '' : ` (${prompt.choices.join(', ')})`;
      const question = `${label}: ${prompt.text}${choices}:`;
      let complaint = '';
      for (let value: string | undefined; value === undefined;) {
        const text = complaint + question;
        const typed = (await this.#questions.ask({ kind: 'text', text }))?.trim();
        if (typed === undefined) return undefined;
        value = acceptedAnswer(prompt, typed);
        complaint = `"${shortened(typed, 40)}" is not ${EXPECTED[prompt.kind]}. `;
        if (value !== undefined) answers.set(prompt.name, value);
      }
    }
    return answers;
  }

  #startLine(words: readonly string[], isForeign: boolean): void {
    const line = quoteLine(words);
    const { command, given } = this.#shell.parse(line);
    if (given.yes === true || given.allow !== undefined || command.name === 'run')
      throw new RefusedError(
        'its line carries --yes or --allow, or runs a script: nothing was run',
      );
    const isSafe = command.section === 'Records' || TAKE_FOREIGN.includes(command.name);
    if (!isSafe && isForeign)
      throw new RefusedError(`"${command.name}" accepts no value of a record: nothing was run`);
    this.#lines.submit(line, { shown: line });
  }

  async #startProgram(
    action: OwnAction,
    argv: readonly string[],
    devices: readonly string[],
  ): Promise<void> {
    const { label, reads = false } = action;
    const whole = visible(quoteLine(argv));
    const shown = shortened(whole, LONGEST_SHOWN);
    if (!reads) {
      this.#refuseReadOnly(devices);
      const text = `${label}: run this program? Type y to run it:`;
      const question = { kind: 'confirm', text, details: [whole], expected: 'y' } as const;
      if ((await this.#questions.ask(question)) === undefined) return;
      // While the question was open, a device may have become read-only.
      this.#refuseReadOnly(devices);
    }
    this.#lines.submitWork(async (signal) => {
      this.#store.logMessage('quiet', `› ${shown}`);
      this.#store.dispatch({ kind: 'work', work: { progress: label } });
      const { seconds = SECONDS } = action;
      const limits = { limitMs: seconds * 1000, maxBytes: MAX_BYTES, signal };
      const end = await this.#runProgram(argv, limits);
      this.#show(label, shown, end, seconds);
    });
  }

  /** A program may change any device that it is told of; without one, any selected device. */
  #refuseReadOnly(devices: readonly string[]): void {
    const { fleet, isReadOnly } = this.#shell.shell;
    const sessions =
      devices.length === 0
        ? fleet.selection
        : fleet.connected.filter(({ ref }) => devices.includes(ref.name));
    const fixed = sessions.find(({ entry }) => entry.readOnly === true);
    if (!isReadOnly && fixed === undefined) return;
    const what = isReadOnly ? 'this session' : visible(fixed?.ref.name ?? '');
    throw new RefusedError(
      `${what} is read-only, and the program may write: declare "reads": true if it does not`,
    );
  }

  #show(label: string, shown: string, end: ProgramEnd, seconds: number): void {
    const how = endText(end, seconds);
    const isGood = end.kind === 'ended' && end.status === 0;
    const printed = end.kind === 'not started' ? '' : [end.stdout, end.stderr].join('\n').trim();
    const lines = printed === '' ? [] : visibleLines(printed).split('\n');
    this.#store.logMessage(isGood ? 'good' : 'bad', `${isGood ? '✓' : '✗'} ${label}: ${how}`);
    if (lines.length === 0) return;
    const overlay = {
      kind: 'pager',
      title: label,
      lines: [`${shown}: ${how}`, '', ...lines],
      top: 0,
    };
    this.#store.dispatch({ kind: 'view-over', overlay: { ...overlay, kind: 'pager' } });
  }
}

const EXPECTED: Readonly<Record<OwnPrompt['kind'], string>> = {
  text: 'a text',
  number: 'a number',
  choice: 'one of the choices',
};

/** Undefined: it must be asked again. The beginning of one choice is enough. */
function acceptedAnswer({ kind, choices = [] }: OwnPrompt, typed: string): string | undefined {
  if (typed === '') return undefined;
  if (kind === 'number') return /^\d{1,15}(?:\.\d{1,15})?$/.test(typed) ? typed : undefined;
  if (kind === 'text') return typed;
  const fitting = choices.filter((choice) => choice.startsWith(typed));
  return (
    choices.find((choice) => choice === typed) ?? (fitting.length === 1 ? fitting[0] : undefined)
  );
}

function endText(end: ProgramEnd, seconds: number): string {
  switch (end.kind) {
    case 'ended':
      return end.status === 0 ? 'done' : `ended with ${end.status}`;
    case 'not started':
      return `not started: ${end.reason}`;
    case 'late':
      return `stopped after ${seconds} s; its output so far`;
    case 'too long':
      return `stopped after ${MAX_BYTES / 1024} KB of output; this is the beginning`;
    case 'stopped':
      return new CancelledError().message;
  }
}
