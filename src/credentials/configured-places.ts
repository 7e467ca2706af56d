import { join } from 'node:path';
import type { DeviceRef } from '../device/record.ts';
import { CredentialError } from '../errors.ts';
import { homeFolder } from '../os/environment.ts';
import { type NetrcEntry, netrcEntryFor, readNetrc } from './netrc.ts';
import { askCommand, askGit, commandFor } from './program-source.ts';
import { RecentCache, type StoredCredential } from './store.ts';
import { namedLogin } from './read-login.ts';

/** Where the inventory says that the login of a device is. */
export interface CredentialPlaces {
  /** Program and arguments, still with the placeholders `{host}`, `{port}` and `{device}`. */
  readonly command?: readonly string[] | undefined;
  /** `default`, or a helper of git with its arguments. */
  readonly git?: readonly string[] | undefined;
  /** A file, or `true` for `~/.netrc`. */
  readonly netrc?: string | true | undefined;
}

export type ConfiguredSource = 'credential_command' | 'git_credential' | 'netrc';

export interface PlaceRequest {
  readonly device: DeviceRef;
  /** The account to log in as, from the inventory or `--user`. */
  readonly user: string | undefined;
  readonly places?: CredentialPlaces | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A large fleet must not start hundreds of programs at once. */
const MAX_PROGRAMS = 8;

/** The sources that are asked only for devices whose inventory entry names them. */
export class ConfiguredPlaces {
  readonly #env: NodeJS.ProcessEnv;
  readonly #onRemark: (text: string) => void;
  readonly #inTurn = taskQueue(MAX_PROGRAMS);
  readonly #commands = new RecentCache<StoredCredential>();
  readonly #netrcs = new RecentCache<NetrcEntry[]>();

  constructor(env: NodeJS.ProcessEnv, onRemark: (text: string) => void) {
    this.#env = env;
    this.#onRemark = onRemark;
  }

  /** Reads everything again on the next request. */
  refresh(): void {
    this.#commands.clear();
    this.#netrcs.clear();
  }

  /** Undefined if the inventory does not name this source. Throws CredentialError, also if no login is printed. */
  async ask(
    source: ConfiguredSource,
    request: PlaceRequest,
  ): Promise<StoredCredential | undefined> {
    try {
      return await this.#readers[source](request);
    } catch (error) {
      throw withDeviceName(request.device, error);
    }
  }

  readonly #readers: Record<
    ConfiguredSource,
    (request: PlaceRequest) => Promise<StoredCredential | undefined>
  > = {
    credential_command: async ({ device, places, signal }) => {
      if (places?.command === undefined) return undefined;
      const argv = commandFor(places.command, device);
      const options = { env: this.#env, signal, onRemark: this.#onRemark };
      // Devices whose command is the same share one run.
      return this.#commands.get(argv.join('\0'), () =>
        this.#inTurn(() => askCommand(argv, options)),
      );
    },
    git_credential: async ({ device, user, places, signal }) => {
      const helper = places?.git;
      if (helper === undefined) return undefined;
      return this.#inTurn(() => askGit(helper, device, user, { env: this.#env, signal }));
    },
    netrc: async ({ device, user, places }) => {
      if (places?.netrc === undefined) return undefined;
      const path = this.#netrcPath(places.netrc);
      const entries = await this.#netrcs.get(path, () => readNetrc(path));
      const entry = netrcEntryFor(entries, device.address, user);
      return entry && namedLogin(entry.login, entry.password);
    },
  };

  #netrcPath(file: string | true): string {
    if (file === true) {
      const usual = process.platform === 'win32' ? '_netrc' : '.netrc';
      return this.#env['NETRC'] || join(homeFolder(this.#env), usual);
    }
    return file.startsWith('~/') ? join(homeFolder(this.#env), file.slice(2)) : file;
  }
}

function withDeviceName(device: DeviceRef, error: unknown): unknown {
  if (!(error instanceof CredentialError) || error.message.startsWith(`${device.name}: `)) {
    return error;
  }
  return new CredentialError(`${device.name}: ${error.message}`, { cause: error.cause });
}

/** Runs at most `width` tasks at a time; the others wait in a queue. */
function taskQueue(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // A task that ends passes its place on.
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
