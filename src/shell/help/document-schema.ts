import * as z from 'zod';
import type { JsonValue } from '../../device/record.ts';
import { parseJson } from '../../device/json.ts';
import { VERDICTS } from '../../change/verdict.ts';

/*
 * The output of `--json`, `--format yaml` and `--format jsonl`. A version of the schema may get new keys; none
 * disappears or changes its meaning. The code that writes an object takes its type from here and names each key;
 * a start loads only the types.
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
    note: z.string().optional().describe('What exactly, such as no-such-group; stable'),
    message: z.string(),
    column: z.int().optional().describe('Where in the line, from 0'),
    suggestions: z.array(z.string()).optional(),
    issues: z.record(z.string(), json).optional().describe('The complaints of the device by field'),
    fingerprint: z.string().optional().describe('Of the certificate that is not trusted'),
  })
  .meta({ id: 'error' });

const failure = z
  .strictObject({ device: device.device.optional(), address: device.address.optional(), error })
  .meta({ id: 'failure' });

const difference = z.strictObject({
  field: z.string(),
  sent: json.optional(),
  was: json.optional().describe('The value before the step, which did not send this field'),
  wanted: json.optional().describe('The value in the line; nothing was sent'),
  held: json.optional(),
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
    codes: z
      .array(z.string())
      .optional()
      .describe('What its note says, such as seen.no-change; stable'),
    error: error.optional(),
    run: z.string().optional().describe('If the command made or continued several runs: its run'),
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
    .describe('Privileges that the record gets'),
  erases: z
    .array(z.string())
    .optional()
    .describe('Fields that the request leaves out and that are lost'),
  mayErase: z
    .array(z.string())
    .optional()
    .describe('Fields that it leaves out and that may be lost; empty: hidden fields'),
  lost: z.array(z.string()).optional().describe('Fields that undo cannot restore'),
  takes: z
    .array(
      z.strictObject({
        resource: z.string(),
        count: z.int().optional().describe('Absent if they could not be read'),
        keys: z.array(z.string()).describe('The first ten'),
        refers: z.literal(true).optional().describe('They only refer to its record, and stay'),
      }),
    )
    .optional()
    .describe('Records of other resources that a delete also deletes, or that refer to its record'),
});

const devicePlan = z
  .strictObject({
    ...device,
    steps: z.array(step),
    settled: z.array(result).describe('Changes that need no request'),
    isUnchecked: z.literal(true).optional().describe('The certificate was not checked'),
    assumed: z
      .array(z.strictObject({ action, resource: z.string(), way: z.string() }))
      .optional()
      .describe('Ways to write that are only assumed'),
    lookAlikes: z.array(z.object({ action, key: z.string() }).catchall(json)).optional(),
    error: error.optional(),
  })
  .meta({ id: 'devicePlan' });

const answer = z
  .strictObject({
    ...device,
    status: z.int(),
    body: z.string().optional().describe('The body, if it is not JSON'),
    value: json.optional().describe('The body, if it is JSON'),
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
          .describe(
            'same, only (on no other device that was read), differs, missing, not listed (the list may leave it out), not read',
          ),
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
  .array(z.strictObject({ ...device, code: z.string().describe('The reason, as in errors') }))
  .optional()
  .describe('Every selected device that was not read; nothing was sent to it');

const pendingOn = z
  .array(z.string())
  .optional()
  .describe('The devices on which the run still has something to do: "pending" lists it');

/** Tables that are not about records of devices: one key each, with rows whose cells are plain values. */
const TABLES = [
  'aliases',
  'baseline',
  'certificates',
  'changes',
  'checks',
  'config',
  'counts',
  'credentials',
  'facts',
  'files',
  'history',
  'import',
  'info',
  'inventory',
  'lockout',
  'logins',
  'pending',
  'pins',
  'questions',
  'requests',
  'resources',
  'runs',
  'simulator',
  'suggestions',
  'understood',
  'vault',
] as const;

/** The keys of outputs that are a text, or its data. */
const TEXTS = [
  'completion',
  'curl',
  'help',
  'jsonSchema',
  'man',
  'output',
  'report',
  'value',
  'version',
] as const;

export type TableName = (typeof TABLES)[number];
export type TextName = (typeof TEXTS)[number];

function keysOf<T extends z.ZodType>(names: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

const row = z.record(z.string(), json);

const read = z.discriminatedUnion('ok', [
  z.strictObject({
    ...device,
    ok: z.literal(true),
    records: z.array(record),
    past: z
      .strictObject({
        from: z.iso.datetime().describe('When this reading began'),
        to: z.iso.datetime().describe('When it ended'),
        next: z.iso.datetime().optional().describe('When the next one ended'),
      })
      .optional()
      .describe('With --at: the reading that has these records'),
  }),
  z.strictObject({ ...device, ok: z.literal(false), error }),
]);

const drift = z.strictObject({
  resource: z.string(),
  key: z.string(),
  devices: z.array(z.string()),
  same: z.int(),
  different: z.array(driftRow),
});

const changeLine = z.strictObject({
  time: z.iso.datetime(),
  device: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  key: z.string(),
  fields: z.array(z.string()).optional(),
  record,
});

/** The keys that are neither tables nor texts. */
const parts = z.strictObject({
  schema: z.literal('devsh/1').describe('The version; another number is incompatible'),
  resource: z.string().optional().describe('Of an export: the resource of its records'),
  filter: z.string().optional().describe('Of an export: it has only records that match'),
  devices: z.array(read).optional().describe('What was read, by device'),
  drift: drift.optional(),
  run: z.string().optional().describe('The id of the run, also in "runs" and "undo"'),
  plan: z.array(devicePlan).optional().describe('What would be sent; nothing was sent'),
  results: z.array(result).optional(),
  summary: summary.optional(),
  notCovered,
  pendingOn,
  answers: z.array(answer).optional(),
  changed: z
    .array(changeLine)
    .optional()
    .describe('What is different after a request whose effect is not known'),
  errors: z.array(failure).optional().describe('Failures that did not end the command'),
  error: error.optional().describe('The error that ended the command'),
});

export const documentSchema: z.ZodType = parts
  .extend({ ...keysOf(TABLES, z.array(row).optional()), ...keysOf(TEXTS, json.optional()) })
  .meta({ title: 'The output of a devsh command as JSON or YAML' });

/** Keys that identify the other kinds of lines. A line with one of them is not the row of a table. */
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
const summaryLine = z.strictObject({ run: z.string(), summary, notCovered, pendingOn });
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

/** Both as JSON schema, open to future keys. */
export function outputJsonSchema(): Readonly<Record<'document' | 'line', JsonValue>> {
  const open = (schema: z.ZodType): JsonValue => {
    const published = z.toJSONSchema(schema, {
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    });
    // It is JSON, with additional functions of zod.
    return parseJson(JSON.stringify(published));
  };
  return { document: open(documentSchema), line: open(lineSchema) };
}

/** The written form of a kind: each of its keys, `undefined` if absent. */
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
export type ChangeObject = Written<typeof changeLine>;
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
  | ChangeObject
  | Written<typeof row>;
