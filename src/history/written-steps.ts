import { type Run, sentTime } from '../change/journal.ts';
import { isRefusedAdd, type StepResult } from '../change/verdict.ts';
import { isStored } from '../device/equality.ts';
import { type DeviceRecord, valueAt, valueText } from '../device/record.ts';
import { MASK } from '../text/one-line.ts';
import type { RecordOfStep, WrittenStep } from './attribution.ts';

/** A request of a run that left for a device, whatever became of it. */
export interface SentStep extends RecordOfStep {
  readonly run: string;
  /** ms UTC */
  readonly sentAt: number;
  /** Until when it may have had an effect: a step that is `done` had it before its read-back. */
  readonly endedAt: number;
}

export function sentSteps({ run, plan, states }: Run): SentStep[] {
  return plan.devices.flatMap(({ device, steps }) =>
    steps.flatMap(({ resource, key, before, asked }, index): SentStep[] => {
      const state = states.get(device.name)?.[index];
      const at = sentTime(state);
      if (at === undefined || state === undefined || state.kind === 'waiting') return [];
      if (state.kind === 'ended' && isRefusedAdd(state.result)) return [];
      const sentAt = Date.parse(at);
      const verdict = state.kind === 'sent' ? 'unknown' : state.result.verdict;
      const endedAt =
        verdict === 'unknown' ? Infinity : verdict === 'done' ? sentAt : Date.parse(state.at);
      const held = (state.kind === 'ended' ? state.result.record : undefined) ?? before;
      const names = [key, newName(key, before, asked) ?? key];
      return [...new Set(names)].map((name) => {
        return { run, device: device.name, resource, key: name, held, sentAt, endedAt };
      });
    }),
  );
}

/** What may be the new name of a record: the value of a field that had its old name. */
function newName(
  key: string,
  before: DeviceRecord | undefined,
  wrote: DeviceRecord,
): string | undefined {
  const name = Object.keys(wrote).find((field) => valueText(valueAt(before, field)) === key);
  const text = name === undefined ? key : valueText(wrote[name]);
  return text === key ? undefined : text;
}

/** The steps of a run that the device has carried out, as their read-back proved. */
export function writtenSteps({ run, command, plan, states }: Run): WrittenStep[] {
  return plan.devices.flatMap(({ device, steps }) =>
    steps.flatMap((step, index): WrittenStep[] => {
      const state = states.get(device.name)?.[index];
      if (state?.kind !== 'ended' || state.sentAt === undefined) return [];
      if (!['done', 'differs'].includes(state.result.verdict)) return [];
      const { resource, key, action, before, asked } = step;
      const wrote = writtenFields(asked, state.result);
      return [
        {
          ...{ run, step: index, line: command, device: device.name, resource, key, action },
          held: state.result.record ?? before,
          ...{ sentAt: Date.parse(state.sentAt), endedAt: Date.parse(state.at), before, wrote },
        },
      ];
    }),
  );
}

/** The fields asked for that the read-back shows. What a device stored differently is nobody's for sure. */
function writtenFields(asked: DeviceRecord, { verdict, record }: StepResult): DeviceRecord {
  if (record === undefined) return asked;
  const fields = Object.entries(asked).flatMap(([field, value]) => {
    const stored = valueAt(record, field);
    if (value === MASK || stored === undefined) return [[field, value] as const];
    const isWritten = verdict === 'done' || isStored(value, stored);
    return isWritten ? [[field, stored] as const] : [];
  });
  return Object.fromEntries(fields);
}
