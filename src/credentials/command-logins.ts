import type { DeviceRef } from '../device/record.ts';
import { CredentialError } from '../errors.ts';
import { askCommand, commandFor } from './program-source.ts';
import { RecentCache, type StoredCredential } from './store.ts';

export interface CommandRequest {
  readonly device: DeviceRef;
  /** `credential_command`: program and arguments, still with the placeholders `{host}`, `{port}` and `{device}`. */
  readonly command?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A large fleet must not start hundreds of programs at once. */
const MAX_PROGRAMS = 8;

/** The logins that programs print, for devices whose inventory entry has a `credential_command`. */
export class CommandLogins {
  readonly #env: NodeJS.ProcessEnv;
  readonly #onRemark: (text: string) => void;
  readonly #inTurn = taskQueue(MAX_PROGRAMS);
  readonly #commands = new RecentCache<StoredCredential>();

  constructor(env: NodeJS.ProcessEnv, onRemark: (text: string) => void) {
    this.#env = env;
    this.#onRemark = onRemark;
  }

  /** Runs everything again on the next request. */
  refresh(): void {
    this.#commands.clear();
  }

  /** Throws CredentialError, also if no login is printed. */
  async ask(
    command: readonly string[],
    { device, signal }: CommandRequest,
  ): Promise<StoredCredential> {
    const options = { env: this.#env, signal, onRemark: this.#onRemark };
    try {
      const argv = commandFor(command, device);
      // Devices whose command is the same share one run.
      return await this.#commands.get(argv.join('\0'), () =>
        this.#inTurn(() => askCommand(argv, options)),
      );
    } catch (error) {
      throw withDeviceName(device, error);
    }
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
