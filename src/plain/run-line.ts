import { visible } from '../text/visible.ts';
import type { TypedAhead } from './typed-ahead.ts';
import type { Invocation } from '../shell/command.ts';
import { CancelledError, DevshError, StoppedError, UsageError } from '../errors.ts';
import { writerFor } from '../output/writers.ts';
import type { Streams, Writer } from '../output/streams.ts';
import { ExitCode } from '../shell/output.ts';
import type { Question, ShellIo } from '../shell/session.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import type { Format, Given } from '../shell/grammar/options.ts';
import { quoteLine, type Word } from '../text/words.ts';
import type { Shell } from '../shell/shell.ts';
import { appendsOnly, sizeOf, wantsColor, type Host } from './host.ts';

export interface LineEnd {
  readonly exitCode: number;
  readonly isQuit: boolean;
}

/** Executes one line and prints its output. Never throws for an expected failure. */
export async function runLine(
  shell: Shell,
  line: string | readonly Word[],
  host: Host,
  io: ShellIo,
): Promise<LineEnd> {
  const usual = shell.shell.defaults.format ?? 'table';
  // A person reads mistakes and help, whatever format the settings choose for data.
  const mistakes = shell.formatOf(line) ?? (host.stdout.isTTY === true ? 'table' : usual);
  let invocation: Invocation;
  try {
    invocation = shell.parse(line);
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    const writer = await openWriter(mistakes, streamsOf(host, line, {}));
    writer.end(error);
    return { exitCode: error.exitCode, isQuit: false };
  }
  const { given } = invocation;
  const isHelp = given.help === true || invocation.command.name === 'help';
  const format = given.format ?? (isHelp ? 'table' : usual);
  const streams = streamsOf(host, line, given);
  const exitCode = new ExitCode();
  let writer = await openWriter(format, streams);
  const progress = (text: string): void =>
    writer.write({ kind: 'progress', done: 0, total: 0, text });
  let isQuit = false;
  let hasSaid = false;
  try {
    for await (const output of shell.evaluate(invocation, { ...io, progress })) {
      if (output.kind === 'checkpoint') {
        // A line with remarks alone must not print an empty document among the others.
        if (hasSaid) {
          writer.write(output);
          writer.end();
        }
        hasSaid = false;
        writer = await openWriter(output.format ?? format, streams);
        continue;
      }
      exitCode.add(output);
      hasSaid ||= output.kind !== 'message';
      writer.write(output);
      if (output.kind === 'quit') isQuit = true;
    }
    if (io.signal.aborted) exitCode.addError(new CancelledError());
    writer.end();
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    exitCode.addError(error);
    if (error instanceof UsageError && !hasSaid)
      writer = await openWriter(isHelp ? format : mistakes, streams);
    writer.end(error instanceof StoppedError && format !== 'table' ? undefined : error);
  }
  return { exitCode: exitCode.value, isQuit };
}

async function openWriter(format: Format, streams: Streams): Promise<Writer> {
  const makeWriter = await writerFor(format);
  return makeWriter(streams);
}

function streamsOf(
  host: Host,
  line: string | readonly Word[],
  { quiet = false, verbose = false, noHeaders = false, color = 'auto', plain = false }: Given,
): Streams {
  const { columns } = sizeOf(host.stdout);
  const text = typeof line === 'string' ? line : quoteLine(line.map((word) => word.text));
  return {
    out: (text) => void host.stdout.write(text),
    err: (text) => void host.stderr.write(text),
    isTty: host.stdout.isTTY === true,
    isErrTty: host.stderr.isTTY === true && !appendsOnly(host),
    columns,
    color: wantsColor(host, color),
    quiet,
    verbose,
    noHeaders,
    typed: {
      text: hideSecrets(text),
      columns,
      isReadAloud: host.stdin.isTTY === true && (plain || appendsOnly(host)),
    },
  };
}

/** `ahead` keeps text that is typed before a question appears, for the next prompt. */
export function ioOf(host: Host, signal: AbortSignal, ahead?: TypedAhead): ShellIo {
  const isInteractive = host.stdin.isTTY === true && host.stderr.isTTY === true;
  // One question at a time: two would read the same keys.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: Question): Promise<string | undefined> => {
    const answer = last.then(async () => {
      const { askOnTerminal } = await import('./ask.ts');
      return askOnTerminal(host, question, ahead);
    });
    last = answer;
    return answer;
  };
  return {
    signal,
    isOnScreen: host.stdout.isTTY === true,
    readInput: () => Promise.resolve(''),
    trace: (line) => void host.stderr.write(`${visible(line)}\n`),
    ...(isInteractive && { ask }),
  };
}
