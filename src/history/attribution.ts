import { canonicalId } from '../change/identity.ts';
import { type Run, sentTime } from '../change/journal.ts';
import type { About, StepResult } from '../change/verdict.ts';
import { isComparable, isMask } from '../device/sensitive-fields.ts';
import { isStored } from '../device/equality.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  valueAt,
  valueText,
} from '../device/record.ts';
import { type Event, type FieldChange, type RecordEvent, spanOf, type StepName } from './events.ts';
import { idText } from './kept.ts';
import type { Identity } from './replay.ts';

/** A request of a run that left for a device. */
export interface Deed extends StepName {
  readonly device: DeviceRef;
  readonly pin: string | undefined;
  /** Undefined of a raw request: nobody knows what it did. */
  readonly record?: DeedRecord | undefined;
  /** When it left, and when its verdict was known; ms UTC. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** Its effect may show later: `unknown`, or `no effect` so far. */
  readonly isOpen: boolean;
}

interface DeedRecord extends About {
  readonly device: string;
  /** As read back, else as before the step: it has the id. */
  readonly held: DeviceRecord | undefined;
  readonly before: DeviceRecord | undefined;
  /** The fields that the step wrote, as its read-back showed them; secrets masked. Undefined if the device is not known to have accepted it. */
  readonly wrote: DeviceRecord | undefined;
  /** What was sent, whatever became of it. */
  readonly asked: DeviceRecord;
}

/** Which device the period of an event was read from, the latest identity first. */
export type IdentitiesOf = (event: Event) => readonly Pick<Identity, 'address' | 'pin'>[];

/** Who did what, by the journals of the runs of this devsh. */
export class Deeds {
  readonly #byAddress: ReadonlyMap<string, readonly Deed[]>;
  readonly #byRecord: ReadonlyMap<string, readonly Deed[]>;
  readonly #identitiesOf: IdentitiesOf;

  constructor(deeds: readonly Deed[], identitiesOf: IdentitiesOf) {
    this.#byAddress = grouped(deeds, ({ device }) => device.address);
    const named = deeds.flatMap((deed) => recordNames(deed).map((name) => ({ name, deed })));
    this.#byRecord = new Map(
      [...grouped(named, ({ name }) => name)].map(([name, all]) => [
        name,
        all.map(({ deed }) => deed),
      ]),
    );
    this.#identitiesOf = identitiesOf;
  }

  /**
   * Names the run behind each event if exactly one fits: it wrote to that record of that device in the interval, was
   * accepted, and the values are those that it sent. Fields that no run sent are an event of their own.
   */
  attributed(events: readonly Event[]): Event[] {
    return events.flatMap((event): Event[] => {
      if (!('key' in event) || event.after === undefined || event.isSetBack) return [event];
      const own = this.#ofRecord(event).filter(
        (deed) => this.#isThere(deed, event) && mayShowIn(event, deed),
      );
      if (event.kind !== 'changed') {
        const deed = onlyRun(own.filter((one) => isWholeOf(one, event)));
        if (deed === undefined) return [event];
        const isNew = event.kind === 'added' || event.kind === 'listed';
        return [{ ...event, kind: isNew ? 'added' : 'gone', by: by(deed) }];
      }
      const groups = new Map<Deed | undefined, FieldChange[]>();
      for (const change of event.fields) {
        const deed = onlyRun(own.filter((one) => hasWritten(one, change)));
        groups.set(deed, [...(groups.get(deed) ?? []), change]);
      }
      return [...groups].map(([deed, fields]) => ({
        ...event,
        fields,
        ...(deed && { by: by(deed) }),
      }));
    });
  }

  /** The newest run that may have had to do with an event: it wrote there then, or just this on `elsewhere`. */
  near(event: RecordEvent): { readonly run: string; readonly elsewhere?: string } | undefined {
    const [{ address } = { address: '' }] = this.#identitiesOf(event);
    const here = this.#byAddress.get(address)?.findLast((deed) => mayBeBy(event, deed));
    if (here !== undefined) return { run: here.run };
    const late = this.#ofRecord(event).findLast(
      (deed) =>
        mayShowIn(event, deed) &&
        (isLike(deed, event) || (deed.isOpen && this.#isThere(deed, event))),
    );
    if (late === undefined) return undefined;
    const { run, device } = late;
    return { run, ...(device.address !== address && { elsewhere: device.name }) };
  }

  #ofRecord({ resource, key, id }: RecordEvent): readonly Deed[] {
    const named = this.#byRecord.get(recordName(resource, key)) ?? [];
    const own =
      id === undefined
        ? []
        : (this.#byRecord.get(recordName(resource, canonicalId(id.text))) ?? []);
    const isOther = ({ record }: Deed): boolean => {
      const held = id && idText(record?.held, id.field);
      return held !== undefined && held !== canonicalId(id?.text ?? '');
    };
    return [...new Set([...own, ...named])].filter((deed) => !isOther(deed));
  }

  #isThere({ device, pin }: Deed, event: Event): boolean {
    return this.#identitiesOf(event).some(
      (one) => one.address === device.address && (pin === undefined || pin === one.pin),
    );
  }
}

function recordNames({ record }: Deed): string[] {
  if (record === undefined) return [];
  // Any field may be its id, or its name before or since.
  const named = [...Object.values(record.asked), ...Object.values(record.held ?? {})].map(
    valueText,
  );
  return [...new Set([record.key, ...named.map(canonicalId)])].map((name) =>
    recordName(record.resource, name),
  );
}

function recordName(resource: string, name: string): string {
  return JSON.stringify([resource, name]);
}

/** The last deed, if all are of one run. */
function onlyRun(deeds: readonly Deed[]): Deed | undefined {
  const last = deeds.at(-1);
  return deeds.every(({ run }) => run === last?.run) ? last : undefined;
}

/** Whether an accepted step made or deleted the record of an event as it is. */
function isWholeOf(deed: Deed, event: RecordEvent): boolean {
  const { record } = deed;
  if (record?.wrote === undefined || event.kind === 'changed') return false;
  if (event.kind !== 'added' && event.kind !== 'listed') return record.action === 'delete';
  const { fields, digests } = event.record;
  const isSame = (field: string): boolean => {
    const [after, isSecret] = [valueAt(fields, field), valueAt(digests, field) !== undefined];
    return after === undefined || hasWritten(deed, { field, after, isSecret });
  };
  return record.action === 'add' && Object.keys(record.wrote).every(isSame);
}

/** Whether an accepted step wrote what a field holds after a change. */
function hasWritten({ record }: Deed, { field, after, isSecret }: FieldChange): boolean {
  const value = record?.action === 'delete' ? undefined : valueAt(record?.wrote, field);
  if (value === undefined) return false;
  const before = valueAt(record?.before, field);
  // A digest shows that the step has left the secret as it was.
  if (isSecret || isMask(value)) return !(isComparable(before) && before === value);
  return isStored(value, after);
}

/** Whether a request, accepted or not, was for what an event shows. */
function isLike({ record, ...rest }: Deed, event: RecordEvent): boolean {
  const deed = { ...rest, record: record && { ...record, wrote: record.wrote ?? record.asked } };
  return event.kind === 'changed'
    ? event.fields.some((change) => hasWritten(deed, change))
    : isWholeOf(deed, event);
}

function by({ run, step, line }: Deed): StepName {
  return { run, step, line };
}

/** Whether the effect of a request may show between two readings for the first time. */
function mayShowIn(event: Event, { sentAt, endedAt, isOpen }: Deed): boolean {
  const [from, to] = spanOf(event);
  return sentAt <= to && (isOpen || endedAt >= from);
}

/** Whether a request was under way between two readings, and none before showed its effect. */
export function mayBeBy(
  event: Event,
  { sentAt, endedAt, isOpen }: Pick<Deed, 'sentAt' | 'endedAt' | 'isOpen'>,
): boolean {
  const [from, to] = spanOf(event);
  // Another process may have read between the request and its effect.
  return sentAt <= to && (sentAt >= from || endedAt >= (isOpen ? from : to));
}

export function deedsOf({ run, command: line, at, endedAt, plan, states }: Run): Deed[] {
  return plan.devices.flatMap(({ device, pin, steps, raw }) => {
    const own = steps.flatMap((step, index): Deed[] => {
      const state = states.get(device.name)?.[index];
      const left = sentTime(state);
      if (left === undefined || state === undefined || state.kind === 'waiting') return [];
      const result = state.kind === 'ended' ? state.result : undefined;
      const { resource, key, action, before, asked } = step;
      const isOpen = result === undefined || LATE.includes(result.verdict);
      const isAccepted = ['done', 'differs', 'no effect'].includes(result?.verdict ?? '');
      const wrote = isAccepted ? writtenFields(asked, result) : undefined;
      const held = result?.record ?? before;
      return [
        {
          ...{ run, step: index, line, device, pin },
          record: { device: device.name, resource, key, action, held, before, wrote, asked },
          sentAt: Date.parse(left),
          endedAt: Date.parse(state.at),
          isOpen,
        },
      ];
    });
    const sent = { run, step: 0, line, device, pin, sentAt: Date.parse(at), isOpen: true };
    return raw === undefined ? own : [...own, { ...sent, endedAt: Date.parse(endedAt ?? at) }];
  });
}

/** After these the effect of a request may still show. */
const LATE: readonly string[] = ['unknown', 'no effect'];

/** The fields asked for that the read-back shows. What a device stored differently is nobody's for sure. */
function writtenFields(asked: DeviceRecord, result: StepResult | undefined): DeviceRecord {
  const { verdict, record } = result ?? {};
  if (record === undefined || verdict === 'no effect') return asked;
  const fields = Object.entries(asked).flatMap(([field, value]) => {
    const stored = valueAt(record, field);
    if (isMask(value)) return [[field, isMask(stored) ? stored : value] as const];
    if (stored === undefined) return [[field, value] as const];
    const isWritten = verdict === 'done' || isStored(value, stored);
    return isWritten ? [[field, stored] as const] : [];
  });
  return Object.fromEntries(fields);
}
