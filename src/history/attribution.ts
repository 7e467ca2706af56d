import { canonicalId, idsOf } from '../change/identity.ts';
import { type Run, sentTime } from '../change/journal.ts';
import type { Step } from '../change/step.ts';
import type { StepResult } from '../change/verdict.ts';
import { isComparable, isMask } from '../device/sensitive-fields.ts';
import { isStored } from '../device/equality.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  jsonText,
  valueAt,
  valueText,
} from '../device/record.ts';
import { type Author, type Event, type FieldChange, type RecordEvent, spanOf } from './events.ts';
import { idText } from './kept.ts';
import type { DeviceIdentity } from './replay.ts';

/** A request that a run sent to a device. */
export interface Deed {
  readonly run: string;
  /** Its command line. */
  readonly line: string;
  readonly device: DeviceRef;
  readonly pin: string | undefined;
  /** Undefined if devsh does not know what the run did there. */
  readonly record?: DeedRecord | undefined;
  /** When it was sent, and when its verdict was known; ms UTC. */
  readonly sentAt: number;
  readonly endedAt: number;
}

interface DeedRecord extends Pick<Step, 'resource' | 'action' | 'key' | 'before' | 'asked'> {
  /** The record as read back, or else as it was before the step: it has the id. */
  readonly held: DeviceRecord | undefined;
  /** Undefined if it was never known. */
  readonly verdict: StepResult['verdict'] | undefined;
}

/** The identities of the device in the period of an event, the latest first. */
export type IdentitiesOf = (event: Event) => readonly Pick<DeviceIdentity, 'address' | 'pin'>[];

/** The requests of the runs of this devsh, from their journals. They tell who made a change. */
export class Deeds {
  readonly #byAddress: ReadonlyMap<string, readonly Deed[]>;
  readonly #byRecord: ReadonlyMap<string, readonly { readonly deed: Deed }[]>;
  readonly #identitiesOf: IdentitiesOf;
  /** The runs whose journals cannot be read. */
  readonly unreadable: readonly string[];

  constructor(deeds: readonly Deed[], identitiesOf: IdentitiesOf, unreadable: readonly string[]) {
    this.#byAddress = grouped(deeds, ({ device }) => device.address);
    const named = deeds.flatMap((deed) => recordNames(deed).map((name) => ({ name, deed })));
    this.#byRecord = grouped(named, ({ name }) => name);
    this.#identitiesOf = identitiesOf;
    this.unreadable = unreadable;
  }

  /** Adds their authors to the events of all devices. Fields by different authors become separate events. */
  attributed(events: readonly Event[]): Event[] {
    const near = events.flatMap((event) =>
      'key' in event && this.#here(event)
        ? contentsOf(event).map((content) => ({ content, event }))
        : [],
    );
    const byContent = grouped(near, ({ content }) => content);
    const runs = this.unreadable;
    const otherwise: Author = runs.length > 0 ? { kind: 'unknown', runs } : { kind: 'other' };
    return events.flatMap((event): Event[] => {
      if (!('key' in event) || (event.kind === 'added' && event.after === undefined))
        return [event];
      return this.#parted(event).map((one) => {
        // Nobody makes a list show more records.
        if (one.author !== undefined || one.kind === 'listed') return one;
        const same = contentsOf(one).flatMap((content) => byContent.get(content) ?? []);
        const alike = same.find((other) => mayBeAtOnce(one, other.event))?.event;
        return { ...one, author: this.#near(one, alike) ?? otherwise };
      });
    });
  }

  /**
   * Names the run behind an event if exactly one fits: it wrote to that record of that device in the interval, was
   * accepted, and the values are those that it sent.
   */
  #parted(event: RecordEvent): RecordEvent[] {
    if (event.after === undefined || event.isSetBack) return [event];
    const places = this.#identitiesOf(event);
    const isThere = ({ device: { address }, pin }: Deed): boolean =>
      places.some((one) => one.address === address && [undefined, one.pin].includes(pin));
    const own = this.#ofRecord(event).filter(
      (one) => isThere(one) && mayShowIn(event, one) && isAccepted(one) && !isOther(one, event),
    );
    if (event.kind !== 'changed') {
      const deed = onlyRun(own.filter((one) => isWholeOf(one, event)));
      if (deed === undefined) return [event];
      return [{ ...event, kind: isNew(event) ? 'added' : 'gone', author: author(deed) }];
    }
    const groups = grouped(
      event.fields,
      // An add after which no record was read has changed no field.
      (change) => onlyRun(own.filter((one) => one.record?.held && hasWritten(one, change))) ?? null,
    );
    return [...groups].map(([deed, fields]) => {
      return { ...event, fields, ...(deed && { author: author(deed) }) };
    });
  }

  /** The newest run that may be the author: it wrote there then, or to such a record, or where the same change shows. */
  #near(event: RecordEvent, alike: RecordEvent | undefined): Author | undefined {
    const places = this.#identitiesOf(event);
    const isElsewhere = ({ device }: Deed): boolean =>
      places.every(({ address }) => address !== device.address);
    const near =
      this.#here(event) ??
      this.#ofRecord(event).findLast(
        (deed) =>
          (mayShowIn(event, deed) && isLike(deed, event)) ||
          (isElsewhere(deed) && hasLeft(deed, event)),
      ) ??
      (alike && this.#here(alike));
    return near && { kind: 'perhaps', run: near.run };
  }

  #here(event: Event): Deed | undefined {
    const [{ address } = { address: '' }] = this.#identitiesOf(event);
    return this.#byAddress.get(address)?.findLast((deed) => mayBeBy(event, deed));
  }

  /** Finds deeds by key or id. */
  #ofRecord({ resource, key, record }: RecordEvent): readonly Deed[] {
    // The second record with the name `ann` has the key `ann#2`.
    const names = [key, key.replace(/#\d+$/, ''), ...idsOf(record.fields).map(canonicalId)];
    const found = [...new Set(names)].flatMap(
      (name) => this.#byRecord.get(recordName(resource, name)) ?? [],
    );
    return found.map(({ deed }) => deed);
  }
}

function recordNames({ record }: Deed): string[] {
  if (record === undefined) return [];
  // Any field may be the id of the record, or its name before or after the step.
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

function isNew({ kind }: RecordEvent): boolean {
  return kind === 'added' || kind === 'listed';
}

/** Whether an accepted step made or deleted the record of an event as it is. */
function isWholeOf(deed: Deed, event: RecordEvent): boolean {
  const { action, asked } = deed.record ?? {};
  if (!isNew(event)) return action === 'delete';
  const isSame = (one: FieldChange): boolean =>
    valueAt(asked, one.field) === undefined || hasWritten(deed, one);
  return action === 'add' && fieldsIn(event).every(isSame);
}

/** The fields that an event shows of its record. */
function fieldsIn(event: RecordEvent): readonly FieldChange[] {
  if (event.kind === 'changed') return event.fields;
  const { fields, digests } = event.record;
  return Object.entries(fields).map(([field, after]) => {
    return { field, after, isSecret: valueAt(digests, field) !== undefined };
  });
}

/** Whether a step wrote the value of a field after a change. A value that the device altered proves no author. */
function hasWritten({ record }: Deed, { field, after, isSecret }: FieldChange): boolean {
  const sent = valueAt(record?.asked, field);
  if (sent === undefined) return false;
  const [before, held] = [valueAt(record?.before, field), valueAt(record?.held, field)];
  // An equal digest before and after shows that the step did not change the secret.
  if (isSecret || isMask(sent)) {
    return !(isComparable(before) && before === (isMask(held) ? held : sent));
  }
  // The run that adds a record is the author of the values that the device made of it.
  const isOwn = record?.verdict === 'done' || record?.action === 'add';
  return isStored(sent, after) || (isOwn && isStored(held, after));
}

/** Whether a request, accepted or not, may have had the effect that an event shows. */
function isLike(deed: Deed, event: RecordEvent): boolean {
  const { action, asked, held } = deed.record ?? {};
  if (isOpen(deed)) return true;
  if (isOther(deed, event)) return false;
  // A list may leave out a record for any of its values.
  if (event.kind === 'gone' || event.kind === 'unlisted') return action !== 'add';
  return fieldsIn(event).some(({ field, after, isSecret }) => {
    const sent = valueAt(asked, field);
    const isSent = isSecret || isStored(sent, after) || isStored(valueAt(held, field), after);
    return sent !== undefined && isSent;
  });
}

/** Whether a device that shares its memory with the device of the request would show this event later. */
function hasLeft(deed: Deed, event: RecordEvent): boolean {
  if (!isSentBefore(event, deed) || isOther(deed, event)) return false;
  if (event.kind !== 'changed') return isWholeOf(deed, event);
  // The run that adds a record is the author of all its fields, also of those that the device set.
  const added = deed.record?.action === 'add' ? deed.record.held : undefined;
  return event.fields.some(
    (change) =>
      hasWritten(deed, change) || (added && isStored(valueAt(added, change.field), change.after)),
  );
}

/** Whether a step wrote to another record of the same name. */
function isOther({ record }: Deed, { id }: RecordEvent): boolean {
  const held = id && idText(record?.held, id.field);
  return held !== undefined && held !== canonicalId(id?.text ?? '');
}

/** Texts that are equal for the events of two devices with one memory: a record that came or went, a changed field. */
function contentsOf(event: RecordEvent): string[] {
  const { resource, key, id } = event;
  if (event.kind !== 'changed') return [jsonText([resource, key, id?.text ?? null, isNew(event)])];
  return event.fields.map(({ field, after = null }) => jsonText([resource, key, field, after]));
}

function mayBeAtOnce(event: RecordEvent, other: RecordEvent): boolean {
  const [[from, to], [begin, end]] = [spanOf(event), spanOf(other)];
  return event.device !== other.device && from <= end && begin <= to;
}

function author({ run, line }: Deed): Author {
  return { kind: 'run', run, line };
}

function isAccepted({ record }: Deed): boolean {
  return ['done', 'differs', 'no effect'].includes(record?.verdict ?? '');
}

/** Whether the effect of a request may still show: its verdict is not known, `unknown` or `no effect`. */
function isOpen({ record }: Pick<Deed, 'record'>): boolean {
  return [undefined, 'unknown', 'no effect'].includes(record?.verdict);
}

/** Whether the effect of a request may show between two readings for the first time. */
function mayShowIn(event: Event, deed: Deed): boolean {
  const [from] = spanOf(event);
  return isSentBefore(event, deed) && (isOpen(deed) || deed.endedAt >= from);
}

/** Whether a request was sent before the end of a reading. An open one may be from before the clock was set back. */
function isSentBefore(event: Event, deed: Deed): boolean {
  const [, to] = spanOf(event);
  return deed.sentAt <= (isOpen(deed) ? Math.max(to, event.latest ?? to) : to);
}

/** Whether a request was in progress between two readings, so that no earlier reading can show its effect. */
function mayBeBy(event: Event, deed: Deed): boolean {
  const { sentAt, endedAt } = deed;
  const [from, to] = spanOf(event);
  // Another process may have read between the request and its effect.
  const isAt = sentAt >= from || endedAt >= (isOpen(deed) ? from : to);
  return isAt && isSentBefore(event, deed);
}

export function deedsOf({ run: id, command: line, at, endedAt, plan, states }: Run): Deed[] {
  // The runs that continue a run count as one: earlier requests may show their effect later.
  const run = plan.of?.run ?? id;
  const hasSent = [...states.values()].flat().some((state) => sentTime(state) !== undefined);
  return plan.devices.flatMap(({ device, pin, steps, raw }) => {
    const unknown = { run, line, device, pin, sentAt: Date.parse(at) };
    const own = steps.flatMap((step, index): Deed[] => {
      const state = states.get(device.name)?.[index];
      if (state === undefined || state.kind === 'waiting') return [];
      const [sent, ended] = [sentTime(state), Date.parse(state.at)];
      // The record had changed since the plan, perhaps by a request to another device with the same memory.
      if (sent === undefined) return hasSent ? [{ ...unknown, endedAt: ended }] : [];
      const left = Date.parse(sent);
      const { verdict, record: held = step.before } = state.kind === 'ended' ? state.result : {};
      // The clock may have been set back meanwhile.
      const times = { sentAt: Math.min(left, ended), endedAt: Math.max(left, ended) };
      return [{ ...unknown, ...times, record: { ...step, held, verdict } }];
    });
    return raw === undefined ? own : [...own, { ...unknown, endedAt: Date.parse(endedAt ?? at) }];
  });
}
