import type { DeviceRecord, DeviceRef, Value } from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import type { Action, StepResult } from './verdict.ts';

/** A request as it will be sent: the path from the root, the body as form pairs in order. */
export interface PlannedRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly form?: readonly (readonly [field: string, text: string])[];
}

/** One write to one record of one device, computed from what the device held. */
export interface Step {
  readonly action: Action;
  readonly resource: string;
  readonly key: string;
  readonly request: PlannedRequest;
  /** The record before; absent for `add`. */
  readonly before?: DeviceRecord;
  /** What the record must hold afterwards, as far as it is known; absent for `delete`. */
  readonly after?: DeviceRecord;
  /** The fields that the user asked for. */
  readonly asked: Readonly<Record<string, Value>>;
  /** Fields that nobody asked for but that must be sent: field -> where the value comes from. */
  readonly filled: Readonly<Record<string, string>>;
}

/** What is to happen on one device. */
export interface DevicePlan {
  readonly device: DeviceRef;
  readonly steps: readonly Step[];
  /** Steps that need no request: unchanged, differs from an existing record, not found. */
  readonly settled: readonly StepResult[];
  /** Set when the device could not be read: nothing is planned there, and nothing will be sent. */
  readonly error?: DevshError;
}

/** All that one change will do, device by device, in the order of the selection. */
export interface Plan {
  /** The run's id, also in every result: sortable by time. */
  readonly run: string;
  readonly devices: readonly DevicePlan[];
}

export function stepCount(plan: Plan): number {
  return plan.devices.reduce((count, device) => count + device.steps.length, 0);
}
