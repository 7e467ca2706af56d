import type { DeviceRecord } from '../device/record.ts';
import { isSecretField } from '../device/secret-fields.ts';
import { isSameValue } from './compare.ts';
import type { Step } from './plan.ts';
import { valueAt } from '../value-at.ts';

/**
 * Secrets that were asked for and that the device does not show, or shows masked or hashed: what it
 * holds cannot be compared. One that is shown as it was before has visibly not changed.
 */
export function hiddenSecrets(step: Step, held: DeviceRecord): string[] {
  return Object.keys(step.asked).filter((field) => {
    const [sent, before, now] = [
      valueAt(step.asked, field) ?? null,
      valueAt(step.before, field),
      valueAt(held, field),
    ];
    if (!isSecretField(field) || isSameValue(sent, now)) return false;
    const isShown = typeof now === 'string' && now !== '' && !/^[*\u2022\u25cfx.]+$/i.test(now);
    return !(isShown && before !== undefined && isSameValue(before, now));
  });
}

/** What is to be said of them. */
export function hiddenNote(hidden: readonly string[]): string {
  return `${hidden.join(', ')} cannot be read back`;
}
