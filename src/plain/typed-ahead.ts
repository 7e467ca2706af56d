import { StringDecoder } from 'node:string_decoder';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { stty } from '../os/terminal.ts';
import type { Host } from './host.ts';

/** Input that waits in the terminal arrives within this time. */
const ARRIVAL_MS = 20;
/** A user who is typing has not read the question: it waits for this long without a key. */
const QUIET_MS = 300;

const CTRL_C = '\x03';

/** Text that was typed before a question appeared. It is kept for the next prompt and never answers the question. */
export class TypedAhead {
  #text = '';

  keep(text: string): void {
    this.#text += text;
  }

  /** The initial text of the next prompt. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** As text, once the user stops typing; `undefined` on Ctrl-C and at the end. Leaves the terminal raw. */
export async function typedSoFar(stdin: Host['stdin']): Promise<string | undefined> {
  const decoder = new StringDecoder('utf8');
  let typed = '';
  const onData = (chunk: Buffer | string): void => {
    typed += decoder.write(Buffer.from(chunk));
  };
  stdin.setRawMode?.(true);
  stdin.on('data', onData);
  stdin.resume();
  let before = typed;
  let waitMs = ARRIVAL_MS;
  do {
    before = typed;
    await setTimeout(waitMs);
    // A process that was suspended handles timers before input.
    await setImmediate();
    waitMs = QUIET_MS;
  } while (typed !== before);
  stdin.off('data', onData);
  stdin.pause();
  if (typed.includes(CTRL_C) || stdin.readableEnded) {
    stdin.setRawMode?.(false);
    return undefined;
  }
  return asText(typed);
}

/** Drops control keys; applies erasing. */
function asText(typed: string): string {
  const text: string[] = [];
  for (const sign of typed.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|O?.)/g, '')) {
    if (sign === '\x7f' || sign === '\b') text.pop();
    else if (sign === '\r' || sign === '\n') text.push('\n');
    else if (!/[\p{Cc}\p{Cs}]/u.test(sign)) text.push(sign);
  }
  return text.join('');
}

/**
 * Holds the echo by `stty` while `work` runs: typed text would appear in the output, and may be a password. Always
 * restores the terminal.
 */
export async function withoutEcho<T>({ stdin }: Host, work: () => Promise<T>): Promise<T> {
  const canHold = process.platform !== 'win32' && stdin === process.stdin && stdin.isTTY === true;
  if (!canHold) return work();
  let isHeld = false;
  const hide = (): void => {
    // Without `stty` nothing changes.
    isHeld = stty('-echo') !== undefined;
  };
  const show = (): void => {
    if (isHeld) stty('echo');
    isHeld = false;
  };
  /** Ctrl-Z: restores the terminal for the shell. */
  const suspend = (): void => {
    // While another program has the terminal, there is no echo to turn off again.
    if (isHeld) process.once('SIGCONT', hide);
    show();
    process.kill(process.pid, 'SIGSTOP');
  };
  process.on('exit', show);
  process.on('SIGTSTP', suspend);
  hide();
  try {
    return await work();
  } finally {
    process.off('SIGCONT', hide);
    show();
    process.off('SIGTSTP', suspend);
    process.off('exit', show);
  }
}
