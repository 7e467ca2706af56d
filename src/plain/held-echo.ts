import type { Host } from './host.ts';

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
    this.#isHeld = stty('-echo');
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

/** False where there is no such program: then all is as it was. */
function stty(mode: 'echo' | '-echo'): boolean {
  // Loaded only now: a prompt on a terminal alone needs it.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  return spawnSync('stty', [mode], { stdio: ['inherit', 'ignore', 'ignore'] }).status === 0;
}
