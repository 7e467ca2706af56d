import type { Host } from './host.ts';

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
