import { isDeepStrictEqual } from 'node:util';
import {
  originOfWrite,
  hasPositionalIds,
  volatileFields,
  withObservation,
  type Observation,
} from '../device/observation.ts';
import type { Profile, ResourceProfile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import type { StepDevice } from './carry-out.ts';
import type { Step } from './plan.ts';

/** A device as it comes to be known while a plan is carried out on it. */
export class KnownDevice implements StepDevice {
  readonly #device: StepDevice;
  readonly #tell: (observation: Observation) => Promise<void>;
  #observed: readonly Observation[] = [];

  /** @param tell is told each thing that was not known before */
  constructor(device: StepDevice, tell: (observation: Observation) => Promise<void>) {
    this.#device = device;
    this.#tell = tell;
  }

  get profile(): Profile {
    return this.#observed.reduce(withObservation, this.#device.profile);
  }

  list(resource: string): Promise<readonly DeviceRecord[]> {
    return this.#device.list(resource);
  }

  read(resource: string, record: DeviceRecord): Promise<DeviceRecord | undefined> {
    return this.#device.read?.(resource, record) ?? Promise.resolve(undefined);
  }

  async write(request: Step['request']): ReturnType<StepDevice['write']> {
    try {
      return await this.#device.write(request);
    } finally {
      if (this.#device.takesOneConnection === true) await this.observe({ kind: 'one connection' });
    }
  }

  async observe(observation: Observation): Promise<void> {
    if (isKnown(this.profile, observation)) return;
    this.#observed = [...this.#observed, observation];
    await this.#tell(observation);
  }
}

function isKnown(profile: Profile, observation: Observation): boolean {
  switch (observation.kind) {
    case 'proven':
      return originOfWrite(profile, observation.write, observation.resource) !== 'assumed';
    case 'one connection':
      return profile.connections !== undefined;
    case 'positional':
      return hasPositionalIds(profile);
    case 'writing': {
      const { hidden = [], ...seen } = observation.seen;
      const known: Partial<ResourceProfile> = profile.resources[observation.resource] ?? {};
      return (
        hidden.every((field) => known.hidden?.includes(field) === true) &&
        isDeepStrictEqual({ ...known, ...seen }, known)
      );
    }
    case 'volatile': {
      const known = volatileFields(profile, observation.resource);
      return observation.fields.every((field) => known.includes(field));
    }
  }
}
