// The programmatic API: `import { openDevice, plan, apply } from 'devsh'`. The same layers as the command
// line, with the same promises: pins, one send, read-back, journal. It prints nothing and asks nobody.
export { type DeviceOptions, type Login, openDevice, OpenDevice } from './api/open-device.ts';
export { type ChangeSpec, type Fields, plan, ReadyPlan } from './api/plan.ts';
export { apply, type ApplyOptions, type RunReport } from './api/apply.ts';
export type { DevicePlan, Step } from './change/plan.ts';
export type { Action, Difference, StepResult, Verdict } from './change/verdict.ts';
export type { DeviceRecord, DeviceRef, Value } from './device/record.ts';
export { DevshError } from './errors.ts';
