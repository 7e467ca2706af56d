import { isSecretField } from '../device/sensitive-fields.ts';
import { MASK } from '../text/one-line.ts';
import { isSummary, managedFields, type Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  isTimeStamp,
  onlyFields,
  valueAt,
  valueText,
} from '../device/record.ts';
import type { Change } from './change.ts';
import { isEqual } from '../device/equality.ts';
import { isMasked } from './compare.ts';
import { restorable } from './data-loss.ts';
import { type Identity, identityOf, isPersonField, type Meant } from './identity.ts';
import type { Run, StepState } from './journal.ts';
import { identityLeft } from './lineage.ts';
import type { StepResult, Verdict } from './verdict.ts';
import { endsAccess, type Step } from './step.ts';

export interface DeviceUndo {
  readonly device: DeviceRef;
  readonly changes: readonly Change[];
}

/** What the undo of one device needs to know beside the run. */
export interface UndoContext {
  /** Ids and counters are not set back. */
  readonly profile: Profile;
  /** Whom a step means by now, from what it left of its record at that time (ms UTC). */
  readonly meantBy: (device: DeviceRef, step: Step, left: Identity, at: number) => Meant;
}

/**
 * The changes that undo a run, last step first: added records are deleted, changed fields are set back,
 * deleted records are added again. Pure: planned from the current state like any other change.
 */
export function undoOf(
  run: Run,
  contextOf: (device: DeviceRef) => UndoContext | undefined,
): readonly DeviceUndo[] {
  const effects = grouped(effectsOf(run), ({ device }) => device);
  return run.plan.devices.flatMap(({ device, total }) => {
    const context = contextOf(device);
    if (context === undefined) return [];
    const changes = (effects.get(device) ?? []).flatMap(({ step, state }) => {
      if (endsAccess(step.purpose)) return [];
      const isFirst = valueAt(total, step.resource) === 0;
      const {
        record,
        gone = [],
        verdict,
        isByReading,
      }: Partial<StepResult> = state.kind === 'sent' ? { verdict: 'unknown' } : state.result;
      const isConfirmed = verdict !== 'unknown' && isByReading !== true;
      const work = { device, step, at: Date.parse(state.at), isConfirmed, isFirst, ...context };
      // An effect that did not show so far may show by now. What an add has left is its record in any case.
      const isOpen = verdict === 'no effect' || (verdict === 'unknown' && step.action !== 'add');
      const own = undoOwn(work, isOpen ? undefined : record);
      return [...gone.map((lost) => addAgain(work, lost)), own];
    });
    return changes.length === 0 ? [] : [{ device, changes: changes.reverse() }];
  });
}

/** How many ended sessions and tokens of a run no undo opens again. */
export function endedAccess(run: Run): number {
  return effectsOf(run).filter(({ step }) => endsAccess(step.purpose)).length;
}

export function changedDevices(run: Run): readonly DeviceRef[] {
  const changed = new Set(effectsOf(run).map(({ device }) => device));
  return run.plan.devices.flatMap(({ device, raw }) =>
    raw !== undefined || changed.has(device) ? device : [],
  );
}

/** What the user typed and devsh sent, and nobody knows what it did. */
export function rawRequests({ plan }: Run): readonly string[] {
  return plan.devices.flatMap(({ raw }) => raw ?? []);
}

/** A step of a run that may have taken effect. */
interface Effect {
  readonly device: DeviceRef;
  readonly step: Step;
  readonly state: Exclude<StepState, { readonly kind: 'waiting' }>;
}

/**
 * A step with the verdict `differs` has changed something, too. One with `unknown`, or sent without a verdict, may have
 * changed something. A step with `no effect` may take effect later. The plan of the undo shows what is left to do.
 */
function effectsOf({ plan, states }: Run): Effect[] {
  return plan.devices.flatMap(({ device, steps }) =>
    steps.flatMap((step, index) => {
      const state = states.get(device.name)?.[index] ?? { kind: 'waiting' };
      if (state.kind === 'waiting') return [];
      const isOpen = state.kind === 'sent' || MAY_HAVE_TAKEN_EFFECT.includes(state.result.verdict);
      return isOpen ? [{ device, step, state }] : [];
    }),
  );
}

const MAY_HAVE_TAKEN_EFFECT: readonly Verdict[] = ['done', 'differs', 'unknown', 'no effect'];

/** Fields that the steps of a run may have erased, as far as these may have taken effect. */
export function mayHaveErased(run: Run, only?: ReadonlySet<string>): string[] {
  const meant = effectsOf(run).filter(({ device }) => only?.has(device.address) !== false);
  return [...new Set(meant.flatMap(({ step: { effects } }) => effects.mayErase ?? []))];
}

export function hadNoEffect(run: Run): boolean {
  return effectsOf(run).every(
    ({ state }) => state.kind === 'ended' && state.result.verdict === 'no effect',
  );
}

interface UndoWork extends UndoContext {
  readonly device: DeviceRef;
  readonly step: Step;
  /** When it was read back, or at least sent; ms UTC. */
  readonly at: number;
  /** A response said that the step was carried out. */
  readonly isConfirmed: boolean;
  /** Before the run the device had no such record. */
  readonly isFirst: boolean;
}

/** The change that undoes a step, from the record that was read back, if any. */
function undoOwn(work: UndoWork, record: DeviceRecord | undefined): Change {
  const { device, step, at, isConfirmed, isFirst, profile, meantBy } = work;
  const { resource, key, keyField } = step;
  const before = step.before ?? {};
  const left = identityLeft(profile, step, record ?? { ...before, ...step.after });
  const meant = meantBy(device, step, left.key === '' ? { ...left, key } : left, at);
  const setBack = (): Change & { readonly action: 'set' } => {
    // All changes of the step, requested or not. Timestamps change by themselves.
    const held = record ?? step.after ?? {};
    const own = [...profile.idFields, ...managedFields(profile, resource)];
    const changed = Object.keys(before).filter(
      (field) =>
        Object.hasOwn(step.asked, field) ||
        (!own.includes(field) &&
          !isTimeStamp(valueAt(before, field)) &&
          !isMasked(before, field) &&
          !isEqual(valueAt(before, field), valueAt(held, field))),
    );
    const { fields, lost } = restorable(profile, resource, onlyFields(before, changed));
    // What the record did not have before the step.
    const removes = Object.keys(record ?? {}).filter(
      (field) =>
        !Object.hasOwn(before, field) &&
        (Object.hasOwn(step.asked, field) || !isSummary(profile, resource)) &&
        !own.includes(field) &&
        !isSecretField(field) &&
        !isTimeStamp(valueAt(held, field)),
    );
    // These are secrets, fields that were hidden before, and fields that the request erased by omission.
    const unknown = [
      ...Object.keys(step.asked).filter(
        (field) =>
          isSecretField(field) || (!Object.hasOwn(before, field) && !removes.includes(field)),
      ),
      ...(step.effects.erases ?? []).filter((field) => !Object.hasOwn(fields, field)),
      ...Object.keys(before).filter(
        (field) => isMasked(before, field) && valueText(valueAt(held, field)) === '',
      ),
    ];
    return {
      action: 'set',
      resource,
      target: { kind: 'key', key: meant.key },
      meant,
      fields,
      removes,
      expected: onlyFields(held, [...Object.keys(fields), ...removes]),
      isExact: true,
      lost: { ...lost, ...Object.fromEntries(unknown.map((field) => [field, MASK])) },
    };
  };
  switch (step.action) {
    case 'add':
      return {
        action: 'delete',
        resource,
        target: { kind: 'key', key: meant.key },
        // Somebody else may have made it: no response said that this run did.
        meant: isConfirmed
          ? meant
          : { ...meant, doubt: meant.doubt ?? { code: 'not-as-meant', is: 'unconfirmed' } },
        // The gate compares key, id and person.
        expected: withoutIdentity(profile, keyField, record ?? step.after ?? {}),
        purpose: { kind: 'undo', isFirst },
      };
    case 'set':
      return setBack();
    case 'delete': {
      // If the record still exists, its changes are set back.
      const back = record === undefined ? undefined : setBack();
      return back !== undefined && Object.keys(back.fields).length + (back.removes ?? []).length > 0
        ? back
        : { ...addAgain(work, before), takes: step.effects.takes };
    }
  }
}

function addAgain(
  { device, step, profile, meantBy }: UndoWork,
  record: DeviceRecord,
): Change & { readonly action: 'add' } {
  const { resource, keyField } = step;
  const { fields, lost } = restorable(profile, resource, record);
  // It is deleted: no reading has to show its id.
  const meant = meantBy(device, step, identityOf(profile, keyField, record), Infinity);
  return { action: 'add', resource, fields, isExact: true, lost, meant };
}

function withoutIdentity(profile: Profile, keyField: string, record: DeviceRecord): DeviceRecord {
  const fields = Object.entries(record).filter(
    ([field]) => field !== keyField && !profile.idFields.includes(field) && !isPersonField(field),
  );
  return Object.fromEntries(fields);
}
