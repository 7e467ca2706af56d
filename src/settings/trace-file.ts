import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { DevshError, RefusedError } from '../errors.ts';
import { errorCode, fileError } from '../os/files.ts';

const FIRST_LINE = '{"schema":"devsh-trace/1"}\n';

/** JSON Lines that only the user can read. A failure to write ends the trace, never the work that is traced. */
export class TraceFile {
  readonly #path: string;
  readonly #notify: (notice: string) => void;
  #fd: number | undefined;

  /** Continues a trace of this user. Throws a `RefusedError` for any other file and for symbolic links. */
  constructor(path: string, notify: (notice: string) => void) {
    this.#path = path;
    this.#notify = notify;
    this.#fd = openTrace(path);
    if (fstatSync(this.#fd).size === 0) this.#append(FIRST_LINE);
  }

  /** Synchronous, so that lines keep their order and none is lost at the end. */
  write(facts: object): void {
    this.#append(`${JSON.stringify(facts)}\n`);
  }

  #append(line: string): void {
    if (this.#fd === undefined) return;
    try {
      writeSync(this.#fd, line);
    } catch (error) {
      this.close();
      this.#notify(`the trace ends here: ${fileError('write', this.#path, error).message}`);
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function openTrace(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  // Windows has no O_NOFOLLOW.
  const O_NOFOLLOW = (constants as Partial<typeof constants>).O_NOFOLLOW ?? 0;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o600);
    const stats = fstatSync(fd);
    const isOwn = stats.isFile() && stats.uid === (process.getuid?.() ?? stats.uid);
    const first = Buffer.alloc(FIRST_LINE.length);
    if (isOwn && stats.size > 0) readSync(fd, first, 0, first.length, 0);
    if (!isOwn || (stats.size > 0 && first.toString() !== FIRST_LINE)) throw refusal(path);
    fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    if (error instanceof DevshError) throw error;
    throw errorCode(error) === 'ELOOP' ? refusal(path) : fileError('write', path, error);
  }
}

function refusal(path: string): RefusedError {
  return new RefusedError(
    `${path} is not a trace file of yours: it was not changed; name a new file`,
  );
}
