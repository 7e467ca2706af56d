import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Credential } from '../../device/credential.ts';
import { ProtocolError } from '../../device/errors.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { CredentialError, UsageError } from '../../errors.ts';
import { DeviceSession } from '../../fleet/device-session.ts';
import { parseAnsible } from '../../fleet/import/ansible.ts';
import {
  type ImportPlan,
  type ImportStep,
  type KeyChange,
  planImport,
} from '../../fleet/import/import-plan.ts';
import { netBoxDevices, parseNetBoxUrl, readNetBoxPage } from '../../fleet/import/netbox.ts';
import { readSource } from '../../fleet/import/read-source.ts';
import {
  type Findings,
  type JsonObject,
  kindOfSource,
  SOURCE_KINDS,
} from '../../fleet/import/source.ts';
import type { SettingKey } from '../../fleet/inventory-schema.ts';
import type { DeviceEntry } from '../../fleet/selector.ts';
import { homeFolder } from '../../os/environment.ts';
import { runProgram } from '../../os/program.ts';
import { readUserFile } from '../../os/user-file.ts';
import { matchesGlob } from '../../text/glob.ts';
import { ShellAccess } from '../access/access.ts';
import type { Call } from '../command.ts';
import type { DeviceOption } from '../grammar/options.ts';
import { info, type Output, success, table, type TableOutput, warning } from '../output.ts';
import { confirm } from '../session.ts';

/** Keys that the user should check before taking them from somebody else's file. */
const DELICATE: Readonly<Partial<Record<SettingKey, string>>> = {
  insecure: 'devsh will not check the certificate',
  ca: 'anyone with its key can pose as the device',
  credential_command: 'devsh will run a program for the login',
  credential_store_command: 'devsh will give new logins to a program',
};

/** Shows what the source would add and change, asks, and writes it to devices.yaml. Throws DevshError. */
export async function* takeOverDevices(
  call: Call<DeviceOption | 'yes' | 'dryRun' | 'allow' | 'from' | 'groups'>,
): AsyncGenerator<Output> {
  const { inventory: file } = call.shell.services;
  const found = inGroups(yield* readImportSource(call), call.options.groups);
  const plan = planImport(found, { ...(await file.read()), folder: dirname(file.path) });
  yield* planMessages(call, found, plan);
  const count = plan.steps.length + plan.groups.length;
  if (count === 0) {
    yield nothingToDo(found, plan);
    return;
  }
  if (call.options.dryRun) return;
  const textFor = (expected: string): string =>
    `Write this to ${file.path} (${countsOf(plan)})? Type ${expected} to do it:`;
  await confirm(call, count, textFor, { nothing: 'nothing was written' });
  await file.applyImport(plan);
  yield success(`${file.path}: ${countsOf(plan)}`);
}

function nothingToDo({ devices }: Findings, { unchanged }: ImportPlan): Output {
  const known = unchanged.length;
  if (known === 0) {
    const why = devices.length === 0 ? 'has no device' : 'has no device that can be imported';
    return warning(`nothing to do: the source ${why}`);
  }
  const are = known === 1 ? '1 device is' : `${known} devices are`;
  const text = `nothing to do: ${are} in the inventory, unchanged`;
  return success(text);
}

function inGroups(found: Findings, groups: readonly string[]): Findings {
  if (groups.length === 0) return found;
  return {
    ...found,
    devices: found.devices.map((device) => ({ ...device, groups: [...device.groups, ...groups] })),
  };
}

function* planMessages(call: Call<'dryRun'>, found: Findings, plan: ImportPlan): Generator<Output> {
  const rows = [...plan.groups.map((step) => ({ ...step, name: `@${step.name}` })), ...plan.steps];
  const isWell = rows.length > 0 || plan.unchanged.length > 0;
  const refused = plan.refused.map(({ name, place, reason, problem }) => {
    return { name, action: reason, what: `${place}: ${problem}` };
  });
  const all = [...rows.map(stepRow), ...refused];
  // A program gets an empty list, too.
  const isForProgram = call.options.format !== undefined && call.options.format !== 'table';
  if (all.length > 0 || isForProgram) {
    yield table('import', ['name', 'action', 'what'], all, { hasSuccess: isWell });
  }
  for (const remark of found.remarks) yield warning(remark);
  for (const [key, danger] of Object.entries(DELICATE)) {
    const names = rows.filter(({ changes }) => changes.some((change) => isSet(change, key)));
    if (names.length === 0) continue;
    yield warning(`${key} of ${names.map(({ name }) => name).join(', ')}: ${danger}`);
  }
  const { length } = plan.refused;
  if (length > 0) {
    const text = `${length === 1 ? '1 device is' : `${length} devices are`} left out, for the reasons above`;
    yield { kind: 'error', error: new UsageError(text) };
  }
  if (rows.length > 0 && call.options.dryRun) {
    yield info(`would write: ${countsOf(plan)}`);
  }
}

function stepRow({ name, action, changes }: ImportStep): TableOutput['rows'][number] {
  return {
    name,
    action,
    what: changes.map(changeText).join(' · '),
    changes: changes.map(({ key, before = null, after = null }) => ({ field: key, before, after })),
  };
}

function isSet({ key, after }: KeyChange, wanted: string): boolean {
  return key === wanted && after !== undefined && after !== 'false';
}

/** `address 10.0.0.5 -> 10.0.0.9`, `groups berlin, core`, `jump gate taken out`. */
function changeText({ key, before, after }: KeyChange): string {
  const text = (value: string | readonly string[]): string =>
    typeof value === 'string' ? value : value.join(', ');
  if (after === undefined) return `${key} ${text(before ?? '')} taken out`;
  return before === undefined
    ? `${key} ${text(after)}`
    : `${key} ${text(before)} -> ${text(after)}`;
}

function countsOf({ steps, groups, unchanged, refused }: ImportPlan): string {
  const added = steps.filter(({ action }) => action === 'add').length;
  const parts = [
    [added, 'added'],
    [steps.length - added, 'changed'],
    [groups.length, groups.length === 1 ? 'group' : 'groups'],
    [unchanged.length, 'unchanged'],
    [refused.length, 'left out'],
  ] as const;
  return parts.flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`)).join(' · ');
}

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
