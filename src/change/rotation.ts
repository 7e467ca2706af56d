import type { RotatedAccount, RotatedSecrets } from '../device/credential.ts';
import { DeviceError } from '../device/errors.ts';
import type { DeviceRef } from '../device/record.ts';
import type { Rotation, Step } from './step.ts';

/** What is kept of an account, and the secret whose login was tried last, perhaps by a run that was killed. */
export type KeptSecrets = RotatedSecrets & { readonly lastTried: 'new' | 'old' | undefined };

/** The places where the secrets of a rotation are kept. All throw DevshError. */
export interface KeptRotations {
  /** The run whose pending secrets may be sent. */
  readonly run: string;
  read(account: RotatedAccount): Promise<KeptSecrets>;
  /** Before a request leaves: keeps the secret in the second place, and that it is sent. */
  beforeSending(device: DeviceRef, account: RotatedAccount, secret: string): Promise<void>;
  /** Before a login with the new or the old secret. */
  trying(account: RotatedAccount, secret: 'new' | 'old'): Promise<void>;
  /** Keeps the token that a device has just made. */
  received(device: DeviceRef, account: RotatedAccount, secret: string): Promise<void>;
  promote(account: RotatedAccount, options: { readonly isLogin: boolean }): Promise<void>;
  drop(account: RotatedAccount): Promise<void>;
  /** The old secret is still in effect: the second place gets it back. */
  keepsOld(account: RotatedAccount): Promise<void>;
}

/** Undefined for a step that rotates no secret. */
export function rotationOf({ purpose }: Pick<Step, 'purpose'>): Rotation | undefined {
  return purpose?.kind === 'rotate' ? purpose.rotation : undefined;
}

/** The run stops: on further devices no login would be left. */
export class StopsRunError extends DeviceError {
  override readonly code = 'login-unknown';
  readonly stopReason: string;

  constructor(device: DeviceRef, text: string, stopReason: string) {
    super(device, text);
    this.stopReason = stopReason;
  }
}
