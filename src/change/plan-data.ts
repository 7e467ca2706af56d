import { maskedRequest } from '../device/encode.ts';
import type { JsonValue } from '../device/value-text.ts';
import { maskedRecord } from '../device/secret-fields.ts';
import type { DevshError } from '../errors.ts';
import type { Change } from './change.ts';
import { maskedDifference } from './compare.ts';
import type { DevicePlan, Step } from './plan.ts';
import type { StepResult } from './verdict.ts';

/** A device's part of a plan as plain data, secrets masked. */
export function devicePlanData(plan: DevicePlan): JsonValue {
  const {
    device,
    steps,
    settled,
    total,
    error,
    wanted,
    changes,
    assumed,
    lookAlikes,
    isUnchecked,
  } = plan;
  return {
    device: { ...device },
    steps: steps.map(stepData),
    settled: settled.map(resultData),
    total,
    isUnchecked,
    assumed: assumed?.map((one) => ({ ...one })),
    lookAlikes: lookAlikes?.map((one) => ({ ...one })),
    wanted: wanted?.map((one) => ({ ...one })),
    changes: changes?.map(changeData),
    ...(error && { error: errorData(error) }),
  };
}

/** A change as plain data, secrets masked. */
export function changeData(change: Change): JsonValue {
  const { action, resource } = change;
  switch (action) {
    case 'add':
      return {
        action,
        resource,
        fields: maskedRecord(change.fields),
        ...kindOfValues(change),
        lost: change.lost && maskedRecord(change.lost),
      };
    case 'set':
      return {
        action,
        resource,
        target: { ...change.target },
        fields: maskedRecord(change.fields),
        ...kindOfValues(change),
        expected: change.expected && maskedRecord(change.expected),
        lost: change.lost && maskedRecord(change.lost),
      };
    case 'delete':
      return {
        action,
        resource,
        target: { ...change.target },
        expected: change.expected && maskedRecord(change.expected),
      };
  }
}

/** What tells values from texts that were typed: a change that is planned later needs it. */
function kindOfValues({ asJson, isExact }: Change & { readonly action: 'add' | 'set' }) {
  return { ...(asJson && { asJson: [...asJson] }), ...(isExact && { isExact }) };
}

/** A step as plain data, secrets masked. */
export function stepData({
  request,
  before,
  after,
  asked,
  filled,
  lost,
  ...rest
}: Step): JsonValue {
  return {
    ...rest,
    request: { ...maskedRequest(request) },
    before: before && maskedRecord(before),
    after: after && maskedRecord(after),
    asked: maskedRecord(asked),
    filled: { ...filled },
    lost: lost && maskedRecord(lost),
  };
}

/** A result as plain data, secrets masked. */
export function resultData({
  error,
  record,
  gone,
  differences,
  device,
  ...rest
}: StepResult): Readonly<Record<string, JsonValue>> {
  return {
    ...rest,
    device: { ...device },
    record: record && maskedRecord(record),
    gone: gone?.map(maskedRecord),
    differences: differences?.map(maskedDifference),
    ...(error && { error: errorData(error) }),
  };
}

function errorData({ code, exitCode, message }: DevshError): JsonValue {
  return { code, exitCode, message };
}
