import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isSingle, type Profile } from '../device/profile.ts';
import { isMask, maskedRecord } from '../device/sensitive-fields.ts';
import { RefusedError, SettingsError, attempt } from '../errors.ts';
import { zonedTime } from '../text/time.ts';
import type { Allowed } from './allow.ts';
import { type Change, changeOf } from './change.ts';
import { identityOf } from './identity.ts';
import {
  type JournalEntry,
  journalLine,
  OLDER_RUN_SCHEMAS,
  opening,
  type PlanHead,
  portableLine,
  RUN_SCHEMA,
} from './journal.ts';
import type { DevicePlan, StoredDevice, Wish } from './plan.ts';
import { readEntries } from './read-journal.ts';

/** A stored plan. Anyone may have written it, so what it asks for passes every guard again. */
export interface PlanFile extends PlanHead {
  readonly devices: readonly StoredDevice[];
  /** The SHA-256 of its lines. It identifies the plan and shows damage. */
  readonly digest: string;
}

export function isPlanFile(text: string): boolean {
  return [RUN_SCHEMA, ...OLDER_RUN_SCHEMAS].some((schema) =>
    text.startsWith(`{"schema":"${schema}","kind":"plan"`),
  );
}

/** A plan as text. Throws a `RefusedError` if the text would contain a secret. */
export function serializePlan(head: PlanHead, devices: readonly DevicePlan[]): string {
  const steps = devices.flatMap((plan) => plan.steps);
  if (steps.some(({ key, asked }) => isMask(key) || maskedRecord(asked) !== asked)) {
    throw new RefusedError({ code: 'bad-run-file', is: 'needs-secret' });
  }
  const entries = opening({ kind: 'plan', ...head }, devices.map(wishedOn));
  return sealed(entries.map(portableLine).join(''));
}

/** Throws a `RefusedError` if the file was cut or damaged, or has expired without `--allow drift`. */
export function parsePlanFile(text: string, file: string, now: Date, allow: Allowed): PlanFile {
  const entries = unsealed(text, file);
  const [head] = entries;
  const seal = entries.at(-1);
  if (head?.kind !== 'plan' || seal?.kind !== 'seal') {
    throw new RefusedError({ code: 'bad-run-file', is: 'cut-plan', file });
  }
  if (!allow.has('drift') && new Date(head.expiresAt).getTime() < now.getTime()) {
    const time = zonedTime(head.expiresAt, now);
    throw new RefusedError({ code: 'bad-run-file', is: 'expired', file, time });
  }
  const devices = entries.flatMap((entry) => (entry.kind === 'device' ? wishedOn(entry.plan) : []));
  return { ...head, changes: wishedChanges(head.changes), devices, digest: seal.sha256 };
}

/** What a plan asks for on one device, without its requests. */
function wishedOn({ device, settled, error, wanted, ...plan }: StoredDevice): StoredDevice {
  const steps = countedIn<readonly Wish[]>(z.array(WISH), plan.steps);
  const changes = plan.changes && wishedChanges(plan.changes);
  countedIn(z.array(UNSENT), settled);
  return { device, steps, settled, wanted: wanted ?? [], changes, ...(error && { error }) };
}

/** Checks changes that anyone may have written. Throws a `RefusedError` for anything else. */
export function wishedChanges(changes: readonly Change[]): readonly Change[] {
  return countedIn<readonly Change[]>(z.array(CHANGE), changes);
}

function countedIn<Data>(schema: z.ZodType, data: Data): Data {
  const { success, data: counted } = schema.safeParse(data);
  if (!success) throw new RefusedError({ code: 'bad-run-file', is: 'foreign-plan' });
  return counted as Data;
}

/** The change that a wish asks for now, for the record that it was made for. */
export function wishedChange(profile: Profile, wish: Wish): Change {
  const { action, resource, before = {}, keyField } = wish;
  const identity = { ...identityOf(profile, keyField, before), ...wish.meant };
  const isNamed = action !== 'add' && !isSingle(profile, resource);
  const meant = isNamed ? { ...identity, age: 'fresh' as const } : undefined;
  return changeOf({ ...wish, key: '' }, meant);
}

/** These schemas keep what counts in a file. They drop requests, purposes and answers to questions. */
const FIELDS = z.record(z.string(), z.unknown());
const NAMES = z.array(z.string()).optional();
const YES = z.literal(true).optional();

const TAKEN = z.object({
  ...{ resource: z.string(), count: z.number().optional(), keys: z.array(z.string()) },
  refers: YES,
});

const WISH = z.object({
  ...{ action: z.enum(['add', 'set', 'delete']), resource: z.string(), key: z.string() },
  ...{ keyField: z.string(), before: FIELDS.optional(), asked: FIELDS },
  ...{ removes: NAMES, effects: z.object({ takes: z.array(TAKEN).optional() }) },
  meant: z.object({ filter: z.string().optional(), isKeyShared: YES }).optional(),
});

/** A plan sends nothing, so its file holds only results that need no request. */
const UNSENT = z.object({
  verdict: z.enum(['unchanged', 'differs', 'failed', 'drift', 'skipped']),
});

const ABOUT = { resource: z.string() };

const VALUES = { fields: FIELDS, asJson: NAMES, isExact: YES };

const NAMED = {
  target: z.discriminatedUnion('kind', [
    z.object({
      ...{ kind: z.literal('key'), key: z.string(), by: z.enum(['name', 'id']).optional() },
    }),
    z.object({ kind: z.literal('where'), filter: z.string() }),
  ]),
  expected: FIELDS.optional(),
};

const CHANGE = z.discriminatedUnion('action', [
  z.object({ action: z.literal('add'), ...ABOUT, ...VALUES }),
  z.object({
    ...{ action: z.literal('set'), ...ABOUT, ...VALUES, ...NAMED },
    ...{ isOptional: YES, removes: NAMES },
  }),
  z.object({ action: z.literal('delete'), ...ABOUT, ...NAMED }),
]);

/** The lines, and their SHA-256 as the last line. */
export function sealed(lines: string): string {
  return `${lines}${journalLine({ kind: 'seal', sha256: sha256(lines) })}`;
}

const SEAL = /^\{"kind":"seal","sha256":"([0-9a-f]{64})"\}\n$/;

/** The entries of a sealed file from the user; empty if it was cut or damaged. */
export function unsealed(text: string, file: string): readonly JournalEntry[] {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const [, seal] = SEAL.exec(text.slice(end)) ?? [];
  if (seal !== sha256(text.slice(0, end))) return [];
  return attempt(SettingsError, () => readEntries(text, file)) ?? [];
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
