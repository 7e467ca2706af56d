import * as z from 'zod';
import { JsonFailure, parseJson, partsOf } from '../device/json.ts';
import { DevshError, SettingsError } from '../errors.ts';
import {
  type JournalEntry,
  OLDER_RUN_SCHEMAS,
  type Run,
  RUN_SCHEMA,
  type RunHead,
} from './journal.ts';
import { headOf, runOf } from './journaled-run.ts';
import { type DevicePlan, EmptyJournalError } from './plan.ts';
import type { Effects, Step } from './step.ts';
import { type StepResult, VERDICTS } from './verdict.ts';

/** An error in a journal. It keeps its code and exit status, but not its class. */
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
 * Reads a journal. An incomplete last line (after a power failure) is ignored. Any other unreadable line is
 * a `SettingsError` with its number. Throws an `EmptyJournalError` if the first line is incomplete.
 */
export function parseJournal(text: string, file: string): Run {
  return runOf(readEntries(completeLines(text, file), file), file);
}

/** Reads the first line of a journal. Throws like `parseJournal`. */
export function parseHead(text: string, file: string): RunHead {
  const [line = ''] = completeLines(text, file).split('\n', 1);
  return headOf(entryOf(line, `${file}:1`), file);
}

/** The text without its incomplete last line, which `resume` removes. */
function completeLines(text: string, where: string): string {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1);
  if (lines !== '') return lines;
  const start = `{"schema":"${RUN_SCHEMA}"`.slice(0, -2);
  const isJournal = text.startsWith(start) || start.startsWith(text);
  if (!isJournal) throw new SettingsError({ code: 'bad-run-file', is: 'no-journal' }, { where });
  throw new EmptyJournalError({ code: 'bad-run-file', is: 'empty' }, { where });
}

/** Reads a journal, a plan file or a result. Throws a `SettingsError` with the line that cannot be read. */
export function readEntries(text: string, file: string): JournalEntry[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, index) => entryOf(line, `${file}:${index + 1}`));
}

function entryOf(line: string, where: string): JournalEntry {
  const damaged = { code: 'bad-run-file', is: 'damaged' } as const;
  let data: unknown;
  try {
    data = parseJson(line);
  } catch (error) {
    if (error instanceof JsonFailure) throw new SettingsError(damaged, { where, cause: error });
    throw error;
  }
  const { schema } = partsOf(data);
  if (typeof schema === 'string' && ![RUN_SCHEMA, ...OLDER_RUN_SCHEMAS].includes(schema)) {
    throw new SettingsError({ code: 'bad-run-file', is: 'version', schema }, { where });
  }
  if (!entry.safeParse(data).success) throw new SettingsError(damaged, { where });
  return ofToday(data as JournalEntry);
}

/** Turns plain error data into error objects again, and steps of an older devsh into those of today. */
function ofToday(entry: JournalEntry): JournalEntry {
  if (entry.kind === 'verdict') return { ...entry, result: resultOf(entry.result) };
  if (entry.kind === 'send') return { ...entry, step: entry.step && withEffects(entry.step) };
  if (entry.kind !== 'device' && entry.kind !== 'replan') return entry;
  const { settled, steps, ...plan } = withError(entry.plan);
  const today = { settled: settled.map(resultOf), steps: steps.map(withEffects) };
  return { ...entry, plan: { ...plan, ...today } };
}

/** An older devsh wrote the effects of a step, and how its record was found, beside its other fields. */
type OlderStep = Omit<Step, 'effects' | 'meant'> & Effects & NonNullable<Step['meant']>;

function withEffects(step: Step | OlderStep): Step {
  if ('effects' in step) return step;
  const { filled, erases, mayErase, unsayable, leftOut, untyped, lost, takes, ...others } = step;
  const { filter, isKeyShared, ...rest } = others;
  const effects = { filled, erases, mayErase, unsayable, leftOut, untyped, lost, takes };
  return { ...rest, effects, meant: { filter, isKeyShared } };
}

/** A journal keeps the notes of a result as one text. */
function resultOf({ note, ...result }: StepResult & { readonly note?: string }): StepResult {
  return withError(note === undefined ? result : { ...result, notes: [note] });
}

function withError<Part extends DevicePlan | StepResult>(part: Part): Part {
  if (part.error === undefined) return part;
  const { code, exitCode, message } = part.error;
  return { ...part, error: new JournaledError(code, exitCode, message) };
}

/** Every line is checked, because another version or another program may have written it. */
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
  isByReading: z.literal(true).optional(),
});

const step = z.looseObject({
  ...about,
  keyField: z.string(),
  // Absent in plan files. No request of a file is ever sent.
  request: z
    .looseObject({
      method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
      path: z.string().startsWith('/'),
      form: z.array(z.tuple([z.string(), z.string()])).optional(),
      json: image.optional(),
    })
    .optional(),
  before: image.optional(),
  after: image.optional(),
  asked: image,
  // Absent in journals of an older devsh.
  effects: z.looseObject({ filled: z.record(z.string(), z.string()).optional() }).optional(),
});

const change = z.looseObject({ action, resource: z.string() });

const devicePlan = z.looseObject({
  device,
  steps: z.array(step),
  settled: z.array(result),
  error: error.optional(),
  pin: z.string().optional(),
  raw: z.string().optional(),
  isUnchecked: z.literal(true).optional(),
  assumed: z.array(z.looseObject({ action, resource: z.string(), way: z.string() })).optional(),
  wanted: z.array(z.looseObject(about)).optional(),
  changes: z.array(change).optional(),
  takesOver: z.array(z.looseObject(about)).optional(),
});

const at = z.string();
const ref = z.looseObject({ device: z.string(), index: z.number().int().nonnegative() });

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const shard = z.looseObject({
  index: z.number().int().positive(),
  total: z.number().int().positive(),
});

const head = {
  run: z.string().regex(/^[\w-]+$/),
  at,
  command: z.string(),
  reason: z.string().optional(),
  by: z.string(),
  session: z.string().optional(),
  version: z.string(),
};

const entry = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('run'),
    ...head,
    input: z.string().optional(),
    part: z.looseObject({ digest, shard, result: z.string() }).optional(),
    of: z.looseObject({ run: z.string(), command: z.string() }).optional(),
    undoes: z.looseObject({ run: z.string(), on: z.array(z.string()) }).optional(),
  }),
  z.looseObject({
    kind: z.literal('plan'),
    ...head,
    expiresAt: z.iso.datetime(),
    changes: z.array(change),
  }),
  z.looseObject({ kind: z.literal('device'), plan: devicePlan }),
  z.looseObject({ kind: z.literal('planned') }),
  z.looseObject({
    kind: z.literal('replan'),
    plan: devicePlan,
    at: z.array(z.number().int().nonnegative()),
  }),
  z.looseObject({ kind: z.literal('send'), ref, at, step: step.optional() }),
  z.looseObject({ kind: z.literal('verdict'), ref, at, result }),
  z.looseObject({ kind: z.literal('stop'), at, reason: z.string() }),
  z.looseObject({ kind: z.literal('resume'), at, by: z.string(), reason: z.string().optional() }),
  z.looseObject({ kind: z.literal('end'), at }),
  z.looseObject({
    kind: z.literal('drop'),
    at,
    by: z.string(),
    reason: z.string(),
    on: z.array(z.string()),
  }),
  z.looseObject({ kind: z.literal('seal'), sha256: digest }),
]);
