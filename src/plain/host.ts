import type { Readable, Writable } from 'node:stream';
import type { ColorChoice } from '../shell/grammar/options.ts';

/** The process as devsh uses it, so that `main` can run inside a test. */
export interface Host {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The folder to search for a project's settings, upwards; absent: the folder of the process. */
  readonly cwd?: string | undefined;
  readonly stdin: Readable & {
    readonly isTTY?: boolean;
    /** Delivers each key at once, without echo. */
    setRawMode?(isRaw: boolean): unknown;
  };
  readonly stdout: Writable & TerminalSize;
  readonly stderr: Writable & TerminalSize;
  /** Never overwrites text on the terminal: `--plain`. */
  readonly appendsOnly?: boolean;
  /** Calls `listener` for these signals, by default Ctrl-C and SIGTERM; returns a function that removes it. */
  onStop(listener: (signal: StopSignal) => void, signals?: readonly StopSignal[]): () => void;
}

type StopSignal = 'SIGINT' | 'SIGTERM';

interface TerminalSize {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** The size of a terminal, with defaults for one that reports 0. */
export function sizeOf({ columns, rows }: TerminalSize): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

/** Whether only text and line ends may be written, without moving the cursor back. */
export function appendsOnly({ appendsOnly: isAsked, env }: Host): boolean {
  return isAsked === true || env['TERM'] === 'dumb' || env['INK_SCREEN_READER'] === 'true';
}

/** The first set one decides: --color, NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM; else the terminal. */
export function wantsColor(host: Host, choice: ColorChoice): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', CLICOLOR, CLICOLOR_FORCE = '', TERM } = host.env;
  if (choice !== 'auto') return choice === 'always';
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  if (!['', '0'].includes(CLICOLOR_FORCE)) return true;
  return CLICOLOR !== '0' && TERM !== 'dumb' && host.stdout.isTTY === true;
}

/** Without a job-control shell the process group does not stop: it continues after this time. */
const STOP_GRACE_MS = 100;

/** Ctrl-Z: restores the terminal and stops. `goOn` makes it raw again after `fg`, or a secret would be echoed. */
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
