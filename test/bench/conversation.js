// A prompt that is used through pipes.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { whenEnding } from './cleanup.js';

export function conversation([program, ...args], env) {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const kill = whenEnding(() => child.kill('SIGKILL'));
  let output = '';
  let listener = () => undefined;
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
    listener();
  });
  return {
    /** Resolves to the ms until the output of a line, which must be one JSON document. */
    type(line) {
      output = '';
      const typedAt = performance.now();
      child.stdin.write(`${line}\n`);
      return new Promise((resolve) => {
        listener = () => {
          if (/\n[\]}]\n|^[[{].*[\]}]\n/.test(output)) resolve(performance.now() - typedAt);
        };
      });
    },
    /** Lets devsh write its profile. */
    close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      return ended.then(kill);
    },
  };
}
