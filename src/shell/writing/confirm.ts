import { grantCounts } from '../../change/grants.ts';
import { notCoveredBy, notCoveredText } from '../../change/not-covered.ts';
import { type Plan, recordName, stepCount } from '../../change/plan.ts';
import { DeclinedError, RefusedError } from '../../errors.ts';
import type { LabelColor } from '../../fleet/inventory-schema.ts';
import type { Call } from '../command.ts';
import { labelsOf, type Labels } from '../prompt-text.ts';

/** The plan above the question names all. */
const MOST_NAMED = 10;

/**
 * Asks in proportion: `y` for one step, the number of steps for more, with the names of the devices
 * where something is deleted. Throws a `RefusedError` when it is not confirmed.
 */
export async function confirmPlan(
  call: Call<'yes'>,
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
  const { texts, color } = labelsIn(call, devices);
  const label = texts.map((text) => `${text}: `).join('');
  const where = whereText(names, plan.devices.length);
  if (count === 1 && step !== undefined) {
    const what = `${label}${step.action} ${recordName(step)} on ${where}`;
    await confirm(call, `${what}? Type y to do it:`, 'y', details, color);
  } else {
    const beside = absent.length === 0 ? '' : `, ${absent.length} not covered`;
    const text = `${label}${count} steps on ${where}${beside}. Type ${count} to do them:`;
    await confirm(call, text, String(count), details, color);
  }
}

/** `fw1`, `fw1, 1 of 12 devices`, `10 of 12 devices`: what is changed of all that the line was about. */
function whereText(names: readonly string[], all: number): string {
  const of = names.length < all ? ` of ${all}` : '';
  const [only = ''] = names;
  if (names.length !== 1) return `${names.length}${of} devices`;
  return of === '' ? only : `${only}, 1${of} devices`;
}

function labelsIn({ session }: Call, devices: Plan['devices']): Labels {
  const addresses = new Set(devices.map(({ device }) => device.address));
  const used = session.fleet.known.filter(({ ref }) => addresses.has(ref.address));
  return labelsOf(used.map(({ entry }) => entry));
}

/** Asks for `expected` to be typed. Throws a `RefusedError` for anything else. */
export async function confirm(
  call: Call<'yes'>,
  text: string,
  expected: string,
  details: readonly string[] = [],
  color?: LabelColor,
): Promise<void> {
  if (call.options.yes) return;
  if (call.io.ask === undefined) throw notAsked();
  const answer = await call.io.ask({ kind: 'confirm', text, details, expected, color });
  if (answer !== expected) throw new DeclinedError('not confirmed: nothing was sent');
}

function notAsked(): RefusedError {
  return new RefusedError('not confirmed: say --yes to do it without a question; nothing was sent');
}
