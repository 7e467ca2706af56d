// A program in a real pty, and the time from a key to the last byte of its frame.
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import { whenEnding } from './cleanup.js';

/** The end of a frame (synchronized output). */
const END_OF_FRAME = '\x1b[?2026l';
/** A screen is complete if nothing has come for this time. */
const QUIET_MS = 40;
/** What has not shown by now never will. */
const PATIENCE_MS = 120_000;

export function openScreen([program, ...args], { columns = 80, rows = 24, env = {} } = {}) {
  const openedAt = performance.now();
  const pty = spawn(program, args, {
    cols: columns,
    rows,
    name: 'xterm-256color',
    env: { ...process.env, LANG: 'C.UTF-8', TERM: 'xterm-256color', ...env },
  });
  let output = '';
  let hasEnded = false;
  const kill = whenEnding(() => {
    if (!hasEnded) pty.kill('SIGKILL');
  });
  let lastAt = openedAt;
  const listeners = new Set();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  pty.onData((text) => {
    lastAt = performance.now();
    output += text;
    notify();
  });
  const ended = new Promise((resolve) => {
    pty.onExit(() => {
      hasEnded = true;
      notify();
      resolve();
    });
  });

  /** Calls `check` for each piece of output until it returns something. */
  const watch = (check) =>
    new Promise((resolve, reject) => {
      const settle = (found, problem) => {
        clearTimeout(timer);
        listeners.delete(listener);
        if (found !== undefined) resolve(found);
        else reject(new Error(`${program} ${args.join(' ')} ${problem}: ${output.slice(-500)}`));
      };
      const listener = () => {
        const found = check();
        if (found !== undefined || hasEnded) settle(found, 'ended');
      };
      const timer = setTimeout(settle, PATIENCE_MS, undefined, 'does not show it');
      listeners.add(listener);
      listener();
    });

  const quiet = async (ms = QUIET_MS) => {
    for (let left = ms; left > 0; left = lastAt + ms - performance.now()) await sleep(left);
  };

  return {
    pid: pty.pid,
    quiet,
    /** The computing time so far, without child processes. */
    cpuMs: () => cpuMsOf(pty.pid),
    /** Resolves to the ms from the start until the output matches. */
    shows: (wanted) => watch(() => (wanted.test(output) ? lastAt - openedAt : undefined)),
    /**
     * Presses keys at once and waits for the last byte. Resolves to the ms until the first frame was
     * complete and until the last byte, and the amount of output.
     */
    async press(keys, { quietMs = QUIET_MS } = {}) {
      output = '';
      const before = cpuMsOf(pty.pid);
      const pressedAt = performance.now();
      pty.write(keys);
      const firstAt = await watch(() =>
        output === '' || (output.includes('\x1b[?2026h') && !output.includes(END_OF_FRAME))
          ? undefined
          : lastAt,
      );
      await quiet(quietMs);
      return {
        firstMs: firstAt - pressedAt,
        lastMs: lastAt - pressedAt,
        cpuMs: cpuMsOf(pty.pid) - before,
        bytes: Buffer.byteLength(output),
        frames: framesIn(output),
      };
    },
    /** Types a character that is nowhere else. Resolves to the ms until its frame is complete. */
    async echoMs(character) {
      const from = output.length;
      const pressedAt = performance.now();
      pty.write(character);
      await watch(() => {
        const at = output.indexOf(character, from);
        return at < 0 || output.indexOf(END_OF_FRAME, at) < 0 ? undefined : true;
      });
      return lastAt - pressedAt;
    },
    /** Holds a key. Resolves to the share of its repetitions that got their own frames. */
    async hold(key, times, perSecond) {
      output = '';
      const startedAt = performance.now();
      for (let time = 0; time < times; time += 1) {
        pty.write(key);
        await sleep(startedAt + ((time + 1) * 1000) / perSecond - performance.now());
      }
      await quiet();
      return framesIn(output) / times;
    },
    /** Types a line and waits until the program ends. */
    async end(line) {
      pty.write(`${line}\r`);
      await ended;
      kill();
    },
    /** Ends devsh so that it can write its profile, other programs by force. */
    async close() {
      if (args.includes('--cpu-prof')) pty.kill('SIGUSR2');
      else kill();
      await ended;
      kill();
    },
  };
}

function framesIn(text) {
  return text.split(END_OF_FRAME).length - 1;
}

/** Linux reports nanoseconds per thread; `NaN` on other systems. */
function cpuMsOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'));
    return times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
  } catch {
    return Number.NaN;
  }
}
