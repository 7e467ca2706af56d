import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from './process.ts';
import { RefusedError, UsageError } from '../errors.ts';
import { parseLine } from '../text/words.ts';

/** A text that the user is to change. */
export interface Draft {
  readonly text: string;
  /** The name of the file: its ending tells the editor what it is. */
  readonly name: string;
}

const ENDS = ['SIGHUP', 'SIGTERM'] as const;

/**
 * Lets the user change a text in `$VISUAL` or `$EDITOR`, which gets the terminal; resolves to what was
 * saved. The file lies in a folder that only the user can enter, and both are gone afterwards, also
 * when a signal ends devsh. Throws a `UsageError` when the editor cannot be started, and a
 * `RefusedError` when it ends with an error (`:cq`), which means: leave it.
 */
export async function editInProgram(
  { text, name }: Draft,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<string> {
  const words = editorWords(env);
  const folder = await mkdtemp(join(tmpdir(), 'devsh-edit-'));
  const removeNow = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  const onEnd = (ended: NodeJS.Signals): void => {
    removeNow();
    // With nobody else listening it is for us to end as it wants.
    process.off(ended, onEnd);
    if (process.listenerCount(ended) === 0) process.kill(process.pid, ended);
  };
  process.on('exit', removeNow);
  for (const one of ENDS) process.on(one, onEnd);
  try {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
    await run([...words, file], childEnvironment(env), signal);
    return await readFile(file, 'utf8');
  } finally {
    removeNow();
    process.off('exit', removeNow);
    for (const one of ENDS) process.off(one, onEnd);
  }
}

export function editorWords(env: NodeJS.ProcessEnv): string[] {
  const editor = [env['VISUAL'], env['EDITOR']].find((name) => name?.trim());
  if (editor === undefined) return [process.platform === 'win32' ? 'notepad' : 'vi'];
  const words = programWords(editor);
  if ((words[0] ?? '') === '') throw new UsageError(`"${editor}" ($VISUAL, $EDITOR) is no program`);
  return words;
}

/** `code --wait` is two words, a path with blanks that exists is one, quotes work as at the prompt. */
export function programWords(program: string): string[] {
  if (existsSync(program)) return [program];
  return parseLine(program).words.map(({ text }) => text);
}

function run(
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Ctrl-C is a key of the editor as long as it has the terminal.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    // Loaded only now: most commands start no program.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = spawn(command, args, { stdio: 'inherit', env });
    const stop = (): void => void child.kill();
    signal?.addEventListener('abort', stop);
    const end = (): void => {
      process.off('SIGINT', ignore);
      signal?.removeEventListener('abort', stop);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      end();
      const why = error.code === 'ENOENT' ? 'there is no such program' : (error.code ?? 'unknown');
      const text = `cannot start the editor "${command}" ($VISUAL, $EDITOR): ${why}`;
      reject(new UsageError(text, { cause: error }));
    });
    child.on('exit', (status, killedBy) => {
      end();
      if (status === 0) resolve();
      else {
        const code = killedBy === null ? (status ?? 1) : 128 + constants.signals[killedBy];
        reject(new RefusedError(`the editor ended with ${code}: nothing was changed`));
      }
    });
  });
}
