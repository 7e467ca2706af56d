// The programmatic API: `import { openDevice, plan, apply } from 'devsh'`. It uses the layers of the command
// line with the same guarantees: pins, one send, read-back, journal. It prints nothing and never asks the user.
export { type DeviceOptions, type Login, openDevice, OpenDevice } from './api/open-device.ts';
export { type ChangeSpec, type Fields, plan, ReadyPlan } from './api/plan.ts';
export { apply, type ApplyOptions, type RunReport } from './api/apply.ts';
export type { DevicePlan, Step } from './change/plan.ts';
export type { Action, Difference, StepResult, Verdict } from './change/verdict.ts';
export type { DeviceRecord, DeviceRef, Value } from './device/record.ts';
export { DevshError } from './errors.ts';
