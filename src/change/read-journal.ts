import * as z from 'zod';
import { JsonFailure, parseJson } from '../device/json.ts';
import { DevshError, SettingsError } from '../errors.ts';
import {
  JOURNAL_SCHEMA,
  type JournalEntry,
  type Run,
  type RunHead,
  type StepRef,
  type StepState,
} from './journal.ts';
import { type DevicePlan, EmptyJournalError, type Plan, type Step } from './plan.ts';
import { type StepResult, VERDICTS } from './verdict.ts';

/** An error as the journal keeps it: its class is gone, its code and exit status are not. */
class JournaledError extends DevshError {
  readonly code: string;
  override readonly exitCode: number;

  constructor(code: string, exitCode: number, message: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/**
 * Reads a journal. Half a last line (power was lost while it was written) is as if it were not there;
 * any other line that cannot be read is a SettingsError with its number.
 */
export function parseJournal(text: string, file: string): Run {
  // What has no line break is half a line: it is taken off when the run goes on.
  const lines = text.split('\n').slice(0, -1);
  if (lines.length === 0) {
    if (!isHalfHead(text)) {
      throw new SettingsError(`${file}: this journal cannot be read: it is not one of devsh`);
    }
    throw new EmptyJournalError(`${file}: this journal is empty: nothing was sent in its run`);
  }
  return runOf(
    lines.map((line, index) => entryOf(line, `${file}:${index + 1}`)),
    file,
  );
}

/** Who began a run, from the first line of its journal; undefined where it ended before that line did. */
export function parseHead(text: string, file: string): RunHead | undefined {
  const end = text.indexOf('\n');
  if (end < 0 && isHalfHead(text)) return undefined;
  const head = entryOf(text.slice(0, Math.max(end, 0)), `${file}:1`);
  if (head.kind !== 'run') throw new SettingsError(`${file}:1: this is not a journal of devsh`);
  return head;
}

/** Whether the run may have ended while its first line was being written, before anything was sent. */
function isHalfHead(text: string): boolean {
  const start = `{"schema":"${JOURNAL_SCHEMA}"`;
  return text.startsWith(start) || start.startsWith(text);
}

function entryOf(line: string, place: string): JournalEntry {
  const unreadable = `${place}: this line of the journal cannot be read`;
  let data: unknown;
  try {
    data = parseJson(line);
  } catch (error) {
    if (error instanceof JsonFailure) throw new SettingsError(unreadable, { cause: error });
    throw error;
  }
  const schema = typeof data === 'object' && data !== null && 'schema' in data && data.schema;
  if (typeof schema === 'string' && schema !== JOURNAL_SCHEMA) {
    throw new SettingsError(`${place}: written by another version of devsh (${schema})`);
  }
  if (!isJournalEntry(data)) throw new SettingsError(unreadable);
  return data as JournalEntry;
}

function runOf(entries: readonly JournalEntry[], file: string): Run {
  const [head] = entries;
  if (head?.kind !== 'run') throw new SettingsError(`${file}:1: this is not a journal of devsh`);
  const devices: DevicePlan[] = [];
  const states = new Map<string, StepState[]>();
  let isPlanned = false;
  let stopReason: string | undefined;
  let endedAt: string | undefined;
  for (const entry of entries.slice(1)) {
    switch (entry.kind) {
      case 'device': {
        const plan = revivePlan(entry.plan);
        // A device that could not be read at first was planned later.
        const place = devices.findIndex(({ device }) => device.name === plan.device.name);
        if (place < 0) devices.push(plan);
        else devices[place] = plan;
        states.set(
          plan.device.name,
          plan.steps.map(() => ({ kind: 'waiting' })),
        );
        break;
      }
      case 'planned':
        isPlanned = true;
        break;
      case 'send':
        setState(states, entry.ref, { kind: 'sent', at: entry.at });
        if (entry.step !== undefined) setStep(devices, entry.ref, entry.step);
        break;
      case 'verdict':
        setState(states, entry.ref, {
          kind: 'ended',
          at: entry.at,
          result: reviveResult(entry.result),
        });
        break;
      case 'stop':
        stopReason = entry.reason;
        break;
      case 'resume':
        [stopReason, endedAt] = [undefined, undefined];
        break;
      case 'end':
        endedAt = entry.at;
        break;
      case 'run':
        throw new SettingsError(`${file}: two runs are mixed in this journal`);
    }
  }
  const { run, at, command, by, session, version, part } = head;
  const plan: Plan = { run, devices, ...(part && { part }) };
  const began = { run, at, command, by, version, ...(session !== undefined && { session }) };
  return { ...began, plan, isPlanned, states, stopReason, endedAt };
}

function setState(states: Map<string, StepState[]>, ref: StepRef, state: StepState): void {
  const steps = states.get(ref.device);
  if (steps?.[ref.index] !== undefined) steps[ref.index] = state;
}

function setStep(devices: DevicePlan[], ref: StepRef, step: Step): void {
  const place = devices.findIndex(({ device }) => device.name === ref.device);
  const plan = devices[place];
  if (plan?.steps[ref.index] === undefined) return;
  devices[place] = { ...plan, steps: plan.steps.with(ref.index, step) };
}

/** What was read back is data of our own format; only errors have to become errors again. */
export function revivePlan(plan: DevicePlan): DevicePlan {
  const { error, ...rest } = plan;
  return {
    ...rest,
    settled: plan.settled.map(reviveResult),
    ...(error && { error: reviveError(error) }),
  };
}

/** As `revivePlan`, for one result. */
export function reviveResult(result: StepResult): StepResult {
  const { error, ...rest } = result;
  return { ...rest, ...(error && { error: reviveError(error) }) };
}

function reviveError(error: { code: string; exitCode: number; message: string }): DevshError {
  return new JournaledError(error.code, error.exitCode, error.message);
}

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
function isJournalEntry(data: unknown): boolean {
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
