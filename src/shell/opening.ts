import { DevshError } from '../errors.ts';
import { quoteLine, wordsOfArgv } from '../text/words.ts';
import type { ColorChoice } from './grammar/options.ts';
import type { ThemeName } from '../text/choices.ts';
import type { Shell } from './shell.ts';

/** How a shell begins: the line it runs first, and the options that are about the shell itself. */
export interface Opening {
  readonly line: string;
  readonly isPlain: boolean;
  readonly isDemo: boolean;
  readonly color: ColorChoice;
  readonly theme: ThemeName | undefined;
}

/** Undefined when argv is one command, to be run and left. */
export function openingOf(shell: Shell, argv: readonly string[]): Opening | undefined {
  try {
    const { command, given } = shell.parse(wordsOfArgv(argv));
    const isShell = ['connect', 'demo'].includes(command.name) || isEmpty(argv);
    if (!isShell || given.help || given.version || given.format !== undefined) {
      return undefined;
    }
    return {
      line: isEmpty(argv) ? '' : quoteLine(argv),
      isPlain: given.plain === true,
      isDemo: command.name === 'demo',
      color: given.color ?? 'auto',
      theme: given.theme,
    };
  } catch (error) {
    if (error instanceof DevshError) return undefined; // said where the line is run
    throw error;
  }
}

/** No word but options: `devsh`, `devsh --plain`. */
function isEmpty(argv: readonly string[]): boolean {
  return argv.every(
    (word, at) =>
      ['--plain', '--no-color', '--no-pager', '--theme', '--color'].includes(word) ||
      /^--(?:theme|color)=/.test(word) ||
      ['--theme', '--color'].includes(argv[at - 1] ?? ''),
  );
}
