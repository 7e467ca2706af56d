import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { ADMIN, simulate } from './devsh.ts';
import { startInPty } from './harness.ts';
import { rounds } from '../rounds.ts';

/** Each signal four times when the screen is up, and four times at any moment; at least once each. */
const KILLS = rounds(32, { least: 8, variable: 'DEVSH_TERMINAL_KILLS' });
const AT_ONCE = 4;
const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;
/** Keys before the signal. */
const KEYS = [
  'user list\r',
  '\x1b',
  'jj',
  'G',
  '/',
  'a',
  '?',
  ':',
  '\x1a',
  'user add ',
  '\x1b[200~',
];

test(
  `the terminal is given back after each of ${KILLS} kills at random moments`,
  { timeout: 60_000 + KILLS * 2_000 },
  async () => {
    const simulator = await simulate({ devices: 2, users: 20 });
    const addresses = simulator.devices.map(({ address }) => address);
    const folder = await mkdtemp(join(tmpdir(), 'devsh-kill-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    /** A home for each: what one leaves is its own. */
    const homeOf = (name: string) =>
      Object.fromEntries(
        ['CONFIG', 'DATA', 'STATE', 'CACHE'].map((kind) => [
          `XDG_${kind}_HOME`,
          join(folder, name, kind.toLowerCase()),
        ]),
      );

    let onScreen = 0;
    const killOnce = async (number: number): Promise<void> => {
      const signal = SIGNALS[number % SIGNALS.length] ?? 'SIGTERM';
      const name = `${number} ${signal}`;
      // The shell outlives devsh and reports the state of the terminal.
      const script =
        'stty -g > "$FOLDER/$0.before"; "$@"; stty -g > "$FOLDER/$0.after"; echo over-$0; sleep 10';
      const command = [process.execPath, inject('cli'), 'connect', ...addresses, '--insecure'];
      const program = startInPty({
        command: '/bin/bash',
        args: ['-c', `trap : HUP INT QUIT TERM; ${script}`, String(number), ...command],
        env: { ...ADMIN, ...homeOf(name), HOME: folder, FOLDER: folder },
      });
      try {
        // Half of them are killed when the screen is up, the others before.
        const isUp = Math.floor(number / SIGNALS.length) % 2 === 0;
        if (isUp) await program.waitFor(() => program.buffer === 'alternate', 30_000);
        await sleep(Math.random() * 400);
        const keys = KEYS.filter(() => Math.random() < 0.4);
        for (const key of keys) program.type(key);
        await sleep(Math.random() * 60);
        const child = await childOf(program.pid);
        if (child !== undefined) process.kill(child, signal);
        await program.waitFor(`over-${number}`, 15_000);
        const text = (when: string) => readFile(join(folder, `${number}.${when}`), 'utf8');
        expect(await text('after'), name).toBe(await text('before'));
        expect(program.buffer, name).toBe('normal');
        expect(program.cursor.isShown, name).toBe(true);
        expect(program.modes.bracketedPasteMode, name).toBe(false);
        expect(program.modes.applicationCursorKeysMode, name).toBe(false);
        expect(program.raw(), name).not.toContain('this is a bug');
        const hadScreen = program.raw().includes('\x1b[?1049h');
        if (hadScreen) onScreen += 1;
        const left = await readdir(join(folder, name), { recursive: true }).catch(() => []);
        // Before there is a screen, a signal ends devsh as it ends any program.
        if (hadScreen) {
          expect(
            left.filter((file) => file.endsWith('.tmp')),
            name,
          ).toEqual([]);
        }
      } finally {
        await program.close();
      }
    };

    let next = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < KILLS) await killOnce(next++);
      }),
    );
    expect(onScreen).toBeGreaterThanOrEqual(KILLS / 2);
  },
);

/** The program that the shell runs; undefined if it has ended or not begun. */
async function childOf(shell: number): Promise<number | undefined> {
  const file = `/proc/${shell}/task/${shell}/children`;
  const running = async (): Promise<number | undefined> => {
    const [child = 0] = (await readFile(file, 'utf8').catch(() => '')).split(' ').map(Number);
    const command = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
    return command.startsWith(process.execPath) ? child : undefined;
  };
  return vi.waitUntil(running, { timeout: 1000, interval: 10 }).catch(() => undefined);
}
