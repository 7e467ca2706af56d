import type { Credential } from '../device/credential.ts';
import { DeviceError } from '../device/errors.ts';
import type { DeviceRef } from '../device/record.ts';
import { isSameName } from './account-harm.ts';
import type { Rotation } from './change.ts';
import type { StepEnd } from './verdict.ts';

/** Whether devsh itself logs in with the secret that is rotated. */
export function isOwnRotation(
  { key, rotation }: { readonly key: string; readonly rotation?: Rotation | undefined },
  credential: Credential | undefined,
): boolean {
  const { kind, user = '' } = credential ?? {};
  return rotation !== undefined && kind === rotation.kind && isSameName(key, user);
}

/** The run stops: on further devices the same would happen, or no login would be left. */
export class StopsRunError extends DeviceError {
  override readonly code: 'login-unknown' | 'secret-refused';
  readonly stopReason: string;

  constructor(device: DeviceRef, code: StopsRunError['code'], text: string, stopReason: string) {
    super(device, text);
    this.code = code;
    this.stopReason = stopReason;
  }
}

/** Whether the login in use is lost on a device: nothing more can be read or sent. */
export function losesLogin(
  { credential }: { readonly credential: Credential | undefined },
  step: Parameters<typeof isOwnRotation>[0],
  { verdict }: StepEnd,
): boolean {
  return verdict === 'unknown' && isOwnRotation(step, credential);
}
