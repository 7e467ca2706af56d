import { CredentialError } from '../errors.ts';
import { parseAddress } from '../device/address.ts';
import type { DeviceRef } from '../device/record.ts';
import { visible } from '../text/visible.ts';
import { runProgram, type ProgramEnd } from '../os/program.ts';
import type { StoredCredential } from './store.ts';
import { readLogin } from './read-login.ts';

export interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number | undefined;
  /** Receives what the program prints on stderr, safe to show. */
  readonly onRemark?: ((text: string) => void) | undefined;
}

const LIMIT_MS = 10_000;

/** Fills in `{host}`, `{port}` and `{device}` of a `credential_command`. @param name of the setting, for messages */
export function commandFor(
  template: readonly string[],
  device: DeviceRef,
  name = 'credential_command',
): string[] {
  const { host, port } = parseAddress(device.address);
  const values: Readonly<Record<string, string>> = {
    host,
    port: String(port),
    device: device.name,
  };
  return template.map((word) => {
    const filled = word.replace(
      /\{(host|port|device)\}/g,
      (all, key: string) => values[key] ?? all,
    );
    if (filled.startsWith('-') && !word.startsWith('-')) {
      throw new CredentialError(
        `${device.name}: ${name}: "${visible(filled)}" would be read as an option; ` +
          'the name of the device must not begin with "-"',
      );
    }
    return filled;
  });
}

/** Runs a filled in `credential_command`. Throws CredentialError if it prints no login. */
export async function askCommand(
  argv: readonly string[],
  options: ProgramOptions,
): Promise<StoredCredential> {
  const { env, signal, limitMs = LIMIT_MS } = options;
  const title = `credential_command "${visible(argv[0] ?? '')}"`;
  const end = await runProgram({ argv, env, signal, limitMs });
  const { stdout, stderr } = successOf(end, title, limitMs);
  const login = readLogin(stdout);
  if (login === undefined) {
    throw new CredentialError(
      `${title} prints no login: it must print a token, or username= and password= on two lines, ` +
        `or the same as JSON${remark(stderr, stdout)}`,
    );
  }
  const text = stderrText(stderr, stdout);
  if (text !== '') options.onRemark?.(`${title} reports: ${text}`);
  return login;
}

/** Hands a login to a filled in `credential_store_command`. Throws CredentialError unless the program takes it. */
export async function handToCommand(
  argv: readonly string[],
  { kind, user = '', secret }: StoredCredential,
  { env, signal, limitMs = LIMIT_MS }: ProgramOptions,
): Promise<void> {
  const title = `credential_store_command "${visible(argv[0] ?? '')}"`;
  const name = kind === 'basic' ? 'password' : 'token';
  const input = `username=${user}\n${name}=${secret}\n`;
  const end = await runProgram({ argv, env, input, signal, limitMs });
  // It may repeat what it was given: that is masked as its own output would be.
  successOf('stdout' in end ? { ...end, stdout: `${end.stdout}\n${secret}` } : end, title, limitMs);
}

function successOf(
  end: ProgramEnd,
  title: string,
  limitMs: number,
): { readonly stdout: string; readonly stderr: string } {
  switch (end.kind) {
    case 'ended':
      if (end.status === 0) return end;
      throw new CredentialError(
        `${title} ended ${end.status < 0 ? 'by a signal' : `with ${end.status}`}` +
          remark(end.stderr, end.stdout),
      );
    case 'not started':
      throw new CredentialError(`${title} cannot be run: ${end.reason}`);
    case 'late':
      throw new CredentialError(
        `${title} did not end within ${limitMs / 1000} s and was stopped${remark(end.stderr, '')}`,
      );
    case 'too long':
      throw new CredentialError(`${title} prints more than a login and was stopped`);
    case 'stopped':
      throw new CredentialError(`${title} was stopped`);
  }
}

function remark(stderr: string, stdout: string): string {
  const text = stderrText(stderr, stdout);
  return text === '' ? '' : `; it reports: ${text}`;
}

const MAX_SHOWN = 300;

/** The stderr of a program in one visible line, with every word of its stdout masked. */
function stderrText(stderr: string, stdout: string): string {
  const secrets = stdout
    .split(/[\s"=:,{}]+/)
    .concat(stdout.split(/\r?\n/).flatMap((line) => [line, line.slice(line.indexOf('=') + 1)]))
    .filter((part) => part.length >= 3)
    .sort((a, b) => b.length - a.length);
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), stderr);
  const line = clean
    .trim()
    .split(/\s*\n\s*/)
    .join(' · ');
  return visible(line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line);
}
