import { createHash } from 'node:crypto';
import { jsonText } from '../device/value-text.ts';
import { JsonFailure, parseJson } from '../device/json.ts';
import { RefusedError } from '../errors.ts';
import { allowHint, type Allowed } from './allow.ts';
import type { Change } from './change.ts';
import { lacksSecret } from './journal.ts';
import { changeData, devicePlanData } from './plan-data.ts';
import type { DevicePlan, Plan } from './plan.ts';
import { isDevicePlan, isPlanHead, revivePlan } from './read-journal.ts';

const PLAN_SCHEMA = 'devsh-plan/1';

/** A plan that was written down to be applied later, as it was looked at. */
export interface FrozenPlan {
  readonly plan: Plan;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The line that made it, for the journal. */
  readonly command: string;
  /** What was wanted, for `--replan`. */
  readonly changes: readonly Change[];
}

/** Whether a file holds a frozen plan, by its start. */
export function isPlanFile(text: string): boolean {
  return text.startsWith(`{"schema":"${PLAN_SCHEMA}"`);
}

/**
 * A plan as text: a head, one line for each device, and the SHA-256 of all that. Throws a
 * `RefusedError` when a secret would have to be in it.
 */
export function freezePlan(frozen: FrozenPlan): string {
  const { plan, createdAt, expiresAt, command, changes } = frozen;
  const lines = [
    jsonText({
      schema: PLAN_SCHEMA,
      run: plan.run,
      createdAt,
      expiresAt,
      command,
      devices: plan.devices.length,
      changes: changes.map(changeData),
    }),
    ...plan.devices.map((device) => jsonText(devicePlanData(device))),
  ];
  const content = `${lines.join('\n')}\n`;
  if (parseLines(content).slice(1).some(holdsMask)) {
    throw new RefusedError(
      'this plan needs a secret (a password or token field), which a plan file must not hold: ' +
        'apply it directly',
    );
  }
  return `${content}${sealOf(content)}`;
}

/**
 * Reads a frozen plan. Throws a `RefusedError` for one that was altered, cut or that has expired;
 * `--allow drift` takes an expired one.
 */
export function thawPlan(text: string, file: string, now: Date, allow: Allowed): FrozenPlan {
  const end = text.trimEnd().lastIndexOf('\n') + 1;
  const content = text.slice(0, end);
  const altered = new RefusedError(
    `${file} was altered or cut since it was written (its SHA-256 does not fit): make the plan anew`,
  );
  if (text.slice(end) !== sealOf(content)) throw altered;
  let lines: readonly unknown[];
  try {
    lines = parseLines(content);
  } catch (error) {
    if (error instanceof JsonFailure) throw altered;
    throw error;
  }
  const [first, ...others] = lines;
  if (!isPlanHead(first) || !others.every(isDevicePlan)) throw altered;
  const [head, ...devices] = lines as readonly [
    Omit<FrozenPlan, 'plan'> & { run: string; devices: number },
    ...DevicePlan[],
  ];
  if (devices.length !== head.devices) throw altered;
  const { run, createdAt, expiresAt, command, changes } = head;
  if (!allow.has('drift') && new Date(expiresAt).getTime() < now.getTime()) {
    throw new RefusedError(
      `${file} has expired (${expiresAt}): make the plan anew, or ${allowHint('drift')}`,
    );
  }
  const plan: Plan = { run, devices: devices.map(revivePlan) };
  return { plan, createdAt, expiresAt, command, changes };
}

/** The SHA-256 of a plan file that was read before: which plan it is. */
export function planDigest(text: string): string {
  return sha256(text.slice(0, text.trimEnd().lastIndexOf('\n') + 1));
}

function parseLines(content: string): readonly unknown[] {
  return content
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line));
}

function holdsMask(line: unknown): boolean {
  return (line as DevicePlan).steps.some(lacksSecret);
}

function sealOf(content: string): string {
  return `${jsonText({ sha256: sha256(content) })}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
