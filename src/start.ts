import { keepCompiledCode } from './os/environment.ts';

/** Runs one command line of devsh in this process. */
export async function start(argv: readonly string[]): Promise<void> {
  keepCompiledCode(process.env);
  const [command, ...words] = argv;
  // Runs at each Tab of a shell: without network, keychain and screen.
  if (command === '__complete') await complete(words);
  else await runMain(argv);
}

async function complete(words: readonly string[]): Promise<void> {
  try {
    const { answerCompletion } = await import('./answer-completion.ts');
    process.stdout.write(await answerCompletion(words, process.env));
  } catch (error) {
    // For debugging; the shell just gets no candidates.
    process.stderr.write(`devsh: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function runMain(argv: readonly string[]): Promise<void> {
  const { hideArguments, main } = await import('./main.ts');
  hideArguments(argv);
  const exitCode = await main({
    argv,
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    onStop(listener, signals = ['SIGINT', 'SIGTERM']) {
      let stops = 0;
      const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
        stops += 1;
        // The first signal lets the current request finish; the second one exits at once.
        if (stops > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
        listener(signal);
      };
      for (const signal of signals) process.on(signal, onSignal);
      return () => {
        for (const signal of signals) process.off(signal, onSignal);
      };
    },
  });
  await Promise.all([process.stdout, process.stderr].map(isWritten));
  // Everything is closed and written: open timers and sockets of Node would only delay the exit.
  process.exit(exitCode);
}

/** Resolves when everything is written, or the reader is gone. */
function isWritten(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}
