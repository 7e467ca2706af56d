import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CredentialError, UsageError } from '../../errors.ts';
import { Credential } from '../../device/credential.ts';
import { ProtocolError } from '../../device/errors.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { parseAnsible } from '../../fleet/import/ansible.ts';
import { netBoxDevices, parseNetBoxUrl, readNetBoxPage } from '../../fleet/import/netbox.ts';
import { readSource } from '../../fleet/import/read-source.ts';
import {
  type Findings,
  type JsonObject,
  kindOfSource,
  SOURCE_KINDS,
} from '../../fleet/import/source.ts';
import { DeviceSession } from '../../fleet/device-session.ts';
import type { DeviceEntry } from '../../fleet/selector.ts';
import { homeFolder } from '../../os/environment.ts';
import { runProgram } from '../../os/program.ts';
import { readUserFile } from '../../os/user-file.ts';
import { matchesGlob } from '../../text/glob.ts';
import { ShellAccess } from '../access/access.ts';
import type { Call } from '../command.ts';
import type { DeviceOption } from '../grammar/options.ts';
import type { Output } from '../output.ts';

/** More devices than one inventory file should contain. */
const MAX_DEVICES = 100_000;
/** A limit of its own, as pages may be empty. */
const MAX_PAGES = 10_000;

type ImportCall = Call<DeviceOption | 'from'>;

/** Reads SOURCE: a URL, a file, or standard input for `-`. Throws DevshError. */
export async function* readImportSource(call: ImportCall): AsyncGenerator<Output, Findings> {
  const source = call.args.required('SOURCE');
  const findings = yield* readAny(call, source);
  if (findings.devices.length > MAX_DEVICES) {
    throw new UsageError(
      `${source} has ${findings.devices.length} devices; at most ${MAX_DEVICES} can be imported`,
    );
  }
  return findings;
}

async function* readAny(call: ImportCall, source: string): AsyncGenerator<Output, Findings> {
  const { env } = call.shell.services;
  const home = homeFolder(env);
  const { from } = call.options;
  if (/^https?:\/\//i.test(source)) {
    if (from !== undefined && from !== 'netbox') {
      throw new UsageError(`a URL is always NetBox, not ${from}: import a file or "-"`);
    }
    return yield* readNetBox(call, source);
  }
  const path = source.replace(/^~(?=\/)/, home);
  const name = source === '-' ? 'standard input' : path;
  if (from === 'ansible' && source !== '-' && (await mustBeAsked(call, path))) {
    return parseAnsible(await ansibleInventory(path, env, call.io.signal), name);
  }
  if (source !== '-' && (await isFolder(path))) {
    throw new UsageError(`${source} is a folder: --from ansible reads it as an inventory`);
  }
  const text = await call.readText(source === '-' ? source : path);
  const kind = from ?? kindOfSource(source, text);
  if (kind === undefined) {
    throw new UsageError(`${name} has no recognizable kind: use --from ${SOURCE_KINDS.join('|')}`);
  }
  return readSource(kind, text, name, (pattern) => readIncluded(pattern, home));
}

/** JSON is the output of ansible-inventory; anything else only Ansible can read. */
async function mustBeAsked(call: Call, path: string): Promise<boolean> {
  if (await isFolder(path)) return true;
  return !/^\ufeff?\s*\{/.test(await call.readText(path));
}

async function* readNetBox(call: ImportCall, source: string): AsyncGenerator<Output, Findings> {
  const { address, path: first } = parseNetBoxUrl(source);
  const session = new DeviceSession({ name: address, address, groups: [] });
  const access = call.accessWith(call.io, NetBoxAccess);
  const where = `NetBox ${address}`;
  const seen = new Set<string>();
  const records: JsonObject[] = [];
  try {
    for (let next: string | undefined = first; next !== undefined;) {
      const path: string = next;
      if (seen.has(path) || seen.size >= MAX_PAGES || records.length > MAX_DEVICES) {
        throw new ProtocolError(session.ref, 'its pages do not end');
      }
      seen.add(path);
      const page = await session.use(access, async (device) => {
        const request = { method: 'GET', path } as const;
        const response = await device.raw(request, call.io.signal);
        const error = device.failureOf(request, response);
        if (error !== undefined) throw error;
        return readNetBoxPage(jsonOf(session, response), path, where);
      });
      records.push(...page.records);
      next = page.next;
      if (next !== undefined) {
        const text = `${records.length} devices of ${address}`;
        yield { kind: 'progress', done: records.length, total: records.length, text };
      }
    }
  } finally {
    await session.close();
  }
  return netBoxDevices(records, where);
}

function jsonOf(session: DeviceSession, { body, status }: { body: string; status: number }) {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    throw new ProtocolError(session.ref, `this is not NetBox: ${error.message}`, { status, body });
  }
}

/** Number of times that a wrong token can be typed again. */
const MAX_TOKENS = 3;

/**
 * Trust works as for a device. The token comes from `--token-stdin`, NETBOX_TOKEN, keychain or vault, or the
 * user types it. The login of the devices (DEVSH_TOKEN …) is never sent to a NetBox.
 */
class NetBoxAccess extends ShellAccess {
  override asksAtOnce = true;
  #asked = 0;

  override async credential(entry: DeviceEntry): Promise<Credential | undefined> {
    const token = this.shell.services.env['NETBOX_TOKEN'] || undefined;
    if (token !== undefined && !this.options.tokenStdin) return Credential.token(token.trim());
    const request = { ...this.request(entry), skipsEnvironment: true };
    return (await this.credentials.find(request))?.credential;
  }

  override async anotherCredential(
    { name }: DeviceEntry,
    refused: Credential | undefined,
  ): Promise<Credential | undefined> {
    const { ask } = this.io;
    if (ask === undefined || this.#asked >= MAX_TOKENS) {
      if (refused !== undefined) return undefined;
      throw new CredentialError(
        `${name}: no token. Set NETBOX_TOKEN, use --token-stdin, or keep one with "login ${name} --token"`,
      );
    }
    this.#asked += 1;
    const token = await ask({ kind: 'secret', text: `Token of NetBox ${name}:` });
    return token === undefined || token === '' ? undefined : Credential.token(token.trim());
  }
}

/** Time limit in milliseconds: Ansible may query clouds and run scripts. */
const ANSIBLE_LIMIT_MS = 180_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** The output of `ansible-inventory --list` for a file or folder. Throws a UsageError. */
async function ansibleInventory(
  path: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  const end = await runProgram({
    argv: ['ansible-inventory', '-i', resolve(path), '--list'],
    env,
    limitMs: ANSIBLE_LIMIT_MS,
    maxBytes: MAX_BYTES,
    signal,
  });
  if (end.kind === 'ended' && end.status === 0) return end.stdout;
  if (end.kind === 'not started') {
    throw new UsageError(
      `ansible-inventory does not start: ${end.reason}; install Ansible, or import the JSON ` +
        'of "ansible-inventory --list" from another machine',
    );
  }
  const said = end.stderr.trim().split('\n').slice(-3).join('\n');
  const why = end.kind === 'ended' ? `ended with ${end.status}` : `was stopped (${end.kind})`;
  throw new UsageError(`ansible-inventory ${why} for ${path}: ${said.slice(0, 1000)}`);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** The files of an `Include` in a config of ssh. */
async function readIncluded(pattern: string, home: string) {
  const path = resolve(join(home, '.ssh'), pattern.replace(/^~(?=\/)/, home));
  const files = await matching(path);
  return Promise.all(files.map(async (file) => ({ file, text: await readUserFile(file) })));
}

/** The files that match a path with `*` and `?` in its last part, sorted. */
async function matching(path: string): Promise<string[]> {
  const pattern = basename(path);
  const folder = dirname(path);
  if (!/[*?]/.test(pattern)) {
    return (await isFile(path)) ? [path] : [];
  }
  const names = await readdir(folder).catch(() => []);
  const fitting = names
    .filter((name) => !name.startsWith('.') && matchesGlob(name, pattern))
    .sort();
  const paths = fitting.map((name) => join(folder, name));
  const areFiles = await Promise.all(paths.map(isFile));
  return paths.filter((_path, index) => areFiles[index]);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
