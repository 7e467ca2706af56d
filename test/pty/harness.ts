import { spawn } from '@lydell/node-pty';
import xterm, { type IModes, type Terminal as Emulator } from '@xterm/headless';

export interface PtyOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** The environment of the program, which inherits only PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly cols?: number;
  readonly rows?: number;
}

export interface PtyExit {
  readonly code: number;
  /** The number of the signal that ended the program; 0: none. */
  readonly signal: number;
}

/** Colours are palette numbers or 0xRRGGBB; -1: the default colour. */
export interface CellStyle {
  readonly text: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly foreground: number;
  readonly background: number;
}

/** A program in a real pty, its screen read through a terminal emulator. */
export interface PtyProgram {
  readonly pid: number;
  /** The visible rows, without trailing blanks. */
  screen(): string[];
  /** Row and column from 0. */
  readonly cursor: { readonly row: number; readonly column: number; readonly isShown: boolean };
  /** `alternate` while a full-screen program runs. */
  readonly buffer: 'normal' | 'alternate';
  readonly modes: IModes;
  /** Waits until the screen contains a text or pattern, or until the function returns true. */
  waitFor(
    wanted: string | RegExp | ((screen: string[]) => boolean),
    timeoutMs?: number,
  ): Promise<void>;
  type(text: string): void;
  /** Presses a key: `enter`, `ctrl-c`, `up`, `shift-tab`, `alt-b`, `f1`... */
  press(name: string): void;
  /** Pastes like a terminal: bracketed if the program requested that. */
  paste(text: string): void;
  resize(cols: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  readonly exit: Promise<PtyExit>;
  /** All output. */
  raw(): string;
  cellStyle(row: number, column: number): CellStyle | undefined;
  /** Kills the program if it still runs, and frees the pty. For `onTestFinished`. */
  close(): Promise<void>;
}

/** After this time without output an ended program has no more. */
const LAST_OUTPUT_MS = 50;

export function startInPty(options: PtyOptions): PtyProgram {
  const { cols = 80, rows = 24 } = options;
  const emulator = new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 1000 });
  const cursorMode = watchCursorMode(emulator);
  const pty = spawn(options.command, [...(options.args ?? [])], {
    // It would override TERM.
    name: options.env?.['TERM'] ?? 'xterm-256color',
    cols,
    rows,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      ...options.env,
    },
  });

  let written = '';
  let hasEnded = false;
  /** The program has ended, and all its output is on the screen. */
  let isOver = false;
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  let lastOutput: NodeJS.Timeout | undefined;
  pty.onData((data) => {
    written += data;
    emulator.write(data, notify);
    lastOutput?.refresh();
  });
  // Replies to the queries of the program.
  emulator.onData((answer) => {
    if (!hasEnded) pty.write(answer);
  });
  const exit = new Promise<PtyExit>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      const end = (): void => {
        isOver = true;
        resolve({ code: exitCode, signal: signal ?? 0 });
        notify();
      };
      // The last output may come after the exit. An empty write completes after all before it has been drawn.
      lastOutput = setTimeout(() => {
        emulator.write('', end);
      }, LAST_OUTPUT_MS);
    });
  });

  const screen = (): string[] => {
    const { active } = emulator.buffer;
    return Array.from({ length: emulator.rows }, (_, row) => {
      const line = active.getLine(active.baseY + row)?.translateToString(true, 0, emulator.cols);
      // A narrower alternate screen keeps cells that are not visible: blanks before them stay.
      return line?.length === emulator.cols ? line.trimEnd() : (line ?? '');
    });
  };

  return {
    pid: pty.pid,
    screen,
    get cursor() {
      const { cursorX, cursorY } = emulator.buffer.active;
      return { row: cursorY, column: cursorX, isShown: cursorMode.isShown };
    },
    get buffer() {
      return emulator.buffer.active.type;
    },
    get modes() {
      return emulator.modes;
    },
    waitFor(wanted, timeoutMs = 20_000) {
      const isThere = (): boolean => {
        const lines = screen();
        if (typeof wanted === 'function') return wanted(lines);
        const text = lines.join('\n');
        return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
      };
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          watchers.delete(check);
          clearTimeout(timer);
        };
        const fail = (reason: string): void => {
          stop();
          const frame = screen().map((line) => `  |${line}`);
          reject(new Error([`${reason}: ${String(wanted)}`, ...frame].join('\n')));
        };
        const check = (): void => {
          if (isThere()) {
            stop();
            resolve();
          } else if (isOver) {
            fail('the program ended before the screen showed');
          }
        };
        const timer = setTimeout(() => {
          fail(`not on the screen after ${timeoutMs} ms`);
        }, timeoutMs);
        watchers.add(check);
        check();
      });
    },
    type(text) {
      pty.write(text);
    },
    press(name) {
      pty.write(keyBytes(name));
    },
    paste(text) {
      const bytes = text.replaceAll('\n', '\r');
      pty.write(emulator.modes.bracketedPasteMode ? `\x1b[200~${bytes}\x1b[201~` : bytes);
    },
    resize(newCols, newRows) {
      emulator.resize(newCols, newRows);
      pty.resize(newCols, newRows);
    },
    kill(signal) {
      process.kill(pty.pid, signal);
    },
    exit,
    raw: () => written,
    cellStyle(row, column) {
      const { active } = emulator.buffer;
      const cell = active.getLine(active.baseY + row)?.getCell(column);
      return (
        cell && {
          text: cell.getChars(),
          bold: cell.isBold() !== 0,
          dim: cell.isDim() !== 0,
          italic: cell.isItalic() !== 0,
          underline: cell.isUnderline() !== 0,
          inverse: cell.isInverse() !== 0,
          foreground: cell.isFgDefault() ? -1 : cell.getFgColor(),
          background: cell.isBgDefault() ? -1 : cell.getBgColor(),
        }
      );
    },
    async close() {
      if (!hasEnded) pty.kill('SIGKILL');
      await exit;
      emulator.dispose();
    },
  };
}

/** The emulator does not expose whether the cursor is shown. */
function watchCursorMode(emulator: Emulator): { isShown: boolean } {
  const state = { isShown: true };
  for (const [final, isShown] of [
    ['h', true],
    ['l', false],
  ] as const) {
    emulator.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
      if (params.includes(25)) state.isShown = isShown;
      return false;
    });
  }
  return state;
}

const KEYS: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  'shift-tab': '\x1b[Z',
  escape: '\x1b',
  backspace: '\x7f',
  delete: '\x1b[3~',
  space: ' ',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
  pageup: '\x1b[5~',
  pagedown: '\x1b[6~',
  'ctrl-left': '\x1b[1;5D',
  'ctrl-right': '\x1b[1;5C',
  'ctrl-_': '\x1f',
  f1: '\x1bOP',
  f2: '\x1bOQ',
  f3: '\x1bOR',
  f5: '\x1b[15~',
  f9: '\x1b[20~',
};

function keyBytes(name: string): string {
  const known = KEYS[name];
  if (known !== undefined) return known;
  if (/^ctrl-[a-z]$/.test(name)) return String.fromCharCode(name.charCodeAt(5) - 0x60);
  if (name.startsWith('alt-')) return '\x1b' + keyBytes(name.slice(4));
  if (name.length === 1) return name;
  throw new Error(`no such key: ${name}`);
}
