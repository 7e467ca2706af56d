import { type DeviceRecord, type DeviceRef, valueAt } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { RefusedError } from '../errors.ts';
import type { Member } from '../fleet/member.ts';
import { allowHint, type Allowed, type AllowWord } from './allow.ts';
import { lossReason } from './losses.ts';
import { OwnAccess } from './own-access.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';

/** Fields by which devices mark records that are theirs, and the value that protects. */
const PROTECTING: Readonly<Record<string, boolean>> = {
  canBeDeleted: false,
  can_be_deleted: false,
  deletable: false,
  protected: true,
  builtin: true,
  built_in: true,
};

/**
 * Refuses a plan that would lock its user out or destroy what a device protects: taking the account in
 * use its access, deleting the last record, deleting a protected one.
 *
 * @param members the devices of the plan, opened
 */
export function guardPlan(
  plan: Plan,
  members: readonly Pick<Member, 'ref' | 'credential' | 'seen'>[],
  allowed: Allowed,
): void {
  const access = new Map(
    members.map((member) => [
      member.ref.address,
      new OwnAccess(member.credential, (resource) => member.seen(resource) ?? []),
    ]),
  );
  for (const devicePlan of plan.devices) {
    const { device, steps } = devicePlan;
    const emptied = emptiedBy(devicePlan);
    for (const step of steps) {
      refuse(device, allowed, 'own-account', access.get(device.address)?.objectionTo(step));
      refuse(device, allowed, 'loss', lossReason(step));
      refuse(device, allowed, 'protected', protectedReason(step) ?? lastOneReason(step, emptied));
    }
  }
}

/** Refuses a step that would lock its user out by what the device holds right before it is sent. */
export function guardStep(
  { ref, credential }: Pick<Member, 'ref' | 'credential'>,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  const access = new OwnAccess(credential, () => records);
  refuse(ref, allowed, 'own-account', access.objectionTo(step));
}

function refuse(
  { name }: DeviceRef,
  allowed: Allowed,
  word: AllowWord,
  reason: string | undefined,
): void {
  if (reason === undefined || allowed.has(word)) return;
  throw new RefusedError(`${name}: ${reason}; ${allowHint(word)}`);
}

function protectedReason(step: Step): string | undefined {
  if (step.action !== 'delete') return undefined;
  const mark = Object.entries(PROTECTING).find(([field, value]) => {
    const held = valueAt(step.before, field);
    return held !== undefined && valueText(held).toLowerCase() === String(value);
  });
  return mark && `the device protects ${step.key} (${mark[0]}: ${String(mark[1])})`;
}

/** The resources of which nothing would be left. */
function emptiedBy({ steps, total }: DevicePlan): ReadonlySet<string> {
  const deletes = new Map<string, number>();
  for (const { action, resource } of steps) {
    if (action === 'delete') deletes.set(resource, (deletes.get(resource) ?? 0) + 1);
  }
  const emptied = [...deletes].filter(([resource, count]) => {
    const held = valueAt(total, resource);
    return held !== undefined && count >= held;
  });
  return new Set(emptied.map(([resource]) => resource));
}

function lastOneReason(
  { action, resource, key }: Step,
  emptied: ReadonlySet<string>,
): string | undefined {
  return action === 'delete' && emptied.has(resource)
    ? `deleting ${key} would leave no ${resource} at all`
    : undefined;
}
