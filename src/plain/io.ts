import type { Draft } from '../os/editor.ts';
import type { Question, ShellIo } from '../shell/io.ts';
import { visible } from '../text/visible.ts';
import type { TypedAhead } from './typed-ahead.ts';
import type { Host } from './host.ts';

/** `ahead` keeps what is typed too early for a question, for the next prompt. */
export function ioOf(host: Host, signal: AbortSignal, ahead?: TypedAhead): ShellIo {
  const isInteractive = host.stdin.isTTY === true && host.stderr.isTTY === true;
  // One question at a time: two would both read what is typed.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: Question): Promise<string | undefined> => {
    const answer = last.then(async () => {
      const { askOnTerminal } = await import('./ask.ts');
      return askOnTerminal(host, question, ahead);
    });
    last = answer;
    return answer;
  };
  const edit = async (draft: Draft): Promise<string> => {
    const { editInProgram } = await import('../os/editor.ts');
    return editInProgram(draft, host.env, signal);
  };
  return {
    signal,
    isOnScreen: host.stdout.isTTY === true,
    readInput: () => Promise.resolve(''),
    trace: (line) => void host.stderr.write(`${visible(line)}\n`),
    ...(isInteractive && { ask, edit }),
  };
}
