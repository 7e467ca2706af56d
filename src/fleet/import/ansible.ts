import { parseJsonFile } from '../../device/json.ts';
import { isSecretName } from '../../device/sensitive-fields.ts';
import { type DeviceRecord, type Value, valueAt } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { nameProblem, LISTED_SETTINGS } from '../inventory-schema.ts';
import type { WrittenGroup } from '../written-inventory.ts';
import { asList, asObject, asText, type Findings, type FoundDevice, leftOut } from './source.ts';

/** Groups that Ansible creates itself. */
const OWN_GROUPS = ['all', 'ungrouped'];

interface Group {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly children: readonly string[];
}

/** Reads `ansible-inventory --list`, but only the variables that tell how to reach a device. Throws a `UsageError`. */
export function parseAnsible(text: string, file: string): Findings {
  const root = asObject(parseJsonFile(text, file));
  if (root === undefined) throw new UsageError({ code: 'bad-source', is: 'ansible', file });
  const { _meta: meta, ...entries } = root;
  const variables = asObject(asObject(meta)?.['hostvars']) ?? {};
  const groups = Object.entries(entries).map(([name, entry]) => groupOf(name, entry));
  if (meta === undefined && groups.every(isEmpty)) {
    throw new UsageError({ code: 'bad-source', is: 'unknown', file });
  }
  const own = groups.filter(
    ({ name, children }) => !OWN_GROUPS.includes(name) && children.length > 0,
  );
  const bad = own.filter(({ name }) => nameProblem(name, 'group') !== undefined);
  const groupsOfHost = new Map<string, string[]>();
  for (const name of Object.keys(variables)) groupsOfHost.set(name, []);
  for (const { name: group, hosts } of groups) {
    for (const host of hosts) {
      const known = groupsOfHost.get(host) ?? [];
      if (!OWN_GROUPS.includes(group)) known.push(group);
      groupsOfHost.set(host, known);
    }
  }
  const hosts = [...groupsOfHost].map(([name, of]) => ({
    name,
    groups: of,
    variables: asObject(valueAt(variables, name)) ?? {},
  }));
  const nameOf = ({ name }: { name: string }): string => name;
  const isLocal = ({ variables }: { variables: DeviceRecord }): boolean =>
    variables['ansible_connection'] === 'local';
  const variableNames = hosts.flatMap((host) => Object.keys(host.variables));
  return {
    devices: hosts
      .filter((host) => !isLocal(host))
      .map(({ name, groups: of, variables }) => deviceOf(name, of, variables, file)),
    groups: own.filter((group) => !bad.includes(group)).map(writtenGroup),
    remarks: [
      ...leftOut('groups', bad.map(nameOf)),
      ...leftOut('hosts', hosts.filter(isLocal).map(nameOf)),
      ...leftOut('secrets', [...new Set(variableNames.filter(isSecretName))].sort()),
    ],
  };
}

/** `{hosts: [], children: []}`, or only the hosts in old scripts. */
function groupOf(name: string, entry: Value): Group {
  const hosts = asObject(entry)?.['hosts'] ?? entry;
  const names = (value: Value | undefined): string[] =>
    asList(value).flatMap((item) => asText(item) ?? []);
  return { name, hosts: names(hosts), children: names(asObject(entry)?.['children']) };
}

function isEmpty({ hosts, children }: Group): boolean {
  return hosts.length === 0 && children.length === 0;
}

function writtenGroup({ name, children }: Group): WrittenGroup {
  const own = children.filter(
    (child) => !OWN_GROUPS.includes(child) && nameProblem(child, 'group') === undefined,
  );
  return { name, children: own, settings: {} };
}

function deviceOf(
  name: string,
  groups: readonly string[],
  variables: DeviceRecord,
  file: string,
): FoundDevice {
  const variable = (key: string): string | undefined => {
    const value = variables[key];
    return typeof value === 'boolean' ? String(value) : asText(value);
  };
  const settings = LISTED_SETTINGS.map(
    (key) => [key, variable(key === 'user' ? 'ansible_user' : `devsh_${key}`)] as const,
  );
  return {
    name,
    address: variable('devsh_address') ?? addressOf(variable('ansible_host') ?? name, variable),
    groups,
    settings: Object.fromEntries(settings.filter(([, value]) => value !== undefined)),
    place: `${file}: ${name}`,
  };
}

/** The ports of ssh and NETCONF, the defaults of Ansible. No HTTPS API listens there. */
const OTHER_PORTS = ['22', '830'];

function addressOf(host: string, variable: (key: string) => string | undefined): string {
  const port = variable('ansible_httpapi_port') ?? variable('ansible_port');
  const connection = variable('ansible_connection') ?? 'httpapi';
  const isApi = /^(?:\S+\.)?(?:httpapi|local)$/.test(connection);
  if (port === undefined || !isApi || OTHER_PORTS.includes(port)) return host;
  return host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
}
