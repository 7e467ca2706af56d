import { isIPv4 } from 'node:net';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { formatAddress, parseAddress } from '../device/address.ts';
import type { ConfiguredRoute } from '../device/route/choose-route.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import { YamlSource, type Path } from '../yaml-source.ts';
import { routeAt } from './inventory-route.ts';
import { Inventory, type InventoryDevice } from './inventory.ts';

// In the failsafe schema of YAML every plain scalar is text, so that a device may be called 1.0 or no.
const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true');
const text = z.string('must be text').min(1, 'must not be empty');
const words = z.array(text, 'must be a list: the program, then each argument').min(1, 'is empty');
const helperMessage = 'must be "default", a helper of git, or a list of one and its arguments';
const name = text.regex(
  /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*$/u,
  'must be letters, digits, "_", "-" and ".", and not start with "-" or "."',
);
const defaults = {
  user: text.optional(),
  ca: text.optional(),
  insecure: flag.optional(),
  read_only: flag.optional(),
  profile: text.optional(),
  proxy: text.optional(),
  jump: text.optional(),
  credential_command: words
    .refine(([program = '']) => !/^[-{]/.test(program), 'must begin with a program')
    .optional(),
  git_credential: z.union([text.transform((helper) => [helper]), words], helperMessage).optional(),
  netrc: text.transform(flagOrText).optional(),
};
/** `devices:` with nothing after it is the empty text here, and means the same as no key at all. */
function orEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((data) => (data === '' ? undefined : data), schema.optional());
}
const groupName = name.refine((group) => group.toLowerCase() !== 'all', '"all" means every device');
const deviceSchema = z.strictObject({
  name,
  address: text,
  groups: orEmpty(z.array(groupName, 'must be a list of group names')),
  ...defaults,
});
/** What may be written in `devices.yaml`. */
const fileSchema = z.strictObject({
  devices: orEmpty(z.array(deviceSchema, 'must be a list of devices')),
  groups: orEmpty(
    z.record(groupName, orEmpty(z.strictObject(defaults)), 'must be groups with their settings'),
  ),
});
type FileContent = z.infer<typeof fileSchema>;
type FileDevice = z.infer<typeof deviceSchema>;
type Defaults = Pick<FileDevice, keyof typeof defaults>;
type Inherited = Defaults & { readonly route?: ConfiguredRoute | undefined };

/**
 * Reads the text of `devices.yaml`. What a device does not say itself comes from its groups, the one
 * named first in its list before the others. A relative `ca` counts from the folder of `file`.
 * Throws SettingsError with `file:line:column`.
 */
export function parseInventory(text: string, file: string): Inventory {
  const source = new YamlSource(text, file, (message) => new SettingsError(message));
  const content = contentOf(source);
  const places = new Map<string, number>();
  const claim = (key: string, path: Path, message: string): void => {
    const earlier = places.get(key);
    if (earlier !== undefined) throw source.error(path, `${message} (first in line ${earlier})`);
    places.set(key, source.line(path));
  };
  const groups = Object.entries(content.groups ?? {}).map(([name, settings]) => {
    const own = settings ?? {};
    return { name, ...own, route: routeAt(own, ['groups', name], source) };
  });
  const devices = (content.devices ?? []).map((device, index) => {
    const path = ['devices', index];
    claim(
      `name ${device.name.toLowerCase()}`,
      [...path, 'name'],
      `there is already a device "${device.name}"`,
    );
    const address = addressOf(device, path, source);
    claim(`address ${address}`, [...path, 'address'], `there is already a device at ${address}`);
    const own = { ...device, route: routeAt(device, path, source) };
    return inherit(own, groups, dirname(file));
  });
  return new Inventory(devices);
}

function flagOrText(written: string): string | boolean {
  return written === 'true' ? true : written === 'false' ? false : written;
}

/** Checks the content against the schema. */
function contentOf(source: YamlSource): FileContent {
  const result = fileSchema.safeParse(source.data() ?? {});
  if (result.success) return result.data;
  const { issues } = result.error;
  // A misspelt key also makes the right one missing: the spelling is the cause.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code === 'unrecognized_keys') {
    throw source.error([...issue.path, issue.keys[0] ?? ''], unknownKey(issue), 'key');
  }
  if (issue?.code === 'invalid_key') {
    throw source.error(issue.path, `group name ${issue.issues[0]?.message ?? ''}`, 'key');
  }
  const path = issue?.path ?? [];
  if (path.length === 0) throw source.error(path, 'the file is to hold "devices:" and "groups:"');
  const key = path.at(-1);
  if ((key === 'name' || key === 'address') && !source.has(path)) {
    throw source.error(path, `the device needs ${key === 'name' ? 'a name' : 'an address'}`);
  }
  throw source.error(path, `${placeName(path)} ${issue?.message ?? ''}`);
}

/** The canonical address of a device; refuses one that cannot be understood, or that misleads. */
function addressOf(device: FileDevice, path: Path, source: YamlSource): string {
  try {
    const address = parseAddress(device.address);
    if (isIPv4(device.name) && address.host !== device.name) {
      throw new UsageError(`a device called ${device.name} cannot have another address`);
    }
    return formatAddress(address);
  } catch (error) {
    if (error instanceof UsageError) throw source.error([...path, 'address'], error.message);
    throw error;
  }
}

function unknownKey(issue: { path: PropertyKey[]; keys: string[] }): string {
  const [key = ''] = issue.keys;
  const known =
    issue.path.length === 0
      ? Object.keys(fileSchema.shape)
      : Object.keys(issue.path[0] === 'groups' ? defaults : deviceSchema.shape);
  const [meant] = suggest(key, known);
  const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `unknown key "${key}", ${hint}`;
}

/** `devices` › 3 › `groups` › 0 -> `groups`: the last word in a path. */
function placeName(path: Path): string {
  return path.findLast((part) => typeof part === 'string') ?? 'the file';
}

function inherit(
  device: FileDevice & Inherited,
  groups: readonly (Inherited & { readonly name: string })[],
  folder: string,
): InventoryDevice {
  const sources: Inherited[] = [device];
  for (const group of device.groups ?? []) {
    const settings = groups.find(({ name }) => name.toLowerCase() === group.toLowerCase());
    if (settings) sources.push(settings);
  }
  const first = <Key extends keyof Inherited>(key: Key): Inherited[Key] =>
    sources.find((source) => source[key] !== undefined)?.[key];
  const user = first('user');
  const ca = first('ca');
  const insecure = first('insecure');
  const readOnly = first('read_only');
  const profile = first('profile');
  const route = first('route');
  const credentialCommand = first('credential_command');
  const gitCredential = first('git_credential');
  const netrc = first('netrc');
  return {
    name: device.name,
    address: device.address,
    groups: device.groups ?? [],
    ...(user !== undefined && { user }),
    ...(ca !== undefined && { ca: resolve(folder, ca) }),
    ...(insecure !== undefined && { insecure }),
    ...(readOnly !== undefined && { readOnly }),
    ...(profile !== undefined && { profile }),
    ...(route !== undefined && { route }),
    ...(credentialCommand !== undefined && {
      credentialCommand: withProgramIn(folder, credentialCommand),
    }),
    ...(gitCredential !== undefined && { gitCredential: withProgramIn(folder, gitCredential) }),
    ...(netrc !== undefined && {
      netrc: typeof netrc === 'boolean' || netrc.startsWith('~/') ? netrc : resolve(folder, netrc),
    }),
  };
}

/** A program with a path counts from the folder; one without is searched for. */
function withProgramIn(folder: string, [program = '', ...args]: readonly string[]): string[] {
  return [program.includes('/') ? resolve(folder, program) : program, ...args];
}
