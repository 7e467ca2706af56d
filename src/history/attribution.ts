import { canonicalId } from '../change/identity.ts';
import { type Run, sentTime } from '../change/journal.ts';
import type { StepResult } from '../change/verdict.ts';
import { isComparable, isMask } from '../device/sensitive-fields.ts';
import { isStored } from '../device/equality.ts';
import { type DeviceRecord, grouped, type Value, valueAt, valueText } from '../device/record.ts';
import {
  type Event,
  type FieldChange,
  type RecordEvent,
  spansOf,
  type StepName,
} from './events.ts';
import { idText } from './kept.ts';

/** Which record a step meant. */
interface RecordOfStep {
  readonly device: string;
  readonly resource: string;
  readonly key: string;
  /** As read back, else as before the step: it has the id. */
  readonly held: DeviceRecord | undefined;
}

/** A step of a run that the device has carried out: its read-back proved it. */
export interface WrittenStep extends StepName, RecordOfStep {
  readonly action: 'add' | 'set' | 'delete';
  /** When the request left, and when its verdict was known; ms UTC. */
  readonly sentAt: number;
  readonly endedAt: number;
  readonly before: DeviceRecord | undefined;
  /** The fields that the step wrote, as its read-back showed them; secrets masked. */
  readonly wrote: DeviceRecord;
}

/**
 * Names the run behind each event, where one did it: the step was sent within the interval of the event, or
 * before it and read back at its end, and what it wrote is what changed. What it did not write stays without a
 * run, as an event of its own. Pure.
 */
export function attributed(events: readonly Event[], steps: readonly WrittenStep[]): Event[] {
  if (steps.length === 0) return [...events];
  const stepsOf = stepsByRecord(steps);
  return events.flatMap((event): Event[] => {
    if (!('key' in event) || event.after === undefined) return [event];
    const spans = spansOf(event);
    const own = stepsOf(event)
      // What the read-back of a step showed is no change of later readings. Another process may have read between
      // the request and its effect.
      .filter((step) => {
        const { sentAt, endedAt } = step;
        const isInEffect = (from: number): boolean => endedAt < from || !isEffectOf(step, event);
        return spans.some(
          ([from, to]) => sentAt <= to && (sentAt >= from || endedAt >= to || !isInEffect(from)),
        );
      })
      .sort((a, b) => a.sentAt - b.sentAt);
    if (own.length === 0) return [event];
    if (event.kind === 'changed') return parts(event, own);
    return whole(event, own);
  });
}

/** Whether the earlier reading did not show yet what the step has done, and the later one does. */
function isEffectOf({ action, wrote }: WrittenStep, event: Event): boolean {
  if (event.kind !== 'changed') return action === (event.kind === 'added' ? 'add' : 'delete');
  return event.fields.some(({ field, before, after }) => {
    const value = valueAt(wrote, field);
    return value !== undefined && isStored(value, after) && !isStored(value, before);
  });
}

/** The steps that meant the record of an event: by its id, where records share a name. */
export function stepsByRecord<Step extends RecordOfStep>(
  steps: readonly Step[],
): (event: RecordEvent) => readonly Step[] {
  const indexes = new Map<string | undefined, ReadonlyMap<string, readonly Step[]>>();
  const name = (device: string, resource: string, id: string | undefined, key: string): string =>
    JSON.stringify([device, resource, id ?? null, id === undefined ? key : null]);
  return ({ device, resource, key, id }) => {
    const index =
      indexes.get(id?.field) ??
      grouped(steps, (step) => {
        const own = id && idText(step.held, id.field);
        return name(step.device, step.resource, own, step.key);
      });
    indexes.set(id?.field, index);
    const byKey = index.get(name(device, resource, undefined, key)) ?? [];
    if (id === undefined) return byKey;
    // A step without an id is known by the name that it gave or read.
    return [...(index.get(name(device, resource, canonicalId(id.text), key)) ?? []), ...byKey];
  };
}

function whole(
  event: Event & { kind: 'added' | 'gone' | 'unlisted' },
  steps: readonly WrittenStep[],
): Event[] {
  const action = event.kind === 'added' ? 'add' : 'delete';
  // What a run added and deleted again, somebody else has added.
  const step = steps.findLast((one) => one.action !== 'set');
  if (step?.action !== action) return [event];
  if (event.kind !== 'added') return [{ ...event, kind: 'gone', by: by(step) }];
  // A later step or another writer may have changed the new record before it was read.
  const later = Object.entries(step.wrote).flatMap(([field, wrote]): FieldChange[] => {
    const after = valueAt(event.record.fields, field);
    const isSecret = isMask(wrote) || valueAt(event.record.digests, field) !== undefined;
    if (after === undefined || isSecret || isStored(wrote, after)) return [];
    return [{ field, before: wrote, after, isSecret }];
  });
  const { kind, record, ...at } = event;
  const added: Event = { ...at, kind, record, by: by(step) };
  if (later.length === 0) return [added];
  const sets = steps.slice(steps.indexOf(step) + 1);
  return [added, ...parts({ ...at, kind: 'changed', fields: later }, sets)];
}

/** Splits the change of each field into what the steps did, in order, and what others did between them. */
function parts(event: Event & { kind: 'changed' }, steps: readonly WrittenStep[]): Event[] {
  const groups = new Map<WrittenStep | undefined, FieldChange[]>();
  const put = (step: WrittenStep | undefined, change: FieldChange): void => {
    groups.set(step, [...(groups.get(step) ?? []), change]);
  };
  for (const change of event.fields) {
    const { field, isSecret } = change;
    const own = steps.filter((step) => step.action === 'set' && Object.hasOwn(step.wrote, field));
    const last = own.at(-1);
    if (last === undefined) {
      put(undefined, change);
    } else if (isSecret || isMask(last.wrote[field])) {
      const writers = isMask(last.wrote[field]) ? secretWriters(own, field) : [undefined];
      for (const step of writers) put(step, change);
    } else {
      let current = change.before;
      for (const step of own) {
        const [before, after] = [valueAt(step.before, field), valueAt(step.wrote, field)];
        if (!isStored(current, before))
          put(undefined, { field, isSecret, before: current, after: before });
        if (!isStored(before, after)) put(step, { field, isSecret, before, after });
        current = after;
      }
      if (!isStored(current, change.after)) {
        put(undefined, { field, isSecret, before: current, after: change.after });
      }
    }
  }
  return [...groups].map(([step, fields]) => ({ ...event, fields, ...(step && { by: by(step) }) }));
}

/**
 * The steps that changed a secret, and undefined if somebody else has changed it before or between them. The
 * digests of what was read before and after a step tell; a secret without one, its step has changed.
 */
function secretWriters(
  steps: readonly WrittenStep[],
  field: string,
): readonly (WrittenStep | undefined)[] {
  const writers = new Set<WrittenStep | undefined>();
  let left: Value | undefined;
  for (const step of steps) {
    const [before, after] = [valueAt(step.before, field), valueAt(step.wrote, field)];
    if (isComparable(left) && isComparable(before) && left !== before) writers.add(undefined);
    if (!isComparable(before) || before !== after) writers.add(step);
    left = after;
  }
  return writers.size === 0 ? [undefined] : [...writers];
}

function by({ run, step, line }: WrittenStep): StepName {
  return { run, step, line };
}

/** A request of a run that left for a device, whatever became of it. */
export interface SentStep extends RecordOfStep {
  readonly run: string;
  /** ms UTC */
  readonly sentAt: number;
  /** Until when it may have had an effect. */
  readonly endedAt: number;
  /** A reading before `endedAt` showed its effect: no later one shows it for the first time. */
  readonly isShown: boolean;
}

/** Whether a change between two readings may be the effect of a request. */
export function mayBeBy(
  event: Event,
  { sentAt, endedAt, isShown }: Pick<SentStep, 'sentAt' | 'endedAt' | 'isShown'>,
): boolean {
  // Another process may have read between the request and its effect.
  return spansOf(event).some(
    ([from, to]) => sentAt <= to && (sentAt >= from || (isShown ? endedAt >= to : endedAt >= from)),
  );
}

export function sentSteps({ run, plan, states }: Run): SentStep[] {
  return plan.devices.flatMap(({ device, steps }) =>
    steps.flatMap(({ resource, key, before, asked }, index): SentStep[] => {
      const state = states.get(device.name)?.[index];
      const at = sentTime(state);
      if (at === undefined || state === undefined || state.kind === 'waiting') return [];
      const sentAt = Date.parse(at);
      const verdict = state.kind === 'sent' ? 'unknown' : state.result.verdict;
      const endedAt = verdict === 'unknown' ? Infinity : Date.parse(state.at);
      const isShown = verdict === 'done';
      const held = (state.kind === 'ended' ? state.result.record : undefined) ?? before;
      const names = [key, newName(key, before, asked) ?? key];
      return [...new Set(names)].map((name) => {
        return { run, device: device.name, resource, key: name, held, sentAt, endedAt, isShown };
      });
    }),
  );
}

/** A request of a run of which nobody knows what it did, until when it may have had an effect. */
export type RawRequest = Pick<SentStep, 'run' | 'device' | 'sentAt' | 'endedAt' | 'isShown'>;

export function rawRequestsOf({ run, at, endedAt, plan }: Run): RawRequest[] {
  const times = {
    sentAt: Date.parse(at),
    endedAt: endedAt === undefined ? Infinity : Date.parse(endedAt),
    isShown: false,
  };
  return plan.devices.flatMap(({ device, raw }) =>
    raw === undefined ? [] : [{ run, device: device.name, ...times }],
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
    if (isMask(value)) return [[field, isMask(stored) ? stored : value] as const];
    if (stored === undefined) return [[field, value] as const];
    const isWritten = verdict === 'done' || isStored(value, stored);
    return isWritten ? [[field, stored] as const] : [];
  });
  return Object.fromEntries(fields);
}
