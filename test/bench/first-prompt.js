// How long the full screen takes to be ready, in a pty.
import { performance } from 'node:perf_hooks';
import { spawn } from '@lydell/node-pty';

/** Resolves to the ms from the start of the program to its first prompt. */
export function firstPrompt(cli, env) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const pty = spawn(process.execPath, [cli], {
      cols: 80,
      rows: 24,
      name: 'xterm-256color',
      env: { ...process.env, ...env },
    });
    let seen = '';
    let elapsedMs;
    pty.onData((text) => {
      seen += text;
      if (elapsedMs !== undefined || !/devsh[^\n]*>/.test(seen)) return;
      elapsedMs = performance.now() - startedAt;
      pty.kill();
    });
    pty.onExit(() => resolve(elapsedMs ?? Number.NaN));
  });
}
