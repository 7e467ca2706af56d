import { recordName } from './record-name.ts';
import { isSecretField } from '../device/secret-fields.ts';
import { ownFields } from '../device/observation.ts';
import { ownAddress } from '../device/own-address.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord, DeviceRef, Value } from '../device/record.ts';
import { isTimeStamp } from '../device/value-text.ts';
import type { Change } from './change.ts';
import { isSameValue } from './compare.ts';
import type { Run, StepState } from './journal.ts';
import type { Step } from './plan.ts';
import { valueAt } from '../value-at.ts';

/** What takes a run back on one device, and what cannot be brought back. */
export interface DeviceUndo {
  readonly device: DeviceRef;
  readonly changes: readonly Change[];
  /** One sentence each. */
  readonly losses: readonly string[];
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
    return [
      {
        device,
        changes: undone.map(({ change }) => change),
        losses: undone.flatMap(({ loss }) => (loss === undefined ? [] : [loss])),
      },
    ];
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
function undoStep(
  step: Step,
  record: DeviceRecord | undefined,
  profile: Profile,
): { change: Change; loss?: string } {
  const { resource, key, keyField } = step;
  const before = step.before ?? {};
  const own = ownFields(profile, resource);
  const details = profile.resources[resource]?.details ?? {};
  const isReadOnly = (field: string): boolean =>
    Object.hasOwn(details, field) && details[field]?.readOnly === true;
  switch (step.action) {
    case 'add':
      return {
        change: {
          action: 'delete',
          resource,
          target: { kind: 'key', key },
          expected: record ?? step.after ?? {},
        },
      };
    case 'set': {
      // All that the step changed, asked for or not; what is masked cannot be set back.
      const held = record ?? step.after ?? {};
      const changed = Object.keys(before).filter(
        (field) =>
          !profile.idFields.includes(field) &&
          !isSecretField(field) &&
          ((!isTimeStamp(valueAt(before, field)) && !own.includes(field) && !isReadOnly(field)) ||
            Object.hasOwn(step.asked, field)) &&
          (Object.hasOwn(step.asked, field) ||
            !isSameValue(valueAt(before, field) ?? null, valueAt(held, field))),
      );
      const secrets = Object.keys(step.asked).filter(isSecretField);
      const now = valueOr(held[keyField], step.after?.[keyField], key);
      return {
        change: {
          action: 'set',
          resource,
          target: { kind: 'key', key: now },
          fields: pickFields(before, changed),
          expected: pickFields(held, changed),
          isExact: true,
        },
        ...(secrets.length > 0 && {
          loss: `${recordName(step)}: ${secrets.join(', ')} cannot be set back, as it was not kept`,
        }),
      };
    }
    case 'delete': {
      const address = ownAddress(before, profile.basePath)?.field;
      const kept = Object.keys(before).filter(
        (field) =>
          !profile.idFields.includes(field) &&
          field !== address &&
          !isSecretField(field) &&
          !isTimeStamp(valueAt(before, field)) &&
          !own.includes(field) &&
          !isReadOnly(field) &&
          valueAt(before, field) !== null,
      );
      return {
        change: { action: 'add', resource, fields: pickFields(before, kept), isExact: true },
        loss: `${resource} ${key}: the password, token and id of before do not come back`,
      };
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
