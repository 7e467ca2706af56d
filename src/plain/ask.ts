import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { visibleLines } from '../text/visible.ts';
import type { Question } from '../shell/session.ts';
import { appendsOnly, type Host, stopForShell } from './host.ts';
import { readLine } from './line-reader.ts';
import { typedSoFar, type TypedAhead } from './typed-ahead.ts';

/** Asks on the terminal; undefined at the end of the input. Text typed before the question waits in `ahead`. */
export async function askOnTerminal(
  host: Host,
  question: Question,
  ahead?: TypedAhead,
): Promise<string | undefined> {
  // The question may have expired while another one was open.
  if (question.until?.aborted === true) return undefined;
  for (const line of question.details ?? []) host.stderr.write(`${visibleLines(line)}\n`);
  const early = await typedSoFar(host.stdin);
  if (early === undefined) {
    host.stderr.write('^C\n');
    return undefined;
  }
  reportEarly(host, question, early, ahead);
  return appendsOnly(host) ? askAppending(host, question, ahead) : askEditing(host, question);
}

function reportEarly(host: Host, { kind }: Question, early: string, ahead?: TypedAhead): void {
  if (kind === 'secret' || ahead === undefined) {
    // It may be a password that was typed too early, and must not show.
    const kept = ahead?.take() ?? '';
    if (kept === '' && early.trim() === '') return;
    host.stderr.write('(dropped what was typed before this question)\n');
  } else if (early.trim() !== '') {
    ahead.keep(early);
    host.stderr.write('(what was typed before this question is at the next prompt)\n');
  }
}

function askEditing(host: Host, question: Question): Promise<string | undefined> {
  const isSecret = question.kind === 'secret';
  let isMuted = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isMuted) host.stderr.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input: host.stdin, output, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    const prompt = `${visibleLines(question.text)} `;
    let isAnswered = false;
    const finish = (answer: string | undefined): void => {
      if (isAnswered) return;
      isAnswered = true;
      // Must precede closing, which resolves to undefined.
      resolve(answer);
      terminal.close();
      if (isSecret || answer === undefined) host.stderr.write('\n');
    };
    question.until?.addEventListener('abort', () => finish(undefined));
    terminal.on('SIGINT', () => finish(undefined));
    terminal.on('SIGTSTP', () => {
      stopForShell(host.stdin, () => {
        if (isAnswered) return;
        host.stdin.setRawMode?.(true);
        if (isSecret) host.stderr.write(prompt);
        else terminal.prompt(true);
      });
    });
    terminal.on('close', () => resolve(undefined));
    // Muted before the prompt appears.
    isMuted = isSecret;
    terminal.question(prompt, finish);
    if (isSecret) host.stderr.write(prompt);
  });
}

/** Asks where only text and line ends may be written. */
async function askAppending(
  host: Host,
  { kind, text, until }: Question,
  ahead: TypedAhead | undefined,
): Promise<string | undefined> {
  const answer = await readLine(host, {
    prompt: `${visibleLines(text)} `,
    shown: kind === 'secret' ? () => '' : (line) => line,
    until,
  });
  if (answer.kind !== 'line') return undefined;
  ahead?.keep(answer.rest);
  return answer.text;
}
