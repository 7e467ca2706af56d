import { createHash } from 'node:crypto';
import { RefusedError, SettingsError } from '../errors.ts';
import { allowHint, type Allowed } from './allow.ts';
import { isMaskedRequest, maskedRequest } from '../device/encode.ts';
import { type JournalEntry, journalLine, openingLines, type PlanHead } from './journal.ts';
import type { DevicePlan } from './plan.ts';
import { readEntries } from './read-journal.ts';

/** A plan that was written down to be applied later, as it was looked at. */
export interface PlanFile extends PlanHead {
  readonly devices: readonly DevicePlan[];
  /** Its SHA-256: which plan it is. */
  readonly digest: string;
}

/** Whether a file holds a plan, by its start. */
export function isPlanFile(text: string): boolean {
  return /^\{"schema":"devsh-(?:plan\/1"|run\/2","kind":"plan")/.test(text);
}

/** A plan as text. Throws a `RefusedError` when a secret would have to be in it. */
export function freezePlan(head: PlanHead, devices: readonly DevicePlan[]): string {
  const requests = devices.flatMap(({ steps }) => steps.map(({ request }) => request));
  if (requests.some((request) => isMaskedRequest(maskedRequest(request)))) {
    throw new RefusedError(
      'this plan needs a secret (a password or token field), which a plan file must not hold: ' +
        'apply it directly',
    );
  }
  return sealed(openingLines({ kind: 'plan', ...head }, devices));
}

/**
 * Reads a plan file. Throws a `RefusedError` for one that was altered, cut or that has expired;
 * `--allow drift` takes an expired one.
 */
export function thawPlan(text: string, file: string, now: Date, allow: Allowed): PlanFile {
  const entries = unsealed(text, file);
  const [head] = entries;
  const seal = entries.at(-1);
  if (head?.kind !== 'plan' || seal?.kind !== 'seal') {
    throw new RefusedError(
      `${file} was altered or cut since it was written (its SHA-256 does not fit): make the plan anew`,
    );
  }
  if (!allow.has('drift') && new Date(head.expiresAt).getTime() < now.getTime()) {
    throw new RefusedError(
      `${file} has expired (${head.expiresAt}): make the plan anew, or ${allowHint('drift')}`,
    );
  }
  const devices = entries.flatMap((entry) => (entry.kind === 'device' ? entry.plan : []));
  return { ...head, devices, digest: seal.sha256 };
}

/** Lines with the SHA-256 of them all as their last. */
export function sealed(lines: string): string {
  return `${lines}${journalLine({ kind: 'seal', sha256: sha256(lines) })}`;
}

/** The entries of a sealed file; none where it was cut or altered. */
export function unsealed(text: string, file: string): readonly JournalEntry[] {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const [, seal] = SEAL.exec(text.slice(end)) ?? [];
  return seal === sha256(text.slice(0, end)) ? entriesIn(text, file) : [];
}

/** Also that of a plan file of the version before. */
const SEAL = /^\{(?:"kind":"seal",)?"sha256":"([0-9a-f]{64})"\}\n$/;

/** The entries of a file that somebody brought; none where it cannot be read. */
export function entriesIn(text: string, file: string): readonly JournalEntry[] {
  try {
    return readEntries(text, file);
  } catch (error) {
    if (error instanceof SettingsError) return [];
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
