import type { DeviceRecord } from '../device/record.ts';
import type { KnownDevice } from './known-device.ts';
import { movedId } from './moved-ids.ts';
import type { Step } from './plan.ts';
import { restlessFields } from './restless.ts';

/**
 * What a device held when it was last read, by resource; at first what the plan knows of it. From one
 * reading to the next ids may move: that is noticed before the next request leaves.
 */
export class LatestReadings {
  readonly #device: KnownDevice;
  readonly #latest: Map<string, readonly DeviceRecord[]>;

  constructor(device: KnownDevice, steps: readonly Step[]) {
    this.#device = device;
    this.#latest = imagesOf(steps);
  }

  of(resource: string): readonly DeviceRecord[] {
    return this.#latest.get(resource) ?? [];
  }

  /** Reads the resources of these steps, each once. */
  async read(steps: readonly Step[]): Promise<void> {
    for (const step of onePerResource(steps)) {
      await this.take(step, await this.#device.list(step.resource));
    }
  }

  /** Reads them again, and notices what has changed twice although nothing was sent. */
  async watch(
    steps: readonly Step[],
    earlier: ReadonlyMap<string, readonly DeviceRecord[]>,
  ): Promise<void> {
    for (const step of onePerResource(steps)) {
      const { resource } = step;
      const last = this.of(resource);
      const now = await this.#device.list(resource);
      const about = { ...step, asked: {} };
      const { profile } = this.#device;
      const fields = restlessFields(profile, about, [earlier.get(resource) ?? [], last, now]);
      if (fields.length > 0) await this.#device.observe({ kind: 'volatile', resource, fields });
      await this.take(step, now);
    }
  }

  /** Takes what was read anyway. */
  async take(step: Step, records: readonly DeviceRecord[]): Promise<void> {
    const example = movedId(this.#device.profile, step, this.of(step.resource), records);
    if (example !== undefined) await this.#device.observe({ kind: 'positional', example });
    this.#latest.set(step.resource, records);
  }
}

/** What a plan knows of the records of each resource. */
export function imagesOf(steps: readonly Step[]): Map<string, readonly DeviceRecord[]> {
  const images = new Map<string, DeviceRecord[]>();
  for (const { resource, before } of steps) {
    if (before === undefined) continue;
    const known = images.get(resource) ?? [];
    known.push(before);
    images.set(resource, known);
  }
  return images;
}

function onePerResource(steps: readonly Step[]): Step[] {
  return [...new Map(steps.map((step) => [step.resource, step])).values()];
}
