import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { RefusedError, UsageError } from '../errors.ts';
import { parseLine } from '../text/words.ts';
import { temporaryFolder } from './files.ts';
import { startProgram, whyNotStarted } from './program.ts';

export interface Draft {
  readonly text: string;
  /** The file name: its extension tells the editor the format. */
  readonly name: string;
}

/** Signals that end devsh while a program has the terminal. */
const ENDS = ['SIGHUP', 'SIGTERM'] as const;

/** Resolves to the text as `$EDITOR` saved it. Throws RefusedError if it exits with an error (`:cq`): change nothing. */
export async function editInProgram(
  { text, name }: Draft,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const words = editorWords(env);
  const folder = temporaryFolder('edit');
  const removeNow = (): void => rmSync(folder, { recursive: true, force: true });
  const onEnd = (ended: NodeJS.Signals): void => {
    removeNow();
    // Without another listener the default action of the signal must still happen.
    process.off(ended, onEnd);
    if (process.listenerCount(ended) === 0) process.kill(process.pid, ended);
  };
  process.on('exit', removeNow);
  for (const one of ENDS) process.on(one, onEnd);
  try {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
    const status = await runEditor([...words, file], env);
    if (status !== 0) {
      throw new RefusedError(`the editor ended with ${status}: nothing was changed`);
    }
    return await readFile(file, 'utf8');
  } finally {
    removeNow();
    process.off('exit', removeNow);
    for (const one of ENDS) process.off(one, onEnd);
  }
}

/** Its exit status. Ctrl-C is a key of the editor until the user leaves it. Throws a `UsageError` if it cannot be started. */
async function runEditor(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const exit = await once(startProgram(argv, env, { stdio: 'inherit' }), 'exit');
    const [status, killedBy] = exit as [number | null, NodeJS.Signals | null];
    return killedBy === null ? (status ?? 1) : 128 + constants.signals[killedBy];
  } catch (error) {
    const why = whyNotStarted(error);
    const message = `cannot start the editor "${argv[0] ?? ''}" ($VISUAL, $EDITOR): ${why}`;
    throw new UsageError(message, { cause: error });
  } finally {
    process.off('SIGINT', ignore);
  }
}

export function editorWords(env: NodeJS.ProcessEnv): string[] {
  const editor = [env['VISUAL'], env['EDITOR']].find((name) => name?.trim());
  if (editor === undefined) return [process.platform === 'win32' ? 'notepad' : 'vi'];
  const words = programWords(editor);
  if ((words[0] ?? '') === '')
    throw new UsageError(`"${editor}" ($VISUAL, $EDITOR) is not a program`);
  return words;
}

/** `code --wait` is two words, a path with blanks that exists is one, quotes work as at the prompt. */
function programWords(program: string): string[] {
  if (existsSync(program)) return [program];
  return parseLine(program).words.map(({ text }) => text);
}
