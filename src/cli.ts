#!/usr/bin/env node
import { VERSION } from './version.ts';

const argv = process.argv.slice(2);
const [only, ...others] = argv;

if (others.length === 0 && (only === '--version' || only === '-V')) {
  // Asked by scripts and prompts, often: nothing else is loaded.
  process.stdout.write(`${VERSION}\n`);
} else {
  await hideArguments();
  const { main } = await import('./main.ts');
  process.exitCode = await main({
    argv,
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    onStop(listener) {
      let stops = 0;
      const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
        stops += 1;
        // The first one lets the request in flight finish; the second one does not wait.
        if (stops > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
        listener(signal);
      };
      process.on('SIGINT', onSignal);
      process.on('SIGTERM', onSignal);
      return () => {
        process.off('SIGINT', onSignal);
        process.off('SIGTERM', onSignal);
      };
    },
  });
}

/** Anybody on this machine can list the arguments of a process: a title without secrets takes their place. */
async function hideArguments(): Promise<void> {
  if (!argv.some((word) => /[=:~]/.test(word))) return;
  const { hideSecrets } = await import('./shell/hide-secrets.ts');
  const { quoteLine } = await import('./shell/parse.ts');
  const typed = quoteLine(argv);
  const shown = hideSecrets(typed);
  if (shown !== typed) process.title = `devsh ${shown}`;
}
