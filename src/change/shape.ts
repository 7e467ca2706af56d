import * as z from 'zod';
import { VERDICTS } from './verdict.ts';

/**
 * What a journal and a plan file must look like before they are believed: a line that is JSON may
 * still be of another version, or of no devsh at all.
 */
const image = z.record(z.string(), z.unknown());
const device = z.looseObject({ name: z.string(), address: z.string() });
const action = z.enum(['add', 'set', 'delete']);
const error = z.looseObject({ code: z.string(), exitCode: z.number(), message: z.string() });
const about = { resource: z.string(), key: z.string(), action };

const result = z.looseObject({
  ...about,
  device,
  verdict: z.enum(VERDICTS),
  record: image.optional(),
  differences: z.array(z.looseObject({ field: z.string() })).optional(),
  note: z.string().optional(),
  error: error.optional(),
});

const step = z.looseObject({
  ...about,
  keyField: z.string(),
  request: z.looseObject({
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
    path: z.string().startsWith('/'),
    form: z.array(z.tuple([z.string(), z.string()])).optional(),
    json: image.optional(),
    contentType: z.string().optional(),
  }),
  before: image.optional(),
  after: image.optional(),
  asked: image,
  filled: z.record(z.string(), z.string()),
});

const change = z.looseObject({ action, resource: z.string() });

const devicePlan = z.looseObject({
  device,
  steps: z.array(step),
  settled: z.array(result),
  error: error.optional(),
  isUnchecked: z.literal(true).optional(),
  assumed: z.array(z.looseObject({ action, resource: z.string(), way: z.string() })).optional(),
  wanted: z.array(z.looseObject(about)).optional(),
  changes: z.array(change).optional(),
});

const at = z.string();
const ref = z.looseObject({ device: z.string(), index: z.number().int().nonnegative() });

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const shard = z.looseObject({
  index: z.number().int().positive(),
  total: z.number().int().positive(),
});

const entry = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('run'),
    run: z.string(),
    at,
    command: z.string(),
    by: z.string(),
    session: z.string().optional(),
    version: z.string(),
    part: z.looseObject({ digest, shard, result: z.string() }).optional(),
  }),
  z.looseObject({ kind: z.literal('device'), plan: devicePlan }),
  z.looseObject({ kind: z.literal('planned') }),
  z.looseObject({ kind: z.literal('send'), ref, at, step: step.optional() }),
  z.looseObject({ kind: z.literal('verdict'), ref, at, result }),
  z.looseObject({ kind: z.literal('stop'), at, reason: z.string() }),
  z.looseObject({ kind: z.literal('resume'), at, by: z.string() }),
  z.looseObject({ kind: z.literal('end'), at }),
]);

const planHead = z.looseObject({
  run: z.string(),
  createdAt: z.string(),
  expiresAt: z.iso.datetime(),
  command: z.string(),
  devices: z.number().int(),
  changes: z.array(change),
});

const resultFile = z.looseObject({
  schema: z.literal('devsh-result/1'),
  plan: z.looseObject({ sha256: digest }),
  shard,
  run: z.string().regex(/^[\w-]+$/),
  began: z.iso.datetime(),
  ended: z.iso.datetime().optional(),
  by: z.string(),
  version: z.string(),
  command: z.string(),
  stopped: z.string().optional(),
  devices: z.array(
    z.looseObject({
      device: z.string(),
      address: z.string(),
      steps: z.array(
        result
          .omit({ device: true })
          .extend({ state: z.enum(['waiting', 'sent', 'ended']), at: at.optional() }),
      ),
    }),
  ),
});

/** Whether data is a line of a journal. */
export function isJournalEntry(data: unknown): boolean {
  return entry.safeParse(data).success;
}

/** Whether data is what a plan file keeps of one device. */
export function isDevicePlan(data: unknown): boolean {
  return devicePlan.safeParse(data).success;
}

/** Whether data is a result file. */
export function isResultFile(data: unknown): boolean {
  return resultFile.safeParse(data).success;
}

/** Whether data is the first line of a plan file. */
export function isPlanHead(data: unknown): boolean {
  return planHead.safeParse(data).success;
}
