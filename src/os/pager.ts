import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UsageError } from '../errors.ts';
import { ENDS, programWords } from './editor.ts';
import { runInTerminal, stty } from './terminal.ts';

/** The setting `pager`: a program with its arguments, or false for none. */
export type PagerSetting = string | false | undefined;

/** After a command, as in git: quit if it fits, pass colours on, leave the text on the screen. */
export const LESS_INLINE = 'FRX';
/** From the full screen: always on a screen of its own, also for a short text. */
const LESS_FULL_SCREEN = 'R';

/** The first one set: the setting (also `DEVSH_PAGER`), `$PAGER`, `less`. Undefined: no pager. */
export function pagerWords(
  env: NodeJS.ProcessEnv,
  setting: PagerSetting,
): readonly string[] | undefined {
  if (setting === false) return undefined;
  const wanted = setting ?? env['PAGER'] ?? (isInPath('less', env) ? 'less' : '');
  if (wanted.trim() === 'cat') return undefined;
  const words = programWords(wanted);
  // Empty quotes or a comment are no program either.
  return (words[0] ?? '') === '' ? undefined : words;
}

/** Shows a text in the pager at the user's request. Throws a `UsageError` if there is no pager. */
export async function pageInProgram(
  text: string,
  env: NodeJS.ProcessEnv,
  setting: PagerSetting,
): Promise<void> {
  const words = pagerWords(env, setting);
  if (words === undefined) {
    throw new UsageError('no pager found: set PAGER or the setting "pager", or install less');
  }
  await showInPager(text, words, env, LESS_FULL_SCREEN);
}

/** Ctrl-C is a key of the pager; leaving early is no failure. Throws a `UsageError` if it cannot be started. */
export async function showInPager(
  text: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  lessOptions: string,
): Promise<void> {
  const modes = stty('-g');
  const ended = new AbortController();
  const endedBy: NodeJS.Signals[] = [];
  const onEnd = (signal: NodeJS.Signals): void => {
    endedBy.push(signal);
    ended.abort();
  };
  for (const one of ENDS) process.on(one, onEnd);
  try {
    const { killedBy } = await runInTerminal(words, {
      role: 'pager',
      variables: '$DEVSH_PAGER, $PAGER',
      env: { ...env, LESS: env['LESS'] ?? lessOptions, LV: env['LV'] ?? '-c' },
      input: text,
      signal: ended.signal,
    });
    // A killed pager could not restore the terminal modes.
    if (killedBy !== null && modes !== undefined) stty(modes);
  } finally {
    for (const one of ENDS) process.off(one, onEnd);
    // Without another listener the default action of the signal must still happen.
    for (const one of endedBy) if (process.listenerCount(one) === 0) process.kill(process.pid, one);
  }
}

function isInPath(name: string, env: NodeJS.ProcessEnv): boolean {
  return (env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
