import { StringDecoder } from 'node:string_decoder';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { stty } from '../os/terminal.ts';
import type { Host } from './host.ts';

/** What waits in the terminal is here by then. */
const ARRIVAL_MS = 20;
/** Who is typing has not read the question yet: so long there must have been no key. */
const QUIET_MS = 300;

const CTRL_C = '\x03';

/** What was typed before a question was shown, kept for the next prompt: it answers no question. */
export class TypedAhead {
  #text = '';

  keep(text: string): void {
    this.#text += text;
  }

  /** It may be a password that came too early, which no prompt must show. True when there was something. */
  forget(): boolean {
    return this.take() !== '';
  }

  /** What the next prompt begins with. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/**
 * All that was typed until now, as text with line ends; waits until nobody types any more. Resolves to
 * `undefined` for Ctrl-C and at the end of the input. Leaves the terminal raw for the question.
 */
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
    // A process that was held up hears its timers before its input.
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

/** Without what only moves or means something to a terminal; what was erased is gone. */
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
 * Keeps the terminal from showing what is typed while a command runs: it would stand in the middle of the
 * output, and might be a password that came too early. It waits in the terminal, and shows at the next
 * prompt. By `stty`, as reading it ourselves would take it from programs that ask on the same terminal.
 */
export class HeldEcho {
  readonly #canHold: boolean;
  #isHeld = false;

  constructor({ stdin }: Host) {
    this.#canHold = process.platform !== 'win32' && stdin === process.stdin && stdin.isTTY === true;
  }

  /** Runs `work` with nothing shown of what is typed; gives the terminal back however that ends. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#canHold) return work();
    process.on('exit', this.#show);
    process.on('SIGTSTP', this.#suspend);
    this.#hide();
    try {
      return await work();
    } finally {
      process.off('SIGCONT', this.#hide);
      this.#show();
      process.off('SIGTSTP', this.#suspend);
      process.off('exit', this.#show);
    }
  }

  /** Gives the terminal to another program in the meantime, as it was. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    const wasHeld = this.#isHeld;
    this.#show();
    try {
      return await work();
    } finally {
      if (wasHeld) this.#hide();
    }
  }

  readonly #hide = (): void => {
    // Where there is no such program all is as it was.
    this.#isHeld = stty('-echo') !== undefined;
  };

  readonly #show = (): void => {
    if (this.#isHeld) stty('echo');
    this.#isHeld = false;
  };

  /** Ctrl-Z: the shell gets the terminal as it was. */
  readonly #suspend = (): void => {
    // Lent to another program, there is nothing to hide again.
    if (this.#isHeld) process.once('SIGCONT', this.#hide);
    this.#show();
    process.kill(process.pid, 'SIGSTOP');
  };
}
