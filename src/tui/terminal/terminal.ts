import { setImmediate as turn } from 'node:timers/promises';
import { type KeyEvent, KeyReader } from './keys.ts';
import { type CursorPosition, Painter, type Size } from './painter.ts';

type TerminalInput = Pick<NodeJS.ReadStream, 'on' | 'off' | 'resume' | 'pause' | 'setRawMode'>;
type TerminalOutput = Pick<NodeJS.WriteStream, 'on' | 'off' | 'write' | 'columns' | 'rows'>;

/** The last requested frame. It is shown again after a resize, and after a return from the background. */
interface Frame {
  readonly text: string;
  readonly cursor: CursorPosition | undefined;
}

/** `stopped`: restored for Ctrl-Z. `shared`: restored while an editor or a pager has the terminal. */
type TerminalMode = 'left' | 'entered' | 'stopped' | 'shared';

const FRAME_MS = 1000 / 60;
/** The system never stops an orphaned process group. Then devsh returns after this time. */
const STOP_GRACE_MS = 200;

/** Owns every mode of the terminal, and restores them on every exit. */
export class Terminal {
  readonly painter: Painter;
  readonly #stdin: TerminalInput;
  readonly #stdout: TerminalOutput;
  readonly #process: ProcessLike;
  readonly #keys: KeyReader;
  readonly #cleanUp: () => void;
  #endGuard = (): void => undefined;
  #onKey: ((event: KeyEvent) => void) | undefined;
  #onBackground: ((color: string) => void) | undefined;
  readonly #resizeListeners = new Set<(size: Size) => void>();
  #mode: TerminalMode = 'left';
  #title: string | undefined;
  #frame: Frame | undefined;
  #paintTimer: NodeJS.Timeout | undefined;
  #stopTimer: NodeJS.Timeout | undefined;
  /** When the last frame was painted, and the one before it. */
  #paintedAt: readonly [last: number, before: number] = [-Infinity, -Infinity];
  /** Whether the current window signal was already reported as a resize. */
  #isResized = false;

  /** @param cleanUp called when a signal or a bug ends the program, after the terminal is restored */
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
      (bytes) => this.#write(bytes),
      () => this.size,
    );
    this.#keys = new KeyReader(
      stdin,
      (event) => this.#onKey?.(event),
      // Over a network, the parts of a sequence arrive at longer intervals.
      {
        escapeTimeoutMs: env['SSH_CONNECTION'] === undefined ? 50 : 100,
        onBackground: (color) => this.#onBackground?.(color),
      },
    );
    this.#cleanUp = cleanUp;
  }

  get size(): Size {
    // A pty without a size reports 0.
    return { columns: this.#stdout.columns || 80, rows: this.#stdout.rows || 24 };
  }

  /** Sets our modes. Throws if stdin is no terminal. */
  enter(): void {
    if (this.#mode !== 'left') return;
    this.#endGuard = guardExit(this.#process, {
      restore: () => this.restore(),
      cleanUp: this.#cleanUp,
      // Signals from keys are for the program that has the terminal.
      ignoresKeys: () => this.#mode === 'shared',
    });
    this.#process.on('SIGCONT', this.#onContinue);
    this.#stdout.on('resize', this.#onResize);
    this.#process.on('SIGWINCH', this.#onWindow);
    for (const stream of [this.#stdin, this.#stdout]) {
      stream.off('error', this.#onLost);
      stream.on('error', this.#onLost);
    }
    this.#stdin.on('end', this.#onLost);
    this.#enterModes();
  }

  /** Restores everything synchronously. Does nothing if there is nothing to restore. */
  restore(): void {
    if (this.#mode === 'left') return;
    this.#leaveModes('left');
    this.#endGuard();
    this.#process.off('SIGCONT', this.#onContinue);
    this.#stdout.off('resize', this.#onResize);
    this.#process.off('SIGWINCH', this.#onWindow);
    this.#stdin.off('end', this.#onLost);
    // `error` stays handled: pending operations on a lost terminal fail later.
  }

  /** Ctrl-Z: returns the terminal to the parent shell; `fg` comes back with a repaint. */
  suspend(): void {
    if (this.#mode !== 'entered') return;
    this.#leaveModes('stopped');
    this.#process.kill(0, 'SIGTSTP');
    this.#stopTimer = setTimeout(this.#onContinue, STOP_GRACE_MS);
  }

  /** Gives the terminal to another program (`$EDITOR`, a pager) while `work` runs. */
  async runOutside<T>(work: () => Promise<T>): Promise<T> {
    if (this.#mode !== 'entered') return work();
    this.#leaveModes('shared');
    try {
      return await work();
    } finally {
      // A Ctrl-C that ended the other program is also sent to us, maybe after its end.
      await turn();
      // The session may have ended meanwhile.
      if (this.#isShared()) this.#enterModes();
    }
  }

  /** Paints a frame at once when idle, else the latest one, at most 60 times a second. Two may follow directly. */
  paint(frame: string, cursor?: CursorPosition): void {
    this.#frame = { text: frame, cursor };
    if (this.#mode !== 'entered' || this.#paintTimer !== undefined) return;
    const wait = this.#paintedAt[1] + 2 * FRAME_MS - performance.now();
    if (wait <= 0) this.#paintNow();
    else this.#paintTimer = setTimeout(this.#paintNow, wait);
  }

  setTitle(title: string): void {
    this.#title = title;
    if (this.#mode === 'entered') this.#write(titleBytes(title));
  }

  /** Requests the background colour, as `rgb:RRRR/GGGG/BBBB`. Not every terminal responds. */
  askBackground(callback: (color: string) => void): void {
    this.#onBackground = callback;
    if (this.#mode === 'entered') this.#write(ASK_BACKGROUND);
  }

  onKey(callback: (event: KeyEvent) => void): void {
    this.#onKey = callback;
  }

  /** Calls back after each change of size; returns the function that stops it. */
  onResize(callback: (size: Size) => void): () => void {
    this.#resizeListeners.add(callback);
    return () => this.#resizeListeners.delete(callback);
  }

  #enterModes(): void {
    this.#mode = 'entered';
    // Node only acts on a change, and another process may have changed the mode.
    this.#stdin.setRawMode(false);
    this.#stdin.setRawMode(true);
    this.#write(KEEP_TITLE + ENTER_MODES);
    if (this.#title !== undefined) this.#write(titleBytes(this.#title));
    this.#keys.start();
    this.#repaint();
  }

  #leaveModes(next: Exclude<TerminalMode, 'entered'>): void {
    const had = this.#mode === 'entered';
    this.#mode = next;
    clearTimeout(this.#paintTimer);
    clearTimeout(this.#stopTimer);
    this.#paintTimer = undefined;
    if (!had) return;
    this.#keys.stop();
    this.#write(LEAVE_MODES + RESTORE_TITLE);
    try {
      this.#stdin.setRawMode(false);
    } catch {
      // The terminal is gone, so it has no mode to restore.
    }
  }

  #isShared(): boolean {
    return this.#mode === 'shared';
  }

  #repaint(): void {
    this.painter.invalidate();
    if (this.#frame !== undefined) this.#paintNow();
  }

  readonly #paintNow = (): void => {
    clearTimeout(this.#paintTimer);
    this.#paintTimer = undefined;
    if (this.#frame === undefined || this.#mode !== 'entered') return;
    this.#paintedAt = [performance.now(), this.#paintedAt[0]];
    this.painter.paint(this.#frame.text, this.#frame.cursor);
  };

  #write(bytes: string): void {
    try {
      this.#stdout.write(bytes);
    } catch {
      // The terminal is gone. A signal will follow.
    }
  }

  /** After two resizes at once, the terminal has its old size but no content, and Node reports no resize. */
  readonly #onWindow = (): void => {
    if (!this.#isResized) this.#onResize();
    this.#isResized = false;
  };

  readonly #onResize = (): void => {
    this.#isResized = true;
    this.painter.invalidate();
    for (const listener of this.#resizeListeners) listener(this.size);
    if (this.#mode === 'entered') this.#repaint();
  };

  readonly #onContinue = (): void => {
    clearTimeout(this.#stopTimer);
    if (this.#mode === 'stopped') {
      this.#enterModes();
    } else if (this.#mode === 'entered') {
      // Another process has stopped devsh, and could not restore the modes.
      this.#keys.stop();
      this.#write(RESTORE_TITLE);
      this.#enterModes();
    }
  };

  /** Ends the program after the window was closed, as the signal would. */
  readonly #onLost = (): void => {
    if (this.#mode === 'left') return;
    this.restore();
    this.#process.kill(this.#process.pid, 'SIGHUP');
  };
}

/* The modes that devsh changes. Names and numbers as in xterm's ctlseqs. */

const ALTERNATE_SCREEN = 1049;
const BRACKETED_PASTE = 2004;
const CURSOR_KEYS = 1;
const CURSOR = 25;
const AUTO_WRAP = 7;
const SYNCHRONIZED = 2026;

const on = (mode: number): string => `\x1b[?${mode}h`;
const off = (mode: number): string => `\x1b[?${mode}l`;

const NUMERIC_KEYPAD = '\x1b>';
const PLAIN_TEXT = '\x1b[m';
const KEEP_TITLE = '\x1b[22;2t';
const RESTORE_TITLE = '\x1b[23;2t';

const ASK_BACKGROUND = '\x1b]11;?\x1b\\';

/** Sets the alternate screen, bracketed paste, plain cursor keys and keypad, and no cursor. May be sent twice. */
const ENTER_MODES =
  on(ALTERNATE_SCREEN) + on(BRACKETED_PASTE) + off(CURSOR_KEYS) + NUMERIC_KEYPAD + off(CURSOR);

/** Resets all modes, also those of an interrupted paint. The alternate screen comes last. */
const LEAVE_MODES =
  off(SYNCHRONIZED) +
  PLAIN_TEXT +
  on(AUTO_WRAP) +
  off(BRACKETED_PASTE) +
  off(CURSOR_KEYS) +
  NUMERIC_KEYPAD +
  on(CURSOR) +
  off(ALTERNATE_SCREEN);

/** Sets the window title; `RESTORE_TITLE` restores the previous one. */
function titleBytes(title: string): string {
  return `\x1b]2;${title.replace(/\p{Cc}/gu, '')}\x1b\\`;
}

/** The part of `process` for ending the program. */
type ProcessLike = Pick<NodeJS.Process, 'pid' | 'kill' | 'exit' | 'on' | 'off'> & {
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>;
};

interface ExitActions {
  /** Restores the terminal; may be called again. */
  readonly restore: () => void;
  /** Removes temporary files, synchronously. */
  readonly cleanUp: () => void;
  /** Whether Ctrl-C and Ctrl-\ are for another program now. */
  readonly ignoresKeys: () => boolean;
}

/** The signals that terminal keys send to every foreground program. */
const KEY_SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const SIGNALS = [...KEY_SIGNALS, 'SIGTERM', 'SIGHUP'] as const;

/** Exit status for a bug in devsh (README, "Scripts"). */
const BUG = 70;

/** Restores the terminal however the program ends, except by SIGKILL. Returns the function that stops this. */
function guardExit(main: ProcessLike, { restore, cleanUp, ignoresKeys }: ExitActions): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    if (KEY_SIGNALS.some((one) => one === signal) && ignoresKeys()) return;
    restore();
    cleanUp();
    // Sent again without our listener, the signal ends the process, and its parent sees which one it
    // was. `process.exit()` would hide that. Deferred, so that other listeners of this signal run first.
    setImmediate(() => main.kill(main.pid, signal));
  };
  const onBug = (error: unknown): void => {
    restore();
    cleanUp();
    // Only the stack: other properties of an error may hold secrets. Printed after leaving the
    // alternate screen, which would hide it.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    main.stderr.write(`devsh: this is a bug in devsh\n${withoutControls(text)}\n`);
    main.exit(BUG);
  };
  for (const signal of SIGNALS) main.on(signal, onSignal);
  main.on('uncaughtException', onBug).on('unhandledRejection', onBug).on('exit', restore);
  return () => {
    for (const signal of SIGNALS) main.off(signal, onSignal);
    main.off('uncaughtException', onBug).off('unhandledRejection', onBug).off('exit', restore);
  };
}

function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => (character === '\n' ? '\n' : '\ufffd'));
}
