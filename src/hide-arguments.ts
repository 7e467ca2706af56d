import { hideSecrets } from './shell/access/hide-secrets.ts';
import { quoteLine } from './shell/grammar/parse.ts';

/** Anybody on this machine can list the arguments of a process: a title without secrets takes their place. */
export function hideArguments(argv: readonly string[]): void {
  if (!argv.some((word) => /[=:~]/.test(word))) return;
  const typed = quoteLine(argv);
  const shown = hideSecrets(typed);
  if (shown !== typed) process.title = `devsh ${shown}`;
}
