import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { Vault } from '../../../src/credentials/vault.ts';
import { RunFile } from '../../../src/settings/run-files.ts';
import { type Devsh, makeDevsh, type Run, trust } from '../../main/devsh.ts';
import { MACHINES, type Machine as MachineName, PASSWORD, type Place } from './box.ts';
import type { Stop } from './events.ts';
import type { Truth } from './truth.ts';

const PASSPHRASE = 'correct horse battery';

const PROFILE = `extends: drf
id_fields: [id]
resources:
  user:
    rotate: {field: password}
    rotate_token: {path: '{item}token/', answer: token}
`;

/** One process: what it has written so far, and whether it was stopped. */
interface Life {
  readonly stop: Stop | undefined;
  lines: number;
  writes: number;
  isOver: boolean;
  readonly end: () => void;
}

const lives = new AsyncLocalStorage<Life>();

const never = new Promise<never>(() => undefined);

/**
 * Lets processes be stopped at a line of a journal; returns the way back. One that was stopped writes no line any
 * more, and sends nothing, because a line comes before each request.
 */
export function watchJournals(): () => void {
  const append = Reflect.get<RunFile, 'append'>(RunFile.prototype, 'append');
  RunFile.prototype.append = async function (this: RunFile, lines: string): Promise<void> {
    const life = lives.getStore();
    if (life?.isOver === true) return never;
    const isLast = life?.stop?.at === 'journal' && life.stop.nth === life.lines++;
    if (!isLast) return append.call(this, lines);
    const { how } = life.stop;
    life.isOver = true;
    const written =
      how === 'half' ? lines.slice(0, lines.length / 2) : how === 'after' ? lines : '';
    if (written !== '') await append.call(this, written);
    life.end();
    return never;
  };
  return () => {
    RunFile.prototype.append = append;
  };
}

/** How a line ended; undefined: it was stopped. */
export type Ending = Run | undefined;

/** The home of one devsh: its files, its runs, and what is true for it. */
export class Machine {
  readonly name: MachineName;
  readonly truth: Truth;
  readonly runs: string[] = [];
  readonly folder: string;
  readonly #devsh: Devsh;
  #life: Life | undefined;
  #files = 0;
  #recipient: string | undefined;

  constructor(name: MachineName, devsh: Devsh & { readonly folder: string }, truth: Truth) {
    this.name = name;
    this.truth = truth;
    this.folder = devsh.folder;
    this.#devsh = devsh;
  }

  static async open(
    name: MachineName,
    truth: Truth,
    cleanUps: (() => Promise<void>)[],
  ): Promise<Machine> {
    const user = Object.entries(MACHINES).find(([, machine]) => machine === name)?.[0];
    const env = { DEVSH_USER: user, DEVSH_PASSWORD: PASSWORD };
    return new Machine(name, await makeDevsh(env, (cleanUp) => cleanUps.push(cleanUp)), truth);
  }

  /** The inventory, in which each name stands for a place, and the pins. */
  async know(places: readonly Place[], names: readonly string[]): Promise<void> {
    const config = join(this.folder, 'config/devsh');
    await mkdir(join(config, 'profiles'), { recursive: true });
    const entries = places.map(
      ({ address }, index) =>
        `  - {name: ${names[index] ?? ''}, address: "${address}", groups: [lab], profile: box}\n`,
    );
    await writeFile(join(config, 'devices.yaml'), `devices:\n${entries.join('')}`);
    await writeFile(join(config, 'profiles/box.yaml'), PROFILE);
    const pins = places.map(({ address, box: { certificate } }) => {
      return { address, fingerprint: certificate.fingerprint };
    });
    await trust(this, pins);
  }

  newFile(): string {
    return join(this.folder, `file-${this.#files++}`);
  }

  /** The options of a rotation, whose secrets are kept in a vault and in a second place. */
  async keeping(): Promise<readonly string[]> {
    if (this.#recipient === undefined) {
      await this.#vault().create(PASSPHRASE);
      this.#recipient = await identityToRecipient(await generateX25519Identity());
    }
    return ['--escrow', this.newFile(), '--recipient', this.#recipient];
  }

  #vault(): Vault {
    return new Vault(join(this.folder, 'data/devsh/vault.age'), { workFactor: 1 });
  }

  async run(words: readonly string[], stdin = ''): Promise<Run> {
    return this.#devsh([...words, '--json'], { stdin });
  }

  /** Runs a line that writes, until it ends or is stopped. */
  async write(words: readonly string[], stdin: string, stop: Stop | undefined): Promise<Ending> {
    const isOpened =
      this.#recipient !== undefined && /^(?:rotate|resume|undo)$/.test(words[0] ?? '');
    const all = isOpened ? [...words, '--passphrase-stdin'] : words;
    const given = isOpened ? `${PASSPHRASE}\n${stdin}` : stdin;
    let end = (): void => undefined;
    const stopped = new Promise<undefined>((resolve) => {
      end = () => {
        resolve(undefined);
      };
    });
    const life: Life = { stop, lines: 0, writes: 0, isOver: false, end };
    this.#life = life;
    const ended = await Promise.race([lives.run(life, () => this.run(all, given)), stopped]);
    // Whoever is stopped by chance after its last line has ended.
    if (!life.isOver) return ended;
    await this.#freeLocks();
    return undefined;
  }

  /** Whether the write request that arrives is the last one of the process. */
  stopsAtWrite(): Stop['how'] | undefined {
    const life = this.#life;
    if (life?.stop?.at !== 'request' || life.isOver || life.stop.nth !== life.writes++) {
      return undefined;
    }
    life.isOver = true;
    life.end();
    return life.stop.how;
  }

  /** The locks of a dead process do not count. */
  async #freeLocks(): Promise<void> {
    const state = join(this.folder, 'state/devsh');
    const files = await readdir(state, { recursive: true }).catch(() => []);
    const locks = files.filter((file) => file.endsWith('.lock'));
    await Promise.all(locks.map((file) => rm(join(state, file), { force: true })));
  }
}
