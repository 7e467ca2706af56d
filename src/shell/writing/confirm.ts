import { grantCounts } from '../../change/grants.ts';
import { notCoveredBy, notCoveredText } from '../../change/not-covered.ts';
import { recordName } from '../../change/record-name.ts';
import { stepCount, type Plan } from '../../change/plan.ts';
import { DeclinedError, RefusedError } from '../../errors.ts';
import type { Call } from '../call.ts';

/** The plan above the question names all. */
const MOST_NAMED = 10;

/**
 * Asks in proportion: `y` for one step, the number of steps for more, with the names of the devices
 * where something is deleted. Throws a `RefusedError` when it is not confirmed.
 */
export async function confirmPlan(
  call: Call,
  plan: Plan,
  said: readonly string[] = [],
): Promise<void> {
  const count = stepCount(plan);
  if (count === 0 || call.options.yes) return;
  if (call.io.ask === undefined) throw notAsked();
  const devices = plan.devices.filter(({ steps }) => steps.length > 0);
  const names = devices.map(({ device }) => device.name);
  const steps = devices.flatMap((device) => device.steps);
  const [step] = steps;
  const deletes = devices.some(({ steps }) => steps.some(({ action }) => action === 'delete'));
  const absent = notCoveredBy(plan);
  const details = [
    ...(absent.length > 0 ? [notCoveredText(absent, MOST_NAMED)] : []),
    ...(deletes && names.length > 1 ? [`Devices: ${names.join(', ')}`] : []),
    ...grantCounts(steps),
    ...said,
  ];
  const [only = ''] = names;
  const where = names.length === 1 ? only : `${names.length} devices`;
  if (count === 1 && step !== undefined) {
    const what = `${step.action} ${recordName(step)} on ${where}`;
    await confirm(call, `${what}? Type y to do it:`, 'y', details);
  } else {
    const beside = absent.length === 0 ? '' : `, ${absent.length} not covered`;
    const text = `${count} steps on ${where}${beside}. Type ${count} to do them:`;
    await confirm(call, text, String(count), details);
  }
}

/** Asks for `expected` to be typed. Throws a `RefusedError` for anything else. */
export async function confirm(
  call: Call,
  text: string,
  expected: string,
  details: readonly string[] = [],
): Promise<void> {
  if (call.options.yes) return;
  if (call.io.ask === undefined) throw notAsked();
  const answer = await call.io.ask({ kind: 'confirm', text, details, expected });
  if (answer !== expected) throw new DeclinedError('not confirmed: nothing was sent');
}

function notAsked(): RefusedError {
  return new RefusedError('not confirmed: say --yes to do it without a question; nothing was sent');
}
