import { ioOf, type LineEnd, runLine } from './run-line.ts';
import { type Host, sizeOf } from './host.ts';
import { StringDecoder } from 'node:string_decoder';
import { firstStepLines, isFirstRun, nextStepLines, nextSteps } from '../shell/help/first-run.ts';
import { hideSecrets } from '../shell/grammar/hide-secrets.ts';
import { promptText } from '../shell/session.ts';
import { parseLine } from '../text/words.ts';
import type { Shell } from '../shell/shell.ts';
import { askOnTerminal } from './ask.ts';
import { TypedAhead, typedSoFar, withoutEcho } from './typed-ahead.ts';
import { type LineAnswer, readLine } from './line-reader.ts';
import { cut, fit, visible, widthOf } from '../text/visible.ts';
import type { Completion } from '../shell/completion/complete.ts';
import { CancelledError, UsageError } from '../errors.ts';

/** The prompt for dumb terminals, screen readers and pipes. From a pipe the first failed line is the last one. */
export async function runRepl(shell: Shell, terminal: Host, firstLine: string): Promise<number> {
  const host: Host = { ...terminal, appendsOnly: true };
  const ahead = new TypedAhead();
  let end: LineEnd = { exitCode: 0, isQuit: false };
  const isPiped = host.stdin.isTTY !== true;
  const isOver = (): boolean => end.isQuit || (isPiped && end.exitCode !== 0);
  let release = ignoreCtrlC(host);
  const run = async (line: string): Promise<void> => {
    // A comment is no command, and an empty line would run `help`.
    if (parseLine(line).words.length === 0) return;
    end = await withoutEcho(host, () => runStoppable(shell, line, host, ahead));
    // A second Ctrl-C would have ended devsh. After the line it counts as a first one again.
    release();
    release = ignoreCtrlC(host);
  };
  try {
    await run(firstLine);
    if (isPiped) {
      if (isOver()) return end.exitCode;
      for await (const line of pipedLines(host.stdin)) {
        await run(line);
        if (isOver()) break;
      }
      return end.exitCode;
    }
    const lines = (await isFirstRun(shell.shell))
      ? firstStepLines(shell.shell.services.inventory.path)
      : nextStepLines(await nextSteps(shell.shell));
    for (const line of lines) host.stderr.write(`${visible(line)}\n`);
    // As on the full screen: the user sees the users after connecting.
    if (shell.shell.fleet.connected.length > 0) await run('user list --fold');
    while (!isOver()) {
      const answer = await readPrompt(shell, host, ahead);
      if (answer.kind === 'end') break;
      if (answer.kind === 'cancelled') continue;
      for (const line of await linesToRun(answer.text, answer.rest, host, ahead)) {
        await run(line);
        await shell.shell.services.history.append(line);
        if (isOver()) break;
      }
    }
    return end.exitCode;
  } finally {
    release();
  }
}

/** Ignores Ctrl-C between the end of a command and the next prompt. */
function ignoreCtrlC(host: Host): () => void {
  if (host.stdin.isTTY !== true) return () => undefined;
  return host.onStop(() => undefined, ['SIGINT']);
}

export async function runStoppable(
  shell: Shell,
  line: string,
  host: Host,
  ahead?: TypedAhead,
): Promise<LineEnd> {
  const stop = new AbortController();
  const release = host.onStop(() => stop.abort(new CancelledError()));
  try {
    return await runLine(shell, line, host, { ...ioOf(host, stop.signal, ahead), isPrompt: true });
  } finally {
    release();
  }
}

async function readPrompt(shell: Shell, host: Host, ahead: TypedAhead): Promise<LineAnswer> {
  return readLine(host, {
    prompt: promptText(shell.shell.fleet, shell.shell.services.settings.get('on')),
    shown: hideSecrets,
    typed: ahead.take().trim(),
    history: await shell.shell.services.history.load(),
    complete: async (line) =>
      tabbed(line, await shell.complete(line, line.length), sizeOf(host.stderr).columns),
  });
}

/** The lines to run. Several lines in one piece are a paste, and run only after a confirmation. */
async function linesToRun(
  text: string,
  rest: string,
  host: Host,
  ahead: TypedAhead,
): Promise<readonly string[]> {
  // A long paste arrives in several pieces.
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

/** Number of listed candidates: nobody reads more one by one. */
const MOST = 40;

/** Completes a line on Tab: inserts the common part of all candidates, and lists several. */
export function tabbed(
  line: string,
  { start, proposals }: Completion,
  columns: number,
): { line: string; listing: readonly string[] } {
  const [first, ...others] = proposals;
  const before = line.slice(0, start);
  if (first === undefined) return { line, listing: ['  (nothing to complete)'] };
  if (others.length === 0) return { line: before + first.insert, listing: [] };
  const common = others.reduce((text, { insert }) => commonStart(text, insert), first.insert);
  const longer = before + common;
  const shown = proposals
    .slice(0, MOST)
    .map(({ text, summary = '' }) => ({ text: visible(text), summary: visible(summary) }));
  const width = Math.min(Math.max(...shown.map(({ text }) => widthOf(text))), columns >> 1);
  const rest = proposals.length - shown.length;
  return {
    line: longer.length > line.length && longer.startsWith(line) ? longer : line,
    listing: [
      ...shown.map(({ text, summary }) =>
        cut(`  ${summary === '' ? text : `${fit(text, width)}  ${summary}`}`, columns - 1),
      ),
      ...(rest > 0 ? [`  … ${rest} more`] : []),
    ],
  };
}

function commonStart(a: string, b: string): string {
  let end = 0;
  while (end < a.length && a[end] === b[end]) end += 1;
  return a.slice(0, end);
}

/** A longer line is no command; an input without line ends would fill the memory. */
const MAX_LINE_MEBIBYTES = 8;

/** Each as soon as it is complete. Throws UsageError for a line that is too long. */
export async function* pipedLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_MEBIBYTES * 1024 * 1024) {
      throw new UsageError(
        `cannot read standard input: a line is longer than ${MAX_LINE_MEBIBYTES} MiB`,
      );
    }
    yield* lines;
  }
  rest = (rest + decoder.end()).replace(/\r$/, '');
  if (rest !== '') yield rest;
}
