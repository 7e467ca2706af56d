import * as z from 'zod';
import { SettingsError, UsageError, attempt } from '../errors.ts';
import { insteadOfName } from '../text/former-names.ts';
import { oneLine } from '../text/one-line.ts';
import { suggest } from '../text/suggest.ts';
import { SETTING_ROWS, type SettingName, type SettingsValues, type Z } from './settings-table.ts';

// Apart from the table, so that a start without settings does not load zod.

// By name: all of zod is bundled where it is taken apart.
const parts: Z = {
  string: z.string,
  int: z.int,
  boolean: z.boolean,
  literal: z.literal,
  json: z.json,
  enum: z.enum,
  union: z.union,
  array: z.array,
  record: z.record,
  strictObject: z.strictObject,
};

const valuesSchema = z.strictObject(
  Object.fromEntries(
    SETTING_ROWS.map(([name, { schema, summary, default: usual }]) => {
      const own = schema(parts);
      const open = usual === undefined ? own.optional() : own.default(usual);
      return [name, open.describe(summary)];
    }),
  ),
);

const projectSchema = z.strictObject(
  Object.fromEntries(
    SETTING_ROWS.flatMap(([name, { schema, inProject }]) => {
      if (inProject === undefined) return [];
      const own = inProject === true ? schema : inProject;
      return [[name, own(parts).optional()]];
    }),
  ),
);

export function settingsJsonSchema(): unknown {
  return z.toJSONSchema(valuesSchema, { io: 'input' });
}

/** What a number or a switch accepts, with an example. */
function expectedOf(name: SettingName): string | undefined {
  const property = z.toJSONSchema(valuesSchema, { io: 'input' }).properties?.[name];
  if (typeof property !== 'object') return undefined;
  const { type, minimum, maximum, default: usual = 100 } = property;
  if (type === 'boolean') return 'it is true or false';
  if (type !== 'integer') return undefined;
  const [what, example] = name.endsWith('Ms') ? ['in milliseconds, ', 5000] : ['', usual];
  return `it is a whole number, ${what}${minimum ?? 0} to ${maximum ?? ''}, as in ${JSON.stringify(example)}`;
}

/** Checks the settings in the content of the file at `path`. Throws a SettingsError that names it. */
export function checkSettings(data: unknown, path: string): SettingsValues {
  return check(valuesSchema, data, path) as SettingsValues;
}

/** The same for the file of a project. */
export function checkProject(data: unknown, path: string): Partial<SettingsValues> {
  return check(projectSchema, data, path);
}

/** JSON if the setting accepts it, else the text itself. Throws a UsageError that says what it accepts. */
export function parseSetting<Name extends SettingName>(
  name: Name,
  text: string,
  column?: number,
): SettingsValues[Name] {
  const schema = valuesSchema.pick({ [name]: true });
  const json = attempt(SyntaxError, () => JSON.parse(text) as unknown);
  for (const value of [json, text]) {
    const { success, data } = schema.safeParse({ [name]: value });
    if (value !== undefined && success) return (data as SettingsValues)[name];
  }
  const issues = schema.safeParse({ [name]: json ?? text }).error?.issues ?? [];
  const choices = issues.flatMap((issue) =>
    issue.code === 'invalid_value' ? issue.values.map(String) : [],
  );
  const why =
    choices.length > 0
      ? `choose one of ${choices.join(', ')}`
      : (expectedOf(name) ?? issues.map(({ message }) => message).join('; '));
  throw new UsageError(`${name} cannot be "${oneLine(text)}": ${why}`, {
    column,
    suggestions: suggest(text, choices),
  });
}

function check(schema: typeof valuesSchema, data: unknown, path: string): object {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue));
  throw new SettingsError(`${path}: ${problems.join('; ')}`);
}

function problemsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys' && path.length === 0)
    return issue.keys.map(unknownSetting);
  // If the schema has several forms, report the mistakes of the one that fits best.
  const meant =
    issue.code === 'invalid_union'
      ? issue.errors.find(([first]) => first?.code !== 'invalid_type' || first.path.length > 0)
      : undefined;
  if (meant !== undefined) return meant.flatMap((one) => problemsOf(one, path));
  return [`${path.join('.') || 'the file'}: ${issue.message}`];
}

function unknownSetting(name: string): string {
  if (Object.hasOwn(valuesSchema.shape, name)) {
    return `"${name}" is only allowed in your own settings, not in the folder of a project`;
  }
  const [suggestion] = suggest(name, Object.keys(valuesSchema.shape));
  const guess = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
  return `unknown setting "${name}"${insteadOfName(name) ?? guess}`;
}
