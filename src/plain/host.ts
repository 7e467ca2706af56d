import type { Readable, Writable } from 'node:stream';
import type { ColorChoice } from '../shell/grammar/options.ts';

/** The process as devsh sees it, so that `main` can run inside a test. */
export interface Host {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where a project's settings are looked for; the folder of the process when absent. */
  readonly cwd?: string | undefined;
  readonly stdin: Readable & {
    readonly isTTY?: boolean;
    /** Gives each key as it is pressed, shown by nobody. */
    setRawMode?(isRaw: boolean): unknown;
  };
  readonly stdout: Writable & TerminalSize;
  readonly stderr: Writable & TerminalSize;
  /** What stands on the terminal is not changed any more: `--plain`. */
  readonly appendsOnly?: boolean;
  /** Calls `listener` for these signals, Ctrl-C and SIGTERM unless told; returns what takes it off again. */
  onStop(listener: (signal: StopSignal) => void, signals?: readonly StopSignal[]): () => void;
}

type StopSignal = 'SIGINT' | 'SIGTERM';

interface TerminalSize {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** The size of a terminal; one that does not know it says 0. */
export function sizeOf({ columns, rows }: TerminalSize): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

/** Whether only text and line ends may be written: nothing moves back, nothing is drawn over. */
export function appendsOnly({ appendsOnly: isAsked, env }: Host): boolean {
  return isAsked === true || env['TERM'] === 'dumb' || env['INK_SCREEN_READER'] === 'true';
}

/**
 * What was asked of colours, the first that says something: --color, NO_COLOR, FORCE_COLOR,
 * CLICOLOR_FORCE, CLICOLOR, TERM=dumb. Else there are colours where stdout is a terminal.
 */
export function wantsColor(host: Host, choice: ColorChoice): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', CLICOLOR, CLICOLOR_FORCE = '', TERM } = host.env;
  if (choice !== 'auto') return choice === 'always';
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  if (!['', '0'].includes(CLICOLOR_FORCE)) return true;
  return CLICOLOR !== '0' && TERM !== 'dumb' && host.stdout.isTTY === true;
}

/** A process group that nobody can continue is never stopped: then this much later it goes on. */
const STOP_GRACE_MS = 100;

/**
 * Ctrl-Z: hands the terminal, as it was, to the shell that started devsh. Calls `goOn` after `fg`, and
 * soon where no shell could say that: it makes the terminal raw again, or a secret would be shown.
 */
export function stopForShell(stdin: Host['stdin'], goOn: () => void): void {
  stdin.setRawMode?.(false);
  const onContinue = (): void => {
    clearTimeout(timer);
    process.off('SIGCONT', onContinue);
    goOn();
  };
  process.on('SIGCONT', onContinue);
  process.kill(0, 'SIGTSTP');
  const timer = setTimeout(onContinue, STOP_GRACE_MS);
}
