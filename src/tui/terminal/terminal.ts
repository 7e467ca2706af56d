import { setImmediate } from 'node:timers/promises';
import { KeyReader, type KeyEvent } from './keys.ts';
import { ENTER_MODES, KEEP_TITLE, LEAVE_MODES, RESTORE_TITLE, titleBytes } from './modes.ts';
import { Painter, type CursorPosition, type Size } from './painter.ts';
import { WaysOut, type ProcessLike } from './ways-out.ts';

export type TerminalInput = Pick<
  NodeJS.ReadStream,
  'on' | 'off' | 'resume' | 'pause' | 'setRawMode'
>;
export type TerminalOutput = Pick<NodeJS.WriteStream, 'on' | 'off' | 'write' | 'columns' | 'rows'>;

/** The last frame asked for; kept, because a resize or a return from the background shows it again. */
interface Frame {
  readonly text: string;
  readonly cursor: CursorPosition | undefined;
}

/**
 * `left`: the modes are as they were found. `entered`: ours. `stopped`: handed back for Ctrl-Z.
 * `lent`: handed back while another program (an editor, a pager) has the terminal.
 */
type Hold = 'left' | 'entered' | 'stopped' | 'lent';

const FRAME_MS = 1000 / 60;
/** A process group that nobody can continue is never stopped: then this much later we come back. */
const STOP_GRACE_MS = 200;

/** Owns every mode of the terminal, and gives them all back on every way out. */
export class Terminal {
  readonly painter: Painter;
  readonly #stdin: TerminalInput;
  readonly #stdout: TerminalOutput;
  readonly #process: ProcessLike;
  readonly #keys: KeyReader;
  readonly #waysOut: WaysOut;
  readonly #keyListeners = new Set<(event: KeyEvent) => void>();
  readonly #resizeListeners = new Set<(size: Size) => void>();
  #hold: Hold = 'left';
  #title: string | undefined;
  #frame: Frame | undefined;
  #paintTimer: NodeJS.Timeout | undefined;
  #stopTimer: NodeJS.Timeout | undefined;
  /** When the last frame was painted, and the one before it. */
  #paintedAt: readonly [last: number, before: number] = [-Infinity, -Infinity];
  /** The present signal of the window has been told of as a new size. */
  #isResized = false;

  /** @param cleanUp called when a signal or a bug ends the program, after the terminal was given back */
  constructor(
    stdin: TerminalInput,
    stdout: TerminalOutput,
    env: Readonly<Record<string, string | undefined>>,
    processLike: ProcessLike,
    cleanUp: () => void = () => undefined,
  ) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#process = processLike;
    this.painter = new Painter(
      (bytes) => {
        this.#write(bytes);
      },
      () => this.size,
    );
    this.#keys = new KeyReader(
      stdin,
      (event) => {
        for (const listener of this.#keyListeners) listener(event);
      },
      // Over a network the parts of one sequence arrive further apart.
      { escapeTimeoutMs: env['SSH_CONNECTION'] === undefined ? 50 : 100 },
    );
    this.#waysOut = new WaysOut(processLike, {
      restore: () => {
        this.restore();
      },
      cleanUp,
      // The keys that send these belong to the program that has the terminal.
      ignoresKeys: () => this.#hold === 'lent',
    });
  }

  get size(): Size {
    // A pty whose size nobody has set says 0.
    return { columns: this.#stdout.columns || 80, rows: this.#stdout.rows || 24 };
  }

  /** Takes the terminal. Throws when stdin is no terminal. */
  enter(): void {
    if (this.#hold !== 'left') return;
    this.#waysOut.guard();
    this.#process.on('SIGCONT', this.#onContinue);
    this.#stdout.on('resize', this.#onResize);
    this.#process.on('SIGWINCH', this.#onWindow);
    for (const stream of [this.#stdin, this.#stdout]) {
      stream.off('error', this.#onLost);
      stream.on('error', this.#onLost);
    }
    this.#stdin.on('end', this.#onLost);
    this.#take();
  }

  /** Gives everything back, at once. Does nothing when there is nothing to give back. */
  restore(): void {
    if (this.#hold === 'left') return;
    this.#giveBack('left');
    this.#waysOut.unguard();
    this.#process.off('SIGCONT', this.#onContinue);
    this.#stdout.off('resize', this.#onResize);
    this.#process.off('SIGWINCH', this.#onWindow);
    this.#stdin.off('end', this.#onLost);
    // `error` stays heard: what was just asked of a lost terminal fails later.
  }

  /** Ctrl-Z: hands the terminal to the shell that started us; comes back, repainted, with `fg`. */
  suspend(): void {
    if (this.#hold !== 'entered') return;
    this.#giveBack('stopped');
    this.#process.kill(0, 'SIGTSTP');
    this.#stopTimer = setTimeout(this.#onContinue, STOP_GRACE_MS);
  }

  /** Hands the terminal to another program (`$EDITOR`, a pager) for as long as `work` takes. */
  async runOutside<T>(work: () => Promise<T>): Promise<T> {
    if (this.#hold !== 'entered') return work();
    this.#giveBack('lent');
    try {
      return await work();
    } finally {
      // A Ctrl-C that ended the other program was sent to us, too, and may be heard after its end.
      await setImmediate();
      // Somebody may have ended it all in the meantime; only what was lent is taken back.
      if (this.#isLent()) this.#take();
    }
  }

  /**
   * Shows a frame: at once when idle, and otherwise the last one asked for, 60 times a second. Two may follow
   * each other at once: a letter that is typed, and what it finds.
   */
  paint(frame: string, cursor?: CursorPosition): void {
    this.#frame = { text: frame, cursor };
    if (this.#hold !== 'entered' || this.#paintTimer !== undefined) return;
    const wait = this.#paintedAt[1] + 2 * FRAME_MS - performance.now();
    if (wait <= 0) this.#paintNow();
    else this.#paintTimer = setTimeout(this.#paintNow, wait);
  }

  /** The title of the window, until `restore()`. */
  setTitle(title: string): void {
    this.#title = title;
    if (this.#hold === 'entered') this.#write(titleBytes(title));
  }

  /** Calls back for each key; returns the way to stop that. */
  onKey(callback: (event: KeyEvent) => void): () => void {
    this.#keyListeners.add(callback);
    return () => this.#keyListeners.delete(callback);
  }

  /** Calls back after each change of size; returns the way to stop that. */
  onResize(callback: (size: Size) => void): () => void {
    this.#resizeListeners.add(callback);
    return () => this.#resizeListeners.delete(callback);
  }

  #take(): void {
    this.#hold = 'entered';
    // Stopped from outside, the mode was changed behind Node's back: it only acts on a change.
    this.#stdin.setRawMode(false);
    this.#stdin.setRawMode(true);
    this.#write(KEEP_TITLE + ENTER_MODES);
    if (this.#title !== undefined) this.#write(titleBytes(this.#title));
    this.#keys.start();
    this.#repaint();
  }

  #giveBack(next: Exclude<Hold, 'entered'>): void {
    const had = this.#hold === 'entered';
    this.#hold = next;
    clearTimeout(this.#paintTimer);
    clearTimeout(this.#stopTimer);
    this.#paintTimer = undefined;
    if (!had) return;
    this.#keys.stop();
    this.#write(LEAVE_MODES + RESTORE_TITLE);
    try {
      this.#stdin.setRawMode(false);
    } catch {
      // The terminal is gone, and its mode with it.
    }
  }

  #isLent(): boolean {
    return this.#hold === 'lent';
  }

  #repaint(): void {
    this.painter.invalidate();
    if (this.#frame !== undefined) this.#paintNow();
  }

  readonly #paintNow = (): void => {
    clearTimeout(this.#paintTimer);
    this.#paintTimer = undefined;
    if (this.#frame === undefined || this.#hold !== 'entered') return;
    this.#paintedAt = [performance.now(), this.#paintedAt[0]];
    this.painter.paint(this.#frame.text, this.#frame.cursor);
  };

  #write(bytes: string): void {
    try {
      this.#stdout.write(bytes);
    } catch {
      // The terminal is gone; the signal that says so is on its way.
    }
  }

  /**
   * Resized and back again before anybody looked, the terminal has the size that it had, and has lost
   * what was out of sight meanwhile: Node then tells of no resize.
   */
  readonly #onWindow = (): void => {
    if (!this.#isResized) this.#onResize();
    this.#isResized = false;
  };

  readonly #onResize = (): void => {
    this.#isResized = true;
    this.painter.invalidate();
    for (const listener of this.#resizeListeners) listener(this.size);
    if (this.#hold === 'entered') this.#repaint();
  };

  readonly #onContinue = (): void => {
    clearTimeout(this.#stopTimer);
    if (this.#hold === 'stopped') {
      this.#take();
    } else if (this.#hold === 'entered') {
      // Stopped by somebody else, who could not know what to give back.
      this.#keys.stop();
      this.#write(RESTORE_TITLE);
      this.#take();
    }
  };

  /** The window was closed: end as its signal would. */
  readonly #onLost = (): void => {
    if (this.#hold === 'left') return;
    this.restore();
    this.#process.kill(this.#process.pid, 'SIGHUP');
  };
}
