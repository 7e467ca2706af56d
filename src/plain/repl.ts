import { createInterface, type Interface } from 'node:readline';
import { editInProgram, type Draft } from '../external-editor.ts';
import type { Question, ShellIo } from '../shell/io.ts';
import { promptText } from '../shell/prompt-text.ts';
import { parseLine } from '../shell/parse.ts';
import type { Shell } from '../shell/shell.ts';
import { askOnTerminal } from './ask.ts';
import type { Host } from './host.ts';
import { LineEcho } from './line-echo.ts';
import { runLine, type LineEnd } from './run-line.ts';
import { visible } from '../visible.ts';

/**
 * A prompt that only appends, for dumb terminals, screen readers and pipes. Lines that are piped in
 * are run one after the other; the exit code is that of the last one.
 */
export async function runRepl(shell: Shell, host: Host, firstLine: string): Promise<number> {
  let end: LineEnd = { exitCode: 0, isQuit: false };
  const run = async (line: string): Promise<void> => {
    // A comment is no command, and no command at all would be `help`.
    if (parseLine(line).words.length > 0) end = await runStoppable(shell, line, host);
  };
  await run(firstLine);
  if (host.stdin.isTTY !== true) {
    for await (const line of createInterface({ input: host.stdin })) {
      await run(line);
      if (end.isQuit) break;
    }
    return end.exitCode;
  }
  // As on the full screen: who connects sees the users.
  if (shell.session.fleet.connected.length > 0) await run('user list --fold');
  while (!end.isQuit) {
    const line = await readPrompt(shell, host);
    if (line === undefined) break;
    await run(line);
    await shell.session.services.history.append(line);
  }
  return end.exitCode;
}

/** Runs a line that Ctrl-C can stop. */
export async function runStoppable(shell: Shell, line: string, host: Host): Promise<LineEnd> {
  const stop = new AbortController();
  const release = host.onStop(() => {
    stop.abort();
  });
  try {
    return await runLine(shell, line, host, ioOf(host, stop.signal));
  } finally {
    release();
  }
}

/** One line from the terminal; `undefined` at its end (Ctrl-D). */
async function readPrompt(shell: Shell, host: Host): Promise<string | undefined> {
  const history = await shell.session.services.history.load();
  const terminal: Interface = createInterface({
    input: host.stdin,
    output: new LineEcho(host.stderr, () => terminal),
    terminal: true,
    history: history.reverse(),
    completer: (line: string, done: (error: null, found: [string[], string]) => void) => {
      void shell.complete(line, line.length).then(({ start, proposals }) => {
        done(null, [proposals.map(({ insert }) => insert), line.slice(start)]);
      });
    },
  });
  return new Promise((resolve) => {
    const finish = (line: string | undefined): void => {
      resolve(line);
      terminal.close();
    };
    terminal.on('SIGINT', () => {
      host.stderr.write('^C\n');
      finish('');
    });
    terminal.on('close', () => {
      resolve(undefined);
    });
    terminal.question(promptText(shell.session.fleet), finish);
  });
}

export function ioOf(host: Host, signal: AbortSignal): ShellIo {
  const isInteractive = host.stdin.isTTY === true && host.stderr.isTTY === true;
  // One question at a time: two would both read what is typed.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: Question): Promise<string | undefined> => {
    const answer = last.then(() => askOnTerminal(host, question));
    last = answer;
    return answer;
  };
  return {
    signal,
    isOnScreen: host.stdout.isTTY === true,
    readInput: () => Promise.resolve(''),
    trace: (line) => void host.stderr.write(`${visible(line)}\n`),
    ...(isInteractive && { ask, edit: (draft: Draft) => editInProgram(draft, host.env, signal) }),
  };
}
