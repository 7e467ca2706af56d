import * as z from 'zod';
import { SettingsError } from '../errors.ts';
import { FORMAT_NAMES } from '../format-names.ts';
import { suggest } from '../suggest.ts';
import { THEME_NAMES } from '../theme-names.ts';

const valuesSchema = z.strictObject({
  timeoutMs: z.int().min(1).max(3_600_000).optional().describe('How long an answer may take'),
  concurrency: z.int().min(1).max(1_000).optional().describe('How many devices at a time'),
  on: z.string().min(1).optional().describe('The devices that are meant where a line names none'),
  format: z
    .enum(FORMAT_NAMES)
    .optional()
    .describe('How a command prints its data, where it is not told'),
  readOnly: z.boolean().optional().describe('Whether every write is refused'),
  inventory: z
    .string()
    .min(1)
    .optional()
    .describe('Another inventory than `devices.yaml` beside the settings'),
  historySize: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('How many lines of history are kept; 0 keeps none'),
  saveCredentials: z
    .enum(['ask', 'never'])
    .default('ask')
    .describe('Whether to ask before a credential goes to the keychain, or never to store one'),
  rememberKeys: z
    .boolean()
    .default(true)
    .describe('Whether the keys of records are kept from session to session, for completion'),
  theme: z
    .enum(THEME_NAMES)
    .optional()
    .describe('The looks of the full screen, where `--theme` says nothing'),
  pager: z
    .union([z.string(), z.literal(false)])
    .optional()
    .describe('The program for output longer than the screen, before `$PAGER`; false: none'),
  reduceMotion: z
    .boolean()
    .default(false)
    .describe('What changed on the full screen does not fade by itself'),
  columns: z
    .record(z.string(), z.array(z.string()).readonly())
    .optional()
    .describe('By profile and resource (`drf/user`): the fields that a list shows on a screen'),
  keys: z
    .record(z.string(), z.record(z.string(), z.array(z.string().min(1)).readonly()))
    .optional()
    .describe(
      'By place and action: the keys on the full screen, as in `{"table": {"delete": ["x"]}}`',
    ),
  editing: z
    .enum(['emacs', 'vi'])
    .default('emacs')
    .describe('Which keys edit the line at the prompt'),
});

/**
 * What a file in the folder of a project may say. It may come with a checkout from anywhere: nothing in
 * it may run a program, trust a certificate, allow a write, or lead a login to another device.
 */
const projectSchema = z.strictObject({
  on: valuesSchema.shape.on,
  format: valuesSchema.shape.format,
  timeoutMs: valuesSchema.shape.timeoutMs,
  concurrency: valuesSchema.shape.concurrency,
  readOnly: z.literal(true, 'only true may be said here').optional(),
});

/** For the documentation: every setting with what it says. */
export function settingsJsonSchema(): unknown {
  return z.toJSONSchema(valuesSchema, { io: 'input' });
}

/** Every setting there is, in the order of `info --config`. */
export const SETTING_NAMES = Object.keys(valuesSchema.shape) as readonly (keyof SettingsValues)[];

/** What the user has set, as checked; what is absent is decided where it is used. */
export type SettingsValues = Readonly<z.infer<typeof valuesSchema>>;
/** The settings in the content of the file at `path`. Throws a SettingsError that names it. */
export function checkSettings(data: unknown, path: string): SettingsValues {
  return check(valuesSchema, data, path);
}

/** The same for a file of a project. */
export function checkProject(data: unknown, path: string): Partial<SettingsValues> {
  return check(projectSchema, data, path);
}

function check<Values>(schema: z.ZodType<Values>, data: unknown, path: string): Values {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(unknownSetting).join('; ')
      : `${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  throw new SettingsError(`${path}: ${problems.join('; ')}`);
}

function unknownSetting(name: string): string {
  if (Object.hasOwn(valuesSchema.shape, name)) {
    return `"${name}" may only stand in your own settings, not in the folder of a project`;
  }
  const [meant] = suggest(name, Object.keys(valuesSchema.shape));
  return `unknown setting "${name}"${meant === undefined ? '' : `, did you mean "${meant}"?`}`;
}
