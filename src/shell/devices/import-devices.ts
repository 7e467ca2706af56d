import { dirname } from 'node:path';
import { CredentialError, DeclinedError, RefusedError, UsageError } from '../../errors.ts';
import {
  type Findings,
  type JsonObject,
  kindOfSource,
  SOURCE_KINDS,
} from '../../fleet/import/source.ts';
import {
  type ImportPlan,
  type ImportRefusal,
  type KeyChange,
  planImport,
} from '../../fleet/import/import-plan.ts';
import type { SettingKey } from '../../fleet/inventory-schema.ts';
import type { Call } from '../command.ts';
import { type Output, type TableOutput, success, warning, table, info } from '../output.ts';
import type { DeviceOption, WriteOption } from '../grammar/options.ts';
import { answerError } from '../../device/translate.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { ProtocolError } from '../../device/errors.ts';
import { parseAnsible } from '../../fleet/import/ansible.ts';
import { netBoxDevices, parseNetBoxUrl, readNetBoxPage } from '../../fleet/import/netbox.ts';
import { readSource } from '../../fleet/import/read-source.ts';
import { Member } from '../../fleet/member.ts';
import { Credential } from '../../device/credential.ts';
import type { Access } from '../../fleet/access.ts';

/** What should be read before it is taken over from a file of somebody else. */
const DELICATE: Readonly<Partial<Record<SettingKey, string>>> = {
  insecure: 'certificates will not be checked',
  ca: 'whoever has its key can pose as the device',
  credential_command: 'a program will be run for the login',
  git_credential: 'a helper will be run for the login',
};

/** Shows what the source would add and change, asks, and writes it into devices.yaml. Throws DevshError. */
export async function* takeOverDevices(
  call: Call<DeviceOption | WriteOption | 'from' | 'groups'>,
): AsyncGenerator<Output> {
  const { inventory: file } = call.session.services;
  const found = inGroups(yield* readImportSource(call), call.options.groups);
  const plan = planImport(found, { ...(await file.read()), folder: dirname(file.path) });
  yield* tellPlan(call, found, plan);
  const count = plan.steps.length + plan.groups.length;
  if (count === 0) {
    yield nothingToDo(found, plan);
    return;
  }
  if (call.options.dryRun) return;
  await ask(call, plan, count);
  await file.carryOut(plan);
  yield success(`${file.path}: ${countsOf(plan)}`);
}

function nothingToDo({ devices }: Findings, { unchanged }: ImportPlan): Output {
  const known = unchanged.length;
  if (known === 0) {
    const why = devices.length === 0 ? 'has no device' : 'has no device that can be taken';
    return warning(`nothing to do: the source ${why}`);
  }
  const are = known === 1 ? '1 device is' : `${known} devices are`;
  const text = `nothing to do: ${are} in the inventory as the source has ${known === 1 ? 'it' : 'them'}`;
  return success(text);
}

function inGroups(found: Findings, groups: readonly string[]): Findings {
  if (groups.length === 0) return found;
  return {
    ...found,
    devices: found.devices.map((device) => ({ ...device, groups: [...device.groups, ...groups] })),
  };
}

function* tellPlan(call: Call<'dryRun'>, found: Findings, plan: ImportPlan): Generator<Output> {
  const rows: Step[] = [
    ...plan.groups.map(({ name, action, changes }) => ({ name: `@${name}`, action, changes })),
    ...plan.steps.map((step) => ({
      name: step.action === 'add' ? step.device.name : step.name,
      action: step.action,
      changes: step.changes,
    })),
  ];
  const isWell = rows.length > 0 || plan.unchanged.length > 0;
  const all = [...rows.map(stepRow), ...plan.refused.map(refusedRow)];
  // A program gets the empty list, too.
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
    const text = `${length === 1 ? '1 device is' : `${length} devices are`} left out: see above why`;
    yield { kind: 'error', error: new UsageError(text) };
  }
  if (rows.length > 0 && call.options.dryRun) {
    yield info(`would write: ${countsOf(plan)}`);
  }
}

interface Step {
  readonly name: string;
  readonly action: 'add' | 'change';
  readonly changes: readonly KeyChange[];
}

function stepRow({ name, action, changes }: Step): TableOutput['rows'][number] {
  return {
    name,
    action,
    what: changes.map(changeText).join(' · '),
    changes: changes.map(({ key, before = null, after = null }) => ({ field: key, before, after })),
  };
}

function refusedRow({ name, place, reason, problem }: ImportRefusal): TableOutput['rows'][number] {
  return { name, action: reason, what: `${place}: ${problem}` };
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

/** In proportion, as for writes to devices. */
async function ask(call: Call<'yes'>, plan: ImportPlan, count: number): Promise<void> {
  if (call.options.yes) return;
  if (call.io.ask === undefined) {
    throw new RefusedError(
      'not confirmed: say --yes to do it without a question; nothing was written',
    );
  }
  const expected = count === 1 ? 'y' : String(count);
  const text = `Write this to ${call.session.services.inventory.path} (${countsOf(plan)})? Type ${expected} to do it:`;
  const answer = await call.io.ask({ kind: 'confirm', text, expected });
  if (answer !== expected) throw new DeclinedError('not confirmed: nothing was written');
}

/** More devices than any inventory that one file should hold. */
const MAX_DEVICES = 100_000;
/** Pages may be empty, too. */
const MAX_PAGES = 10_000;

/** Reads SOURCE: a URL, a file, or standard input for `-`. Throws DevshError. */
type ImportCall = Call<DeviceOption | 'from'>;

async function* readImportSource(call: ImportCall): AsyncGenerator<Output, Findings> {
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
  const { importing } = call.session.services;
  const { from } = call.options;
  if (/^https?:\/\//i.test(source)) {
    if (from !== undefined && from !== 'netbox') {
      throw new UsageError(`a URL is read as NetBox, not as ${from}: import a file or "-"`);
    }
    return yield* readNetBox(call, source);
  }
  const path = source.replace(/^~(?=\/)/, importing.home);
  const name = source === '-' ? 'standard input' : path;
  if (from === 'ansible' && source !== '-' && (await mustBeAsked(call, path))) {
    return parseAnsible(await importing.ansibleInventory(path, call.io.signal), name);
  }
  if (source !== '-' && (await importing.isFolder(path))) {
    throw new UsageError(`${source} is a folder: "--from ansible" reads it as an inventory`);
  }
  const text = await call.readText(source === '-' ? source : path);
  const kind = from ?? kindOfSource(source, text);
  if (kind === undefined) {
    throw new UsageError(`what ${name} is cannot be seen: say --from ${SOURCE_KINDS.join('|')}`);
  }
  return readSource(kind, text, name, importing.readIncluded);
}

/** JSON is what ansible-inventory would print; all else only Ansible itself can read. */
async function mustBeAsked(call: Call, path: string): Promise<boolean> {
  if (await call.session.services.importing.isFolder(path)) return true;
  return !/^\ufeff?\s*\{/.test(await call.readText(path));
}

async function* readNetBox(call: ImportCall, source: string): AsyncGenerator<Output, Findings> {
  const { address, path: first } = parseNetBoxUrl(source);
  const member = new Member({ name: address, address, groups: [] });
  const access = netBoxAccess(call);
  const where = `NetBox ${address}`;
  const seen = new Set<string>();
  const records: JsonObject[] = [];
  try {
    for (let next: string | undefined = first; next !== undefined;) {
      const path: string = next;
      if (seen.has(path) || seen.size >= MAX_PAGES || records.length > MAX_DEVICES) {
        throw new ProtocolError(member.ref, 'its pages come without end');
      }
      seen.add(path);
      const page = await member.use(access, async (device) => {
        const answer = await device.raw({ method: 'GET', path }, call.io.signal);
        const request = { method: 'GET', path } as const;
        if (answer.status >= 300) {
          throw answerError({ device: member.ref, credential: member.credential, request }, answer);
        }
        return readNetBoxPage(jsonOf(member, answer), path, where);
      });
      records.push(...page.records);
      next = page.next;
      if (next !== undefined) {
        const text = `${records.length} devices of ${address}`;
        yield { kind: 'progress', done: records.length, total: records.length, text };
      }
    }
  } finally {
    await member.close();
  }
  return netBoxDevices(records, where);
}

function jsonOf(member: Member, { body, status }: { body: string; status: number }) {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    throw new ProtocolError(member.ref, `this is no NetBox: ${error.message}`, { status, body });
  }
}

/** A wrong token is typed again so often. */
const MAX_TOKENS = 3;

/**
 * Trust as for a device; the token comes from `--token-stdin`, NETBOX_TOKEN, keychain or vault, or is
 * asked for. The login of the devices (DEVSH_TOKEN …) is not sent to a NetBox.
 */
function netBoxAccess(call: Call<DeviceOption>): Access {
  const { access, credentials, options, io, session } = call;
  access.asksAtOnce = true;
  const { importing } = session.services;
  let asked = 0;
  return {
    trace: access.trace,
    notice: access.notice,
    timeoutMs: access.timeoutMs,
    trust: (entry) => access.trust(entry),
    route: (entry) => access.route(entry),
    profile: (entry) => access.profile(entry),
    acceptCertificate: (entry, error) => access.acceptCertificate(entry, error),
    admit: (entry, credential) => access.admit(entry, credential),
    async credential({ name, address }) {
      const token = options.tokenStdin ? undefined : importing.netBoxToken();
      if (token !== undefined) return Credential.token(token.trim());
      const { askPassphrase } = access;
      const found = await credentials.find({
        device: { name, address },
        user: options.user,
        skipsEnvironment: true,
        askPassphrase,
        signal: io.signal,
      });
      return found?.credential;
    },
    async anotherCredential({ name }, refused) {
      if (io.ask === undefined || asked >= MAX_TOKENS) {
        if (refused !== undefined) return undefined;
        throw new CredentialError(
          `${name}: no token. Set NETBOX_TOKEN, use --token-stdin, or keep one with "login ${name} --token"`,
        );
      }
      asked += 1;
      const token = await io.ask({ kind: 'secret', text: `Token of NetBox ${name}:` });
      return token === undefined || token === '' ? undefined : Credential.token(token.trim());
    },
  };
}
