import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';
import { killProgram, startProgram, whyNotStarted } from '../../os/program.ts';
import { formatAddress, type Address } from '../address.ts';
import { oneLine } from '../../text/one-line.ts';
import type { JumpHost } from './route.ts';
import { textOf } from '../../output/sentences.ts';

const MAX_STDERR = 4096;
const KILL_AFTER_MS = 1000;

/** ssh ended. The code makes it an ordinary broken connection for a request under way. */
export class JumpLostError extends Error {
  readonly code = 'ECONNRESET';
}

/** Opens a way by `ssh -W`. Fails with JumpLostError, also if ssh cannot be started. */
export function openByJump(jump: JumpHost, address: Address, env: NodeJS.ProcessEnv): Duplex {
  // Own group: Ctrl-C must not break a write under way, and ssh must not prompt on the terminal.
  const { destination, port } = jump;
  const way = ['-W', formatAddress(address), '-o', 'BatchMode=yes'];
  const argv = ['ssh', ...way, ...(port === undefined ? [] : ['-p', String(port)]), destination];
  const child = startProgram(argv, env, { stdio: 'pipe', ownGroup: true, windowsHide: true });
  return new JumpStream(child);
}

/** The two pipes of ssh as one stream; destroying it ends ssh. */
class JumpStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;
  #stderr = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    super();
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) child.stdout.pause();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (this.#stderr.length < MAX_STDERR) this.#stderr += chunk.toString('utf8');
    });
    // The pipe breaks when ssh ends; `#ended` reports why.
    child.stdin.on('error', () => undefined);
    child.once('error', (error: NodeJS.ErrnoException) => {
      const is = error.code === 'ENOENT' ? 'no-program' : 'start';
      const what = textOf({ code: 'jump-lost', is, reason: whyNotStarted(error) });
      this.destroy(new JumpLostError(what, { cause: error }));
    });
    child.once('close', (code, signal) => this.#ended(code, signal));
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#child.stdin.write(chunk, (error) => {
      if (!error) done();
    });
  }

  override _final(done: () => void): void {
    this.#child.stdin.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    endProcess(this.#child);
    done(error);
  }

  #ended(code: number | null, signal: string | null): void {
    if (this.destroyed) return;
    if (code === 0) {
      this.push(null); // the device closed the connection
      return;
    }
    const text = oneLine(this.#stderr);
    const reason = text === '' ? '' : `: ${text}`;
    const how =
      signal === null
        ? { is: 'status' as const, status: code ?? 'unknown' }
        : { is: 'signal' as const, signal };
    this.destroy(new JumpLostError(textOf({ code: 'jump-lost', reason, ...how })));
  }
}

function endProcess(child: ChildProcessWithoutNullStreams): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // Ends a ProxyCommand of ssh, too.
  killProgram(child, true, 'SIGTERM');
  const timer = setTimeout(() => killProgram(child, true, 'SIGKILL'), KILL_AFTER_MS);
  child.once('exit', () => clearTimeout(timer));
}
