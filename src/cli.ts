#!/usr/bin/env node
import { main } from './main.ts';
import { hideSecrets } from './shell/hide-secrets.ts';
import { quoteLine } from './shell/parse.ts';

const typed = quoteLine(process.argv.slice(2));
const shown = hideSecrets(typed);
// Anybody on this machine can list the arguments of a process; this takes their place.
if (shown !== typed) process.title = `devsh ${shown}`;

process.exitCode = await main({
  argv: process.argv.slice(2),
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
