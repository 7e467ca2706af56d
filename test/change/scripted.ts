import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { WriteResponse } from '../../src/device/device.ts';
import type { WriteRequest } from '../../src/device/encode.ts';
import type { DeviceRecord, DeviceRef } from '../../src/device/record.ts';
import type { Access } from '../../src/fleet/access.ts';
import { DeviceSession } from '../../src/fleet/device-session.ts';

/** The behaviour of a device for reads and writes. */
interface Script {
  readonly list: (resource: string) => Promise<readonly DeviceRecord[]>;
  readonly write: (request: WriteRequest) => Promise<unknown>;
}

/** A device session without a network: it follows the script. */
export function scripted(
  ref: DeviceRef,
  script: Script,
): { session: DeviceSession; access: Access } {
  return { session: new ScriptedMember(ref, script), access: NOBODY };
}

class ScriptedMember extends DeviceSession {
  readonly #script: Script;

  constructor(ref: DeviceRef, script: Script) {
    super({ ...ref, groups: [] });
    this.#script = script;
  }

  override list(_access: Access, resource: string): Promise<readonly DeviceRecord[]> {
    return this.#script.list(resource);
  }

  override async write(_access: Access, request: WriteRequest): Promise<WriteResponse> {
    await this.#script.write(request);
    return { status: 200, body: '' };
  }

  override details(): Promise<readonly DeviceRecord[]> {
    return Promise.resolve([]);
  }
}

/** Never called: the devices are not opened. */
const NOBODY: Access = {
  trust: () => Promise.resolve({ kind: 'system' }),
  route: () => ({ kind: 'direct' }),
  acceptCertificate: () => Promise.resolve(undefined),
  profile: () => Promise.resolve({ base: documentedProfile, stored: {} }),
  credential: () => Promise.resolve(undefined),
  anotherCredential: () => Promise.resolve(undefined),
  admit: () => Promise.resolve(),
  settle: () => undefined,
};
