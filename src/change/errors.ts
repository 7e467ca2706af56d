import { DeviceError } from '../device/errors.ts';
import type { DeviceRef } from '../device/record.ts';

/** The step makes no sense on this device as it is: no such record, or more than one. */
export class NotPossibleError extends DeviceError {
  override readonly code: 'not-found' | 'ambiguous' | 'taken';

  constructor(device: DeviceRef, code: 'not-found' | 'ambiguous' | 'taken', message: string) {
    super(device, message);
    this.code = code;
  }
}
