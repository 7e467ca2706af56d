import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { visibleLines } from '../visible.ts';
import type { Question } from '../shell/io.ts';
import { appendsOnly, type Host } from './host.ts';
import { readLine } from './line-reader.ts';

/**
 * Asks on the terminal, below what is there; a secret is not shown while it is typed. Resolves to
 * `undefined` when the input ends or the line is cancelled with Ctrl-C.
 */
export function askOnTerminal(host: Host, question: Question): Promise<string | undefined> {
  // It may have become useless while another question was open.
  if (question.until?.aborted === true) return Promise.resolve(undefined);
  for (const line of question.details ?? []) host.stderr.write(`${visibleLines(line)}\n`);
  const isSecret = question.kind === 'secret';
  if (appendsOnly(host)) return askAppending(host, question);
  let isMuted = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isMuted) host.stderr.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input: host.stdin, output, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    let isAnswered = false;
    const finish = (answer: string | undefined): void => {
      if (isAnswered) return;
      isAnswered = true;
      // Before closing, which resolves to nothing.
      resolve(answer);
      terminal.close();
      if (isSecret || answer === undefined) host.stderr.write('\n');
    };
    question.until?.addEventListener('abort', () => {
      finish(undefined);
    });
    terminal.on('SIGINT', () => {
      finish(undefined);
    });
    terminal.on('close', () => {
      resolve(undefined);
    });
    const prompt = `${visibleLines(question.text)} `;
    // Muted before anybody is told to type.
    isMuted = isSecret;
    terminal.question(prompt, finish);
    if (isSecret) host.stderr.write(prompt);
  });
}

/** The same where nothing but text and line ends may be written. */
async function askAppending(
  host: Host,
  { kind, text, until }: Question,
): Promise<string | undefined> {
  const answer = await readLine(host, {
    prompt: `${visibleLines(text)} `,
    shown: kind === 'secret' ? () => '' : (line) => line,
    until,
  });
  return answer.kind === 'line' ? answer.text : undefined;
}
