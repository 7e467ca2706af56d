// A program in a real pty, and how long it takes from a key to the last byte of what it shows.
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import { whenEnding } from './cleanup.js';

/** With this devsh ends each frame (synchronized output). */
const END_OF_FRAME = '\x1b[?2026l';
/** So long nothing comes any more when a program has shown all that it will. */
const QUIET_MS = 40;

export function openScreen([program, ...args], { columns = 80, rows = 24, env = {} } = {}) {
  const openedAt = performance.now();
  const pty = spawn(program, args, {
    cols: columns,
    rows,
    name: 'xterm-256color',
    env: { ...process.env, LANG: 'C.UTF-8', TERM: 'xterm-256color', ...env },
  });
  let seen = '';
  let hasEnded = false;
  const kill = whenEnding(() => {
    if (!hasEnded) pty.kill('SIGKILL');
  });
  let lastAt = openedAt;
  const listeners = new Set();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  pty.onData((text) => {
    lastAt = performance.now();
    seen += text;
    tell();
  });
  const ended = new Promise((resolve) => {
    pty.onExit(() => {
      hasEnded = true;
      tell();
      resolve();
    });
  });

  /** Calls `check` at each piece of output until it gives something. */
  const watch = (check) =>
    new Promise((resolve, reject) => {
      const listener = () => {
        const found = check();
        if (found === undefined && !hasEnded) return;
        listeners.delete(listener);
        if (found !== undefined) resolve(found);
        else reject(new Error(`${program} ${args.join(' ')} ended: ${seen.slice(-500)}`));
      };
      listeners.add(listener);
      listener();
    });

  const quiet = async (ms = QUIET_MS) => {
    for (let left = ms; left > 0; left = lastAt + ms - performance.now()) await sleep(left);
  };

  return {
    pid: pty.pid,
    quiet,
    /** What the program has computed so far, without the programs that it started. */
    cpuMs: () => cpuMsOf(pty.pid),
    /** Resolves to the ms from the start until this is in the output. */
    shows: (wanted) => watch(() => (wanted.test(seen) ? lastAt - openedAt : undefined)),
    /**
     * Presses keys at once and waits until no more comes. Resolves to the ms until the first frame was
     * complete and until the last byte, and what was written.
     */
    async press(keys, { quietMs = QUIET_MS } = {}) {
      seen = '';
      const before = cpuMsOf(pty.pid);
      const pressedAt = performance.now();
      pty.write(keys);
      const firstAt = await watch(() =>
        seen === '' || (seen.includes('\x1b[?2026h') && !seen.includes(END_OF_FRAME))
          ? undefined
          : lastAt,
      );
      await quiet(quietMs);
      return {
        firstMs: firstAt - pressedAt,
        lastMs: lastAt - pressedAt,
        cpuMs: cpuMsOf(pty.pid) - before,
        bytes: Buffer.byteLength(seen),
        frames: framesIn(seen),
      };
    },
    /** A character that is nowhere else, while much is drawn: resolves to the ms until its frame is complete. */
    async echoMs(character) {
      const from = seen.length;
      const pressedAt = performance.now();
      pty.write(character);
      await watch(() => {
        const at = seen.indexOf(character, from);
        return at < 0 || seen.indexOf(END_OF_FRAME, at) < 0 ? undefined : true;
      });
      return lastAt - pressedAt;
    },
    /** A key that is held. Resolves to the share of the key's repetitions that got a frame of their own. */
    async hold(key, times, perSecond) {
      seen = '';
      const startedAt = performance.now();
      for (let time = 0; time < times; time += 1) {
        pty.write(key);
        await sleep(startedAt + ((time + 1) * 1000) / perSecond - performance.now());
      }
      await quiet();
      return framesIn(seen) / times;
    },
    /** Types a line and waits until the program ends by itself. */
    async end(line) {
      pty.write(`${line}\r`);
      await ended;
      kill();
    },
    async close() {
      kill();
      await ended;
    },
  };
}

function framesIn(text) {
  return text.split(END_OF_FRAME).length - 1;
}

/** Linux tells it to the nanosecond, thread by thread; `NaN` elsewhere. */
function cpuMsOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'));
    return times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
  } catch {
    return Number.NaN;
  }
}
