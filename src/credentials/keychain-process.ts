import { createRequire } from 'node:module';
import { runProgram } from '../os/program.ts';
import { CredentialError } from '../errors.ts';
import { visible } from '../text/visible.ts';

/** One secret of the keychain and the name of its account. */
export interface KeychainEntry {
  readonly account: string;
  readonly password: string;
}

/** The changes to make; the response lists the entries from before them. */
export interface KeychainRequest {
  readonly service: string;
  /** Another service whose entries are listed too. */
  readonly also?: string;
  readonly set?: readonly KeychainEntry[];
  readonly remove?: readonly string[];
}

export interface KeychainResponse {
  readonly entries: readonly KeychainEntry[];
  /** Entries of the other service. */
  readonly others: readonly KeychainEntry[];
  /** How many of the accounts existed. */
  readonly removed: number;
}

/** The keychain is not installed, locked or does not respond. The message names the alternatives. */
export class KeychainUnavailableError extends CredentialError {
  /** This machine has no keychain; otherwise it has one that cannot be used. */
  readonly isAbsent: boolean;

  constructor(reason: string, options: ErrorOptions & { readonly isAbsent?: boolean } = {}) {
    super(
      `${reason}; instead create a vault ("vault init"), use DEVSH_TOKEN, DEVSH_USER with ` +
        'DEVSH_PASSWORD, --token-stdin or --password-stdin, or type the password at the question',
      options,
    );
    this.isAbsent = options.isAbsent === true;
  }
}

const MODULE = '@napi-rs/keyring/keytar.js';

/** Runs in the child. Lists first: without a Secret Service other calls block, ask, or use the kernel's keyring. */
const PROGRAM = `
const { readFileSync, writeFileSync } = require('node:fs');
const { module, limitMs, service, also, set = [], remove = [] } = JSON.parse(readFileSync(0, 'utf8'));
const limit = setTimeout(() => process.kill(process.pid, 'SIGKILL'), limitMs);
const answer = (data) => {
  clearTimeout(limit);
  writeFileSync(1, JSON.stringify(data));
};
const work = async () => {
  const keychain = require(module);
  const entries = await keychain.findCredentials(service);
  const others = also === undefined ? [] : await keychain.findCredentials(also);
  for (const { account, password } of set) await keychain.setPassword(service, account, password);
  let removed = 0;
  for (const account of remove) removed += (await keychain.deletePassword(service, account)) ? 1 : 0;
  return { entries, others, removed };
};
work().then(answer, (error) => answer({ error: String(error.message) }));
`;

/** Asks the keychain in a child that is killed after `limitMs`, by pipes. Throws KeychainUnavailableError. */
export async function askKeychain(
  request: KeychainRequest,
  options: { readonly env: NodeJS.ProcessEnv; readonly limitMs: number },
): Promise<KeychainResponse> {
  const { limitMs } = options;
  const input = JSON.stringify({ ...request, module: findModule(), limitMs });
  const argv = [process.execPath, '-e', PROGRAM];
  const end = await runProgram({ argv, input, ...options, maxBytes: Infinity, ourGroup: true });
  if (end.kind === 'late' || (end.kind === 'ended' && end.status < 0)) {
    const silence = `the OS keychain did not respond within ${limitMs / 1_000} s`;
    throw new KeychainUnavailableError(silence);
  }
  if (end.kind !== 'ended' || end.status !== 0) {
    const cause = end.kind === 'not started' ? end.cause : undefined;
    throw new KeychainUnavailableError('the OS keychain cannot be read', { cause });
  }
  const answer = JSON.parse(end.stdout) as KeychainResponse | { readonly error: string };
  if ('error' in answer) throw errorFor(answer.error);
  return answer;
}

function findModule(): string {
  try {
    return createRequire(import.meta.url).resolve(MODULE);
  } catch (error) {
    throw new KeychainUnavailableError(
      'the OS keychain cannot be used, because the optional package @napi-rs/keyring is not installed',
      { cause: error, isAbsent: true },
    );
  }
}

function errorFor(message: string): KeychainUnavailableError {
  // The last phrase is the message of macOS over SSH.
  if (/locked|prompt was dismissed|interaction is not allowed/i.test(message)) {
    return new KeychainUnavailableError(
      'the OS keychain is locked (unlock it, for example by logging in to the desktop)',
    );
  }
  if (/dbus|secret service|platform storage|zbus/i.test(message)) {
    return new KeychainUnavailableError(
      'no OS keychain responds (no Secret Service on this machine or in this session)',
      { isAbsent: true },
    );
  }
  const [line = ''] = message.split('\n');
  return new KeychainUnavailableError(`the OS keychain cannot be used (${visible(line)})`);
}
