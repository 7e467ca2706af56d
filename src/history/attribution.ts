import { isStored } from '../device/equality.ts';
import { type DeviceRecord, type Value, valueAt, grouped } from '../device/record.ts';
import { canonicalId } from '../change/identity.ts';
import { MASK } from '../text/one-line.ts';
import {
  type Event,
  type FieldChange,
  type RecordEvent,
  spansOf,
  type StepName,
} from './events.ts';
import { idText } from './kept.ts';

/** Which record a step meant. */
export interface RecordOfStep {
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
      // What the read-back of a step showed is no change of later readings.
      .filter(({ sentAt, endedAt }) =>
        spans.some(([from, to]) => sentAt <= to && (sentAt >= from || endedAt >= to)),
      )
      .sort((a, b) => a.sentAt - b.sentAt);
    if (own.length === 0) return [event];
    if (event.kind === 'changed') return parts(event, own);
    return whole(event, own);
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
    const isSecret = isMasked(wrote) || valueAt(event.record.digests, field) !== undefined;
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
    } else if (isSecret || isMasked(last.wrote[field])) {
      put(isMasked(last.wrote[field]) ? last : undefined, change);
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

function by({ run, step, line }: WrittenStep): StepName {
  return { run, step, line };
}

function isMasked(value: Value | undefined): boolean {
  return value === MASK;
}
