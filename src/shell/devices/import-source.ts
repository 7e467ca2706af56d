import { answerError } from '../../device/translate.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { ProtocolError } from '../../device/errors.ts';
import { UsageError } from '../../errors.ts';
import type { Findings } from '../../fleet/import/findings.ts';
import { parseAnsible } from '../../fleet/import/ansible.ts';
import type { JsonObject } from '../../fleet/import/json-source.ts';
import { netBoxDevices, parseNetBoxUrl, readNetBoxPage } from '../../fleet/import/netbox.ts';
import { readSource } from '../../fleet/import/read-source.ts';
import { kindOfSource, SOURCE_KINDS } from '../../fleet/import/source-kind.ts';
import type { ReadIncluded } from '../../fleet/import/ssh-config.ts';
import { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import { netBoxAccess } from '../access/netbox-access.ts';
import type { Output } from '../output.ts';
import type { DeviceOption } from '../grammar/options.ts';

/** More devices than any inventory that one file should hold. */
const MAX_DEVICES = 100_000;
/** Pages may be empty, too. */
const MAX_PAGES = 10_000;

/** What reading a source needs of the machine. */
export interface ImportWorld {
  readonly home: string;
  /** The token for NetBox that the environment has. */
  readonly netBoxToken: () => string | undefined;
  readonly isFolder: (path: string) => Promise<boolean>;
  readonly readIncluded: ReadIncluded;
  /** What `ansible-inventory --list` prints for a file or a folder. Throws a UsageError. */
  readonly ansibleInventory: (path: string, signal: AbortSignal) => Promise<string>;
}

/** Reads SOURCE: a URL, a file, or standard input for `-`. Throws DevshError. */
type ImportCall = Call<DeviceOption | 'from'>;

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
