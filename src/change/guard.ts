import { RefusedError } from '../errors.ts';
import type { Plan, Step } from './plan.ts';

/**
 * Refuses a plan that would lock its user out: deleting or renaming the account that the requests are
 * made as. `accountOn` gives that account, or undefined where it is not known (a bare token).
 */
export function guardOwnAccount(
  plan: Plan,
  accountOn: (deviceName: string) => string | undefined,
): void {
  for (const { device, steps } of plan.devices) {
    const account = accountOn(device.name);
    const own = steps.find((step) => account !== undefined && locksOut(step, account));
    if (own !== undefined) {
      const verb = own.action === 'delete' ? 'deleting' : 'renaming';
      throw new RefusedError(
        `${device.name}: ${verb} ${own.key} would lock you out: it is the account in use. ` +
          'Log in as someone else, or say --force.',
      );
    }
  }
}

function locksOut(step: Step, account: string): boolean {
  if (step.resource !== 'user' || step.key.toLowerCase() !== account.toLowerCase()) return false;
  return step.action === 'delete' || (step.action === 'set' && step.keyField in step.asked);
}
