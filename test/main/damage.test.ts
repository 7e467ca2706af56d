import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFleet, type Devsh } from './devsh.ts';
import { rounds } from '../rounds.ts';

/** At least one of each file. More by hand: `DEVSH_DAMAGES=500 npx vitest run test/main/damage.test.ts`. */
const DAMAGES = rounds(120, { least: 15, variable: 'DEVSH_DAMAGES' });

/** Lines that read all files of devsh; others write some. */
const READS = [
  'device list',
  'trust list',
  'runs',
  'history',
  'profile sim1',
  'user list --on sim1',
];
const WRITES = [
  'device add other 10.9.9.9',
  `trust accept 10.9.9.9 --fingerprint ${'AB'.repeat(32)}`,
];

/** A repeatable generator of numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const DAMAGE = {
  'cut off': (bytes: Buffer, random: () => number) =>
    bytes.subarray(0, Math.floor(random() * bytes.length)),
  'bit flipped': (bytes: Buffer, random: () => number) => {
    const damaged = Buffer.from(bytes);
    const place = Math.floor(random() * bytes.length);
    damaged[place] = (damaged[place] ?? 0) ^ (1 << Math.floor(random() * 8));
    return damaged;
  },
  'block of zeros': (bytes: Buffer, random: () => number) => {
    const damaged = Buffer.from(bytes);
    const start = Math.floor(random() * bytes.length);
    return damaged.fill(0, start, Math.min(bytes.length, start + 64));
  },
} as const;

/** A home with every kind of file that devsh writes. */
async function makeHome(): Promise<{ devsh: Devsh & { folder: string }; files: string[] }> {
  const { devsh } = await startFleet({ devices: 2, users: 5 });
  const run = async (line: string): Promise<void> => {
    const { exitCode, stderr } = await devsh(line);
    expect(exitCode, `${line}\n${stderr}`).toBe(0);
  };
  await run('user add username=zoe first_name=Zoe lastname=Z lang=de --on @lab --yes');
  await run('learn sim1');
  await run('profile set sim1 no_id=0');
  await writeFile(join(devsh.folder, 'config/devsh/settings.json'), '{\n\t"timeoutMs": 4000\n}\n');
  await writeFile(join(devsh.folder, 'state/devsh/history'), 'user list\ntrust list\n');
  await run('device list');
  const names = await readdir(devsh.folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => relative(devsh.folder, join(entry.parentPath, entry.name)));
  return { devsh, files };
}

test(
  `after ${DAMAGES} damages of our own files nothing crashes, is lost or is silently reset`,
  { timeout: 300_000 },
  async () => {
    const { devsh, files } = await makeHome();
    expect(files.length).toBeGreaterThan(7);
    const intact = await mkdtemp(join(tmpdir(), 'devsh-intact-'));
    onTestFinished(() => rm(intact, { recursive: true, force: true }));
    await cp(devsh.folder, intact, { recursive: true });
    const pins = await readFile(join(intact, 'data/devsh/known-devices'), 'utf8');
    const inventory = await readFile(join(intact, 'config/devsh/devices.yaml'), 'utf8');

    for (let number = 0; number < DAMAGES; number += 1) {
      const random = randomNumbers(number);
      const file = files[number % files.length] ?? '';
      const kinds = Object.keys(DAMAGE) as (keyof typeof DAMAGE)[];
      const kind = kinds[Math.floor(random() * kinds.length)] ?? 'cut off';
      const name = `${number}: ${file} ${kind}`;
      const damaged = DAMAGE[kind](await readFile(join(intact, file)), random);
      await writeFile(join(devsh.folder, file), damaged);

      let output = '';
      const lines = [READS[number % READS.length], WRITES[number % WRITES.length], 'trust list'];
      for (const line of lines) {
        const { exitCode, stderr, stdout } = await devsh(line ?? '');
        expect(exitCode, `${name}: ${stderr}`).not.toBe(70);
        expect(stderr + stdout, name).not.toMatch(/\bat .*\.ts:\d+|undefined|\[object/);
        output += stderr;
      }

      // Nothing is lost: it is there, or can be restored.
      const stored = await allTexts(devsh.folder);
      for (const pin of pins.toUpperCase().split('\n').slice(1)) {
        expect(stored.toUpperCase().includes(pin), `${name}: ${pin}`).toBe(true);
      }
      if (file.endsWith('devices.yaml') && !file.includes('good')) {
        const list = await devsh('device list --json');
        const isWhole = addresses(inventory).every((one) => list.stdout.includes(`"${one}"`));
        const isConfigured = /device restore|than when devsh last read it/.test(
          output + list.stderr,
        );
        expect(isWhole || isConfigured, `${name}: ${output}`).toBe(true);
        expect(isWhole || stored.includes(inventory), name).toBe(true);
      }
      if (file.endsWith('known-devices') && !file.includes('good')) {
        const list = await devsh('trust list');
        const isWhole = fingerprints(pins).every((one) => list.stdout.includes(one));
        expect(isWhole || (output + list.stderr).includes('trust restore'), name).toBe(true);
        expect((await devsh('trust restore')).exitCode, name).toBe(0);
        const restored = await devsh('trust list');
        for (const one of fingerprints(pins)) expect(restored.stdout, name).toContain(one);
      }
      await rm(devsh.folder, { recursive: true });
      await cp(intact, devsh.folder, { recursive: true });
    }
  },
);

function fingerprints(pins: string): string[] {
  return Array.from(pins.matchAll(/sha256:(\S+)/g), ([, one = '']) => one);
}

function addresses(inventory: string): string[] {
  return Array.from(inventory.matchAll(/address: (\S+)/g), ([, one = '']) => one);
}

async function allTexts(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
