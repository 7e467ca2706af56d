import { createHash } from 'node:crypto';
import { RefusedError, SettingsError, attempt } from '../errors.ts';
import { zonedTime } from '../text/time.ts';
import { allowHint, type Allowed } from './allow.ts';
import { isMaskedRequest, maskedRequest } from '../device/encode.ts';
import {
  type JournalEntry,
  journalLine,
  openingLines,
  type PlanHead,
  RUN_SCHEMA,
} from './journal.ts';
import type { DevicePlan } from './plan.ts';
import { readEntries } from './read-journal.ts';

/** A stored plan, to be applied later exactly as reviewed. */
export interface PlanFile extends PlanHead {
  readonly devices: readonly DevicePlan[];
  /** Its SHA-256, which identifies the plan. */
  readonly digest: string;
}

/** Whether a file is a plan, by its first characters. */
export function isPlanFile(text: string): boolean {
  return text.startsWith(`{"schema":"${RUN_SCHEMA}","kind":"plan"`);
}

/** A plan as text. Throws a `RefusedError` if the text would contain a secret. */
export function serializePlan(head: PlanHead, devices: readonly DevicePlan[]): string {
  const requests = devices.flatMap(({ steps }) => steps.map(({ request }) => request));
  if (requests.some((request) => isMaskedRequest(maskedRequest(request)))) {
    throw new RefusedError(
      'this plan needs a secret (a password or token field), which a plan file must not hold: ' +
        'apply it directly',
    );
  }
  return sealed(openingLines({ kind: 'plan', ...head }, devices));
}

/** Throws a `RefusedError` if it was altered, cut or has expired; `--allow drift` accepts an expired one. */
export function parsePlanFile(text: string, file: string, now: Date, allow: Allowed): PlanFile {
  const entries = unsealed(text, file);
  const [head] = entries;
  const seal = entries.at(-1);
  if (head?.kind !== 'plan' || seal?.kind !== 'seal') {
    throw new RefusedError(
      `${file} was altered or cut since it was written (its SHA-256 does not match): plan again`,
    );
  }
  if (!allow.has('drift') && new Date(head.expiresAt).getTime() < now.getTime()) {
    throw new RefusedError(
      `${file} has expired (${zonedTime(head.expiresAt, now)}): plan again, or ${allowHint('drift')}`,
    );
  }
  const devices = entries.flatMap((entry) => (entry.kind === 'device' ? entry.plan : []));
  return { ...head, devices, digest: seal.sha256 };
}

/** The lines, and their SHA-256 as the last line. */
export function sealed(lines: string): string {
  return `${lines}${journalLine({ kind: 'seal', sha256: sha256(lines) })}`;
}

const SEAL = /^\{"kind":"seal","sha256":"([0-9a-f]{64})"\}\n$/;

/** The entries of a sealed file from the user; empty if it was cut or altered. */
export function unsealed(text: string, file: string): readonly JournalEntry[] {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const [, seal] = SEAL.exec(text.slice(end)) ?? [];
  if (seal !== sha256(text.slice(0, end))) return [];
  return attempt(SettingsError, () => readEntries(text, file)) ?? [];
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
