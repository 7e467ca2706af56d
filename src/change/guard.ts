import type { DeviceRef } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { RefusedError } from '../errors.ts';
import { allowHint, type Allowed, type AllowWord } from './allow.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';
import { valueAt } from '../value-at.ts';

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
 * Refuses a plan that would lock its user out or destroy what a device protects: deleting or renaming
 * the account in use, deleting the last record, deleting a protected one. `accountOn` gives the account
 * in use, undefined where it is not known (a bare token).
 */
export function guardPlan(
  plan: Plan,
  accountOn: (device: DeviceRef) => string | undefined,
  allowed: Allowed,
): void {
  for (const devicePlan of plan.devices) {
    const { device, steps } = devicePlan;
    const emptied = emptiedBy(devicePlan);
    for (const step of steps) {
      const refusals: readonly (readonly [AllowWord, string | undefined])[] = [
        ['own-account', ownAccountReason(step, accountOn(device))],
        ['protected', protectedReason(step) ?? lastOneReason(step, emptied)],
      ];
      for (const [word, reason] of refusals) {
        if (reason === undefined || allowed.has(word)) continue;
        throw new RefusedError(`${device.name}: ${reason}; ${allowHint(word)}`);
      }
    }
  }
}

/** The devices on which a user is deleted or renamed while it is not known whose account is in use. */
export function unguardedDevices(
  plan: Pick<Plan, 'devices'>,
  accountOn: (device: DeviceRef) => string | undefined,
): readonly string[] {
  return plan.devices
    .filter(
      ({ device, steps }) =>
        accountOn(device) === undefined && steps.some((step) => removesKey(step)),
    )
    .map(({ device }) => device.name);
}

function ownAccountReason(step: Step, account: string | undefined): string | undefined {
  const isOwn = account !== undefined && step.key.toLowerCase() === account.toLowerCase();
  if (!isOwn || !removesKey(step)) return undefined;
  const verb = step.action === 'delete' ? 'deleting' : 'renaming';
  return `${verb} ${step.key} would lock you out: it is the account in use`;
}

function removesKey(step: Step): boolean {
  if (step.resource !== 'user') return false;
  return step.action === 'delete' || (step.action === 'set' && step.keyField in step.asked);
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
