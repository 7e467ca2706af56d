import { allowedBy, type AllowWord } from '../change/allow.ts';
import { doubtfulFields } from '../change/doubts.ts';
import { planMember } from '../change/plan-member.ts';
import type { DevicePlan } from '../change/plan.ts';
import { CancelledError, UsageError } from '../errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import { gate } from './device-access.ts';
import { changeOf, type ChangeSpec } from './changes.ts';
import { OpenDevice } from './open-device.ts';

/** What changes would do, device by device, computed from what each one holds now. */
export class ReadyPlan {
  /** In the order of the devices that were given. One that could not be read has an `error`. */
  readonly devices: readonly DevicePlan[];
  /** What a person would be told before the question whether to go on. */
  readonly warnings: readonly string[];
  readonly #on: readonly OpenDevice[];

  private constructor(devices: readonly DevicePlan[], on: readonly OpenDevice[]) {
    this.devices = devices;
    this.#on = on;
    this.warnings = doubtfulFields({ devices });
  }

  /** @internal */
  static of(devices: readonly DevicePlan[], on: readonly OpenDevice[]): ReadyPlan {
    return new ReadyPlan(devices, on);
  }

  /** How many requests `apply` would send, reads not counted. */
  get steps(): number {
    return this.devices.reduce((count, { steps }) => count + steps.length, 0);
  }

  /** Its devices. @internal */
  static behind(ready: ReadyPlan): readonly OpenDevice[] {
    return ready.#on;
  }
}

/**
 * Reads the devices and computes what the changes mean on each of them; sends no write. What one device
 * does (it is unreachable, its certificate is another one) is said in its part of the plan. Throws
 * UsageError for changes that cannot be meant: a field without a name, one record changed twice, a value
 * that a device calls wrong (`allow: ['invalid']` plans it all the same).
 */
export async function plan(
  devices: OpenDevice | readonly OpenDevice[],
  changes: readonly ChangeSpec[],
  {
    signal = new AbortController().signal,
    allow = [],
  }: { readonly signal?: AbortSignal; readonly allow?: readonly AllowWord[] } = {},
): Promise<ReadyPlan> {
  const allowed = allowedBy(allow);
  const all = devices instanceof OpenDevice ? [devices] : devices;
  refuseTwice(all);
  const wanted = changes.map(changeOf);
  gate.forgetRefusals();
  const planned = fanOut<OpenDevice, readonly [OpenDevice, DevicePlan]>(
    all,
    'adaptive',
    async (device, emit) => {
      const { access, member } = OpenDevice.behind(device);
      const learn = (
        one: typeof member,
        resource: string,
        what: 'once' | 'fields',
      ): Promise<void> => access.learn(one, resource, what, signal);
      emit([device, await planMember({ access, signal, learn, allow: allowed }, member, wanted)]);
    },
    signal,
  );
  const plans = new Map<OpenDevice, DevicePlan>();
  for await (const [device, devicePlan] of planned) plans.set(device, devicePlan);
  if (signal.aborted) throw new CancelledError('cancelled: nothing was sent');
  return ReadyPlan.of(
    all.flatMap((device) => plans.get(device) ?? []),
    all,
  );
}

/** Plans, journals and results tell devices apart by their names, and locks by their addresses. */
function refuseTwice(devices: readonly OpenDevice[]): void {
  for (const part of ['name', 'address'] as const) {
    const known = new Set<string>();
    for (const device of devices) {
      if (known.has(device[part]))
        throw new UsageError(`two devices have the ${part} ${device[part]}`);
      known.add(device[part]);
    }
  }
}
