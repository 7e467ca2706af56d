import { keysAt } from '../text/schema-keys.ts';
import { nearOrAll } from '../text/suggest.ts';
import * as z from 'zod';
import { normalizeFingerprint } from '../device/trust-anchors.ts';
import { insteadOfName } from '../text/former-names.ts';
import type { NamedInCode } from '../text/yaml-names.ts';

/** A device may have the name 1.0 or no. devsh reads text, but an editor sees a number or a boolean. */
const AS_IN_YAML = { type: ['string', 'number', 'boolean'] };

const text = z.string('must be text').min(1, 'must not be empty').meta(AS_IN_YAML);
const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .meta({ type: 'boolean', enum: [true, false] })
  .transform((written) => written === 'true');
const words = z.array(text, 'must be a list: the program, then each argument').min(1, 'is empty');
const program = words.refine(([name = '']) => !/^[-{]/.test(name), 'must begin with a program');
const name = text
  .regex(
    /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*$/u,
    'must be letters, digits, "_", "-" and ".", and not start with "-" or "."',
  )
  // The maximum length of a host name.
  .max(253, 'must be no longer than 253 characters');

/** Colours that every theme can show; the label text has the meaning. */
export const LABEL_COLORS = ['red', 'yellow', 'green', 'blue'] as const;
export type LabelColor = (typeof LABEL_COLORS)[number];

/** Splits the names in one text, as in the cell of a spreadsheet. */
export function splitNames(names: string): string[] {
  return names.split(/[\s,;|]+/).filter((one) => one !== '');
}

const key = <Type extends z.ZodType>(type: Type, says: string): z.ZodExactOptional<Type> =>
  type.exactOptional().describe(says);

const breakGlass = key(
  z.union(
    [text.transform(splitNames), z.array(text).min(1)],
    'must be a list of names or patterns',
  ),
  'Accounts for emergencies, names or patterns: no write takes access from them',
);
const label = text.max(24, 'must be no longer than 24 characters');
const color = z.enum(LABEL_COLORS, `must be ${LABEL_COLORS.join(', ')}`);

/** Settings of a device, its own or inherited from its groups. */
const settings = {
  user: key(text, 'The account to log in as'),
  ca: key(text, 'A PEM file with the CA of its certificate, relative to this file'),
  insecure: key(flag, 'Do not check its certificate'),
  read_only: key(flag, 'Refuse every write'),
  break_glass: breakGlass,
  label: key(label, 'A text in the prompt and in the question of a write, as PROD'),
  color: key(color, 'The colour of its label'),
  profile: key(text, 'How it speaks: a built-in profile, or one of yours'),
  proxy: key(text, 'The proxy to it, or "none"'),
  jump: key(text, 'The SSH jump host to it, or "none"'),
  credential_command: key(program, 'A program that prints the login: {device}, {host}, {port}'),
  credential_store_command: key(program, 'A program that keeps a new login, given on its input'),
};

/** Accepts `devices:` without a value, which is an empty text in the failsafe schema, like a missing key. */
function orEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((data) => (data === '' ? undefined : data), schema.optional());
}

const groupName = name.refine((group) => group.toLowerCase() !== 'all', '"all" means every device');
const groupNames = z.array(groupName, 'must be a list of group names');

const fingerprint = text
  .transform(normalizeFingerprint)
  .refine((hex) => hex !== undefined, 'must be a SHA-256 fingerprint: 64 hexadecimal digits');

const deviceSchema = z.strictObject({
  name: name.describe('Its name'),
  address: text.describe('Address, host name or host:port'),
  groups: orEmpty(groupNames).describe('Its groups; settings of an earlier one win'),
  fingerprint: key(fingerprint, 'The SHA-256 of its certificate, as long as devsh has no pin'),
  ...settings,
});

const groupSchema = z.strictObject({
  children: orEmpty(groupNames).describe('Groups whose devices are also in this one'),
  ...settings,
});

export const inventorySchema = z.strictObject({
  break_glass: breakGlass,
  devices: orEmpty(z.array(deviceSchema, 'must be a list of devices')),
  groups: orEmpty(z.record(groupName, orEmpty(groupSchema), 'must be groups with their settings')),
});

export type InventoryContent = z.infer<typeof inventorySchema>;
export type DeviceContent = z.infer<typeof deviceSchema>;
export type SettingKey = keyof typeof settings;
export type SettingsContent = Pick<DeviceContent, SettingKey>;
/** The settings of a device, with names in camel case. */
export type DeviceSettings = NamedInCode<Omit<SettingsContent, 'proxy' | 'jump'>>;

export const SETTING_KEYS = Object.keys(settings) as readonly SettingKey[];

/** Settings that run no program and give no access to a secret. */
const ROUTE_SETTINGS = ['proxy', 'jump'] as const;
const SAFE_SETTINGS = [
  ...ROUTE_SETTINGS,
  ...(['read_only', 'insecure', 'break_glass', 'label', 'color'] as const),
] as const;

/** The columns of `device list` that are not part of an inventory. */
export const LISTED_STATE = [
  ...['state', 'trust', 'last_read', 'account', 'users', 'route', 'latency_ms', 'since', 'reason'],
] as const;

/** The settings in a row of `device list`, which `device import` reads; a host of Ansible has them as `devsh_…`. */
export const LISTED_SETTINGS = ['user', 'ca', 'profile', ...SAFE_SETTINGS] as const;

export function inventoryJsonSchema(): unknown {
  return z.toJSONSchema(inventorySchema, { io: 'input' });
}

/** Why a name is invalid for a device or group, if it is. */
export function nameProblem(written: string, what: 'device' | 'group'): string | undefined {
  const result = (what === 'device' ? name : groupName).safeParse(written);
  return result.success ? undefined : result.error.issues[0]?.message;
}

export function unknownKey(key: string, path: readonly PropertyKey[]): string {
  const instead = insteadOfName(key);
  if (instead !== undefined) return `unknown key "${key}"${instead}`;
  return `unknown key "${key}", ${nearOrAll(key, keysAt(inventorySchema, path), 'keys')}`;
}
