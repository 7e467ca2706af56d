import type { Draft } from '../external-editor.ts';
import { firstStepLines, isFirstRun, nextStepLines, nextSteps } from '../shell/help/first-run.ts';
import { hideSecrets } from '../shell/access/hide-secrets.ts';
import { promptText } from '../shell/prompt-text.ts';
import { parseLine } from '../shell/grammar/parse.ts';
import type { Shell } from '../shell/shell.ts';
import { askOnTerminal } from './ask.ts';
import { sizeOf, type Host } from './host.ts';
import { HeldEcho } from './held-echo.ts';
import { ioOf } from './host-io.ts';
import { readLine, type LineAnswer } from './line-reader.ts';
import { tabbed } from './listing.ts';
import { pipedLines } from './piped-lines.ts';
import { runLine, type LineEnd } from './run-line.ts';
import { TypedAhead, typedSoFar } from './typed-ahead.ts';
import { visible } from '../visible.ts';

/**
 * A prompt that only appends, for dumb terminals, screen readers and pipes. Lines that are piped in
 * are run one after the other; the exit code is that of the last one.
 */
export async function runRepl(shell: Shell, terminal: Host, firstLine: string): Promise<number> {
  const host: Host = { ...terminal, appendsOnly: true };
  const echo = new HeldEcho(host);
  const ahead = new TypedAhead();
  let end: LineEnd = { exitCode: 0, isQuit: false };
  const isOver = (): boolean => end.isQuit;
  let release = ignoreCtrlC(host);
  const run = async (line: string): Promise<void> => {
    // A comment is no command, and no command at all would be `help`.
    if (parseLine(line).words.length === 0) return;
    end = await echo.during(() => runStoppable(shell, line, host, { echo, ahead }));
    await end.paged?.show(() => isTyping(host, ahead));
    // A second one would have ended devsh: from here on it is a first one again.
    release();
    release = ignoreCtrlC(host);
  };
  try {
    await run(firstLine);
    if (host.stdin.isTTY !== true) {
      for await (const line of pipedLines(host.stdin)) {
        await run(line);
        if (end.isQuit) break;
      }
      return end.exitCode;
    }
    if (await isFirstRun(shell.session)) {
      const { path } = shell.session.services.inventory;
      for (const line of firstStepLines(path)) host.stderr.write(`${visible(line)}\n`);
    } else {
      const lines = nextStepLines(await nextSteps(shell.session));
      for (const line of lines) host.stderr.write(`${visible(line)}\n`);
    }
    // As on the full screen: who connects sees the users.
    if (shell.session.fleet.connected.length > 0) await run('user list --fold');
    while (!isOver()) {
      const answer = await readPrompt(shell, host, ahead);
      if (answer.kind === 'end') break;
      if (answer.kind === 'cancelled') continue;
      for (const line of await linesToRun(answer.text, answer.rest, host, ahead)) {
        await run(line);
        await shell.session.services.history.append(line);
        if (isOver()) break;
      }
    }
    return end.exitCode;
  } finally {
    release();
  }
}

/** Ctrl-C when a command has just ended, and the next line is not read yet, ends nothing. */
function ignoreCtrlC(host: Host): () => void {
  if (host.stdin.isTTY !== true) return () => undefined;
  return host.onStop(() => undefined, ['SIGINT']);
}

/** Whether the next line was begun already; what there is of it stands at the next prompt. */
async function isTyping(host: Host, ahead: TypedAhead): Promise<boolean> {
  if (host.stdin.isTTY !== true) return false;
  const typed = await typedSoFar(host.stdin);
  host.stdin.setRawMode?.(false);
  ahead.keep(typed ?? '');
  return typed !== '';
}

/** Runs a line that Ctrl-C can stop. */
export async function runStoppable(
  shell: Shell,
  line: string,
  host: Host,
  { echo = new HeldEcho(host), ahead }: { echo?: HeldEcho; ahead?: TypedAhead } = {},
): Promise<LineEnd> {
  const stop = new AbortController();
  const release = host.onStop(() => {
    stop.abort();
  });
  try {
    const io = { ...ioOf(host, stop.signal, ahead), isPrompt: true };
    const { edit } = io;
    const lent = edit && { edit: (draft: Draft) => echo.lend(() => edit(draft)) };
    return await runLine(shell, line, host, { ...io, ...lent });
  } finally {
    release();
  }
}

/** One line from the terminal. */
async function readPrompt(shell: Shell, host: Host, ahead: TypedAhead): Promise<LineAnswer> {
  return readLine(host, {
    prompt: promptText(shell.session.fleet, shell.session.services.settings.get('on')),
    shown: hideSecrets,
    typed: ahead.take().trim(),
    history: await shell.session.services.history.load(),
    complete: async (line) =>
      tabbed(line, await shell.complete(line, line.length), sizeOf(host.stderr).columns),
  });
}

/** The lines to run: several that came in one piece are a paste, and run only when that is meant. */
async function linesToRun(
  text: string,
  rest: string,
  host: Host,
  ahead: TypedAhead,
): Promise<readonly string[]> {
  // A long paste comes in several pieces.
  const more = rest.trim() === '' ? '' : await typedSoFar(host.stdin);
  host.stdin.setRawMode?.(false);
  if (more === undefined) return [];
  const lines = [text, ...(rest + more).split('\n')].filter((line) => line.trim() !== '');
  if (lines.length < 2) return lines;
  const answer = await askOnTerminal(
    host,
    {
      kind: 'confirm',
      text: `Run these ${lines.length} lines one after the other? Type y to run them:`,
      details: lines.map((line) => `  ${hideSecrets(line)}`),
      expected: 'y',
    },
    ahead,
  );
  return answer?.trim() === 'y' ? lines : [];
}
