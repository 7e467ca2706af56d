import * as z from 'zod';
import type { JsonValue } from '../../device/record.ts';
import { parseJson } from '../../device/json.ts';
import { VERDICTS } from '../../change/verdict.ts';

/*
 * What `--json`, `--format yaml` and `--format jsonl` print, for those who read it with a program. New
 * keys may come within a version of the schema; none goes, and none changes its meaning. Whoever writes
 * an object takes its type from here, and names each of its keys; only the types are on the way of a start.
 */

const json = z.custom<JsonValue>();
const record = z
  .record(z.string(), json)
  .describe('A record as the device sent it, secrets masked as "***"');
const action = z.enum(['add', 'set', 'delete']);
const device = {
  device: z.string().describe('Its name in the inventory, or as it was typed'),
  address: z.string().describe('host:port'),
};

const error = z
  .strictObject({
    code: z.string().describe('Stable; decide by this, not by the message'),
    message: z.string(),
    column: z.int().optional().describe('Where in the line, from 0'),
    suggestions: z.array(z.string()).optional(),
    issues: z.record(z.string(), json).optional().describe('What the device says of fields'),
    fingerprint: z.string().optional().describe('Of the certificate that is not trusted'),
  })
  .meta({ id: 'error' });

const failure = z
  .strictObject({ device: device.device.optional(), address: device.address.optional(), error })
  .meta({ id: 'failure' });

const difference = z.strictObject({
  field: z.string(),
  sent: json.optional(),
  was: json.optional().describe('Before the step, which sent nothing for this field'),
  wanted: json.optional().describe('Nothing was sent at all'),
  held: json,
});

const result = z
  .strictObject({
    ...device,
    resource: z.string(),
    key: z.string(),
    action,
    verdict: z.enum(VERDICTS),
    differences: z.array(difference).optional(),
    record: record.optional(),
    note: z.string().optional(),
    error: error.optional(),
  })
  .meta({ id: 'result' });

const step = z.strictObject({
  action,
  resource: z.string(),
  key: z.string(),
  request: z.object({ method: z.string(), path: z.string() }).catchall(json),
  before: record.optional(),
  after: record.optional(),
  grants: z
    .array(z.object({ field: z.string(), isAdmin: z.boolean() }).catchall(json))
    .optional()
    .describe('The privileges that its record gets'),
  erases: z.array(z.string()).optional().describe('What the request leaves out, and is gone then'),
  mayErase: z
    .array(z.string())
    .optional()
    .describe('What it leaves out, not known whether it is kept; empty: of what is not shown'),
  lost: z.array(z.string()).optional().describe('What an undo does not bring back'),
});

const devicePlan = z
  .strictObject({
    ...device,
    steps: z.array(step),
    settled: z.array(result).describe('What needs no request'),
    isUnchecked: z.literal(true).optional().describe('The certificate was not checked'),
    assumed: z
      .array(z.strictObject({ action, resource: z.string(), way: z.string() }))
      .optional()
      .describe('Ways to write that are convention only'),
    lookAlikes: z.array(z.object({ action, key: z.string() }).catchall(json)).optional(),
    error: error.optional(),
  })
  .meta({ id: 'devicePlan' });

const answer = z
  .strictObject({
    ...device,
    status: z.int(),
    body: z.string().optional().describe('As it came, where it is no JSON'),
    value: json.optional().describe('The body, where it is JSON'),
  })
  .meta({ id: 'answer' });

const driftRow = z
  .strictObject({
    resource: z.string(),
    key: z.string(),
    devices: z.array(
      z.strictObject({
        device: z.string(),
        state: z
          .string()
          .describe('same, only (on no other device that was read), differs, missing, not read'),
        fields: z.array(z.string()).optional(),
      }),
    ),
    fields: z.array(
      z.strictObject({
        field: z.string(),
        values: z.array(z.strictObject({ value: json.optional(), devices: z.array(z.string()) })),
      }),
    ),
  })
  .meta({ id: 'driftRow' });

const summary = z.partialRecord(z.enum(VERDICTS), z.int());

const notCovered = z
  .array(z.strictObject({ ...device, code: z.string().describe('Why, as in errors') }))
  .optional()
  .describe('Every selected device that was not read; nothing is said of it, and nothing was sent');

/** Tables that are not about records of devices: one key each, with rows whose cells are plain values. */
const TABLES = [
  'certificates',
  'checks',
  'config',
  'connections',
  'credentials',
  'facts',
  'faults',
  'files',
  'history',
  'import',
  'info',
  'inventory',
  'logins',
  'pins',
  'questions',
  'quirks',
  'resources',
  'runs',
  'simulator',
  'themes',
  'vault',
] as const;

/** Texts, or the same as data. */
const TEXTS = [
  'ansible',
  'completion',
  'curl',
  'help',
  'jsonSchema',
  'man',
  'report',
  'url',
  'version',
] as const;

export type TableName = (typeof TABLES)[number];
export type TextName = (typeof TEXTS)[number];

function keysOf<T extends z.ZodType>(names: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

const row = z.record(z.string(), json);

const read = z.discriminatedUnion('ok', [
  z.strictObject({ ...device, ok: z.literal(true), records: z.array(record) }),
  z.strictObject({ ...device, ok: z.literal(false), error }),
]);

const drift = z.strictObject({
  resource: z.string(),
  key: z.string(),
  devices: z.array(z.string()),
  same: z.int(),
  different: z.array(driftRow),
});

/** What is no table and no text. */
const parts = z.strictObject({
  schema: z.literal('devsh/1').describe('The version; another number means that readers break'),
  resource: z.string().optional().describe('Of an export: what the records are'),
  filter: z.string().optional().describe('Of an export: only records that match are in it'),
  devices: z.array(read).optional().describe('What was read, device by device'),
  drift: drift.optional(),
  run: z.string().optional().describe('The id of the run, also in "runs" and "undo"'),
  plan: z.array(devicePlan).optional().describe('What would be sent; nothing was'),
  results: z.array(result).optional(),
  summary: summary.optional(),
  notCovered,
  answers: z.array(answer).optional(),
  errors: z.array(failure).optional().describe('What failed while the command went on'),
  error: error.optional().describe('What ended the command'),
});

/** One document: all that a command said. */
export const documentSchema: z.ZodType = parts
  .extend({ ...keysOf(TABLES, z.array(row).optional()), ...keysOf(TEXTS, json.optional()) })
  .meta({ title: 'The output of a devsh command as JSON or YAML' });

/** What the other kinds of lines are told by: a row that has one of them is one of these, gone wrong. */
const KEYS_OF_OTHER_LINES = ['record', 'error', 'verdict', 'steps', 'settled'] as const;

const otherLine = z
  .looseObject({ summary: z.string().optional() })
  .refine(
    (line) => Object.keys(line).length > 0 && KEYS_OF_OTHER_LINES.every((name) => !(name in line)),
  )
  .meta({
    description: 'A row of a table, or {name: text}',
    minProperties: 1,
    not: { anyOf: KEYS_OF_OTHER_LINES.map((name) => ({ required: [name] })) },
  });

const readLine = z.strictObject({ device: z.string(), record });
const summaryLine = z.strictObject({ run: z.string(), summary, notCovered });
const changeLine = z.strictObject({
  time: z.iso.datetime(),
  device: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  key: z.string(),
  fields: z.array(z.string()).optional(),
  record,
});

/** One line of JSON lines, as it arrives. */
export const lineSchema: z.ZodType = z
  .union([
    readLine,
    failure,
    result,
    devicePlan,
    answer,
    driftRow,
    summaryLine,
    changeLine,
    otherLine,
  ])
  .meta({ title: 'A line of the output of a devsh command as JSON lines' });

/** Both as JSON schema, open to keys that come later. */
export function outputJsonSchema(): Readonly<Record<'document' | 'line', JsonValue>> {
  const open = (schema: z.ZodType): JsonValue => {
    const published = z.toJSONSchema(schema, {
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    });
    // It is JSON, with functions of zod at its side.
    return parseJson(JSON.stringify(published));
  };
  return { document: open(documentSchema), line: open(lineSchema) };
}

/** What is written of a kind: each of its keys, with `undefined` where there is nothing to say. */
type Written<Schema extends z.ZodType> = Named<z.infer<Schema>>;
type Named<Content> = {
  readonly [Key in keyof Required<Content>]: Key extends keyof Content
    ? Constant<Content[Key]>
    : never;
};
type Constant<Content> = [JsonValue] extends [Content]
  ? Content
  : { readonly [Key in keyof Content]: Constant<Content[Key]> };

export type DocumentParts = Written<typeof parts>;
export type ErrorObject = Written<typeof error>;
export type FailureObject = Written<typeof failure>;
export type ResultObject = Written<typeof result>;
export type StepObject = Written<typeof step>;
export type DevicePlanObject = Written<typeof devicePlan>;
export type AnswerObject = Written<typeof answer>;
export type ReadObject = Written<typeof read>;
export type DriftObject = Written<typeof drift>;
export type DriftRowObject = Written<typeof driftRow>;
export type LineObject =
  | FailureObject
  | ResultObject
  | AnswerObject
  | DriftRowObject
  | Written<typeof readLine>
  | Written<typeof summaryLine>
  | Written<typeof changeLine>
  | Written<typeof row>;
