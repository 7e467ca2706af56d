import { isSecretField, MASK } from '../device/secret-fields.ts';
import { ownFields } from '../device/observation.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord, DeviceRef, Value } from '../device/record.ts';
import { isTimeStamp } from '../device/value-text.ts';
import type { Change } from './change.ts';
import { isSameValue } from './compare.ts';
import { restorable } from './losses.ts';
import { isMasked } from './mask.ts';
import type { Run, StepState } from './journal.ts';
import type { Step } from './plan.ts';
import { valueAt } from '../value-at.ts';

/** What takes a run back on one device. */
export interface DeviceUndo {
  readonly device: DeviceRef;
  readonly changes: readonly Change[];
}

/**
 * The changes that take a run back: what was added is deleted, what was changed is set to what it was,
 * what was deleted is added again; the last step first. Pure: planned from live state like any other.
 *
 * @param profileOf how a device speaks: ids and counters are not set back
 */
export function undoOf(run: Run, profileOf: (device: DeviceRef) => Profile): readonly DeviceUndo[] {
  return run.plan.devices.flatMap(({ device, steps }) => {
    const profile = profileOf(device);
    const states = run.states.get(device.name) ?? [];
    const undone = steps
      .flatMap((step, index) => {
        const state = states[index];
        return state !== undefined && mayHaveTakenEffect(state)
          ? [undoStep(step, state.kind === 'ended' ? state.result.record : undefined, profile)]
          : [];
      })
      .reverse();
    if (undone.length === 0) return [];
    return [{ device, changes: undone }];
  });
}

/** The devices on which a run may have changed something. */
export function changedDevices({ plan, states }: Run): readonly DeviceRef[] {
  return plan.devices
    .map(({ device }) => device)
    .filter(({ name }) => states.get(name)?.some(mayHaveTakenEffect) === true);
}

/**
 * `differs` has changed something, too; what is `unknown` or was sent without a verdict may have: the
 * plan shows what is to be done.
 */
function mayHaveTakenEffect(state: StepState): boolean {
  if (state.kind !== 'ended') return state.kind === 'sent';
  return ['done', 'differs', 'unknown'].includes(state.result.verdict);
}

/** @param record the record as read back after the step, where it could be */
function undoStep(step: Step, record: DeviceRecord | undefined, profile: Profile): Change {
  const { resource, key, keyField } = step;
  const before = step.before ?? {};
  switch (step.action) {
    case 'add':
      return {
        action: 'delete',
        resource,
        target: { kind: 'key', key },
        expected: record ?? step.after ?? {},
        isUndo: true,
      };
    case 'set': {
      // All that the step changed, asked for or not; times that the device sets change by themselves.
      const held = record ?? step.after ?? {};
      const own = [...profile.idFields, ...ownFields(profile, resource)];
      const changed = Object.keys(before).filter(
        (field) =>
          Object.hasOwn(step.asked, field) ||
          (!own.includes(field) &&
            !isTimeStamp(valueAt(before, field)) &&
            !isMasked(before, field) &&
            !isSameValue(valueAt(before, field) ?? null, valueAt(held, field))),
      );
      const { fields, lost } = restorable(profile, resource, pickFields(before, changed));
      const secrets = Object.keys(step.asked).filter(isSecretField);
      const unset = changed.filter((field) => valueAt(before, field) === null);
      return {
        action: 'set',
        resource,
        target: { kind: 'key', key: valueOr(held[keyField], step.after?.[keyField], key) },
        fields: { ...fields, ...pickFields(before, unset) },
        expected: pickFields(held, Object.keys(fields)),
        isExact: true,
        lost: { ...lost, ...Object.fromEntries(secrets.map((field) => [field, MASK])) },
      };
    }
    case 'delete': {
      const { fields, lost } = restorable(profile, resource, before);
      return { action: 'add', resource, fields, isExact: true, lost };
    }
  }
}

function pickFields(record: DeviceRecord, fields: readonly string[]): DeviceRecord {
  return Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));
}

function valueOr(...values: readonly (Value | undefined)[]): string {
  const value = values.find((one) => one !== undefined && one !== null && typeof one !== 'object');
  return String(value ?? '');
}
