import { type DeviceRecord, type DeviceRef, valueText } from '../device/record.ts';
import { MASK } from '../text/one-line.ts';
import { parseLine } from '../text/words.ts';
import { type Change, recordsWhere } from './change.ts';
import { isStored } from '../device/equality.ts';
import type { Drop, Run, RunHead, StepState } from './journal.ts';
import { causeText, type DevicePlan, isOwed, isOwing, type Plan, type Step } from './plan.ts';
import { type Action, isGood, type StepResult } from './verdict.ts';

/** A change that a run intended for a device and did not make, because nothing could be sent to the device. */
export interface Debt {
  readonly run: RunTrace;
  readonly device: DeviceRef;
  readonly resource: string;
  readonly action: Action;
  /** The natural key: a filter is resolved when its run is planned. */
  readonly key: string;
  /** Plans the change; absent if it can only be computed by the line of the run (`import`). */
  readonly change?: Change | undefined;
  /** Why nothing could be sent: "unreachable", "refused the login". */
  readonly cause: string;
}

/** `settled`, `superseded` and so on have a reason; the outcome of an `unconfirmed` one only its run knows. */
export type DebtState =
  | { readonly kind: 'open' }
  | { readonly kind: 'unconfirmed'; readonly run: string }
  | { readonly kind: 'closed'; readonly why: string };

/** The fields whose values the journal masks: they must be given again. */
export function maskedFields(change: Change): string[] {
  // The secret of a rotation is kept.
  if (change.action === 'delete' || (change.action === 'set' && change.rotation)) return [];
  return Object.entries(change.fields).flatMap(([field, value]) =>
    JSON.stringify(value ?? null).includes(MASK) ? [field] : [],
  );
}

/** What a run wanted of one record, whether it happened or not. */
interface Intent extends Pick<Debt, 'resource' | 'action' | 'key' | 'change'> {
  readonly cause?: string | undefined;
  readonly state: 'good' | 'owed' | 'unconfirmed' | 'other';
  /** The ids of the record, if the device was read: a debt may name it by its id. */
  readonly ids?: readonly string[];
}

/** What became of a run on one device. */
interface DeviceTrace {
  readonly device: DeviceRef;
  readonly intents: readonly Intent[];
  /** Whether the run was planned there, or is owed there as a whole. */
  readonly isTaken: boolean;
  /** Whether the run stopped before it had tried everything. */
  readonly isLeft: boolean;
}

/** What a run left to do, and what it did about what earlier runs left. */
export interface RunTrace extends Pick<RunHead, 'run' | 'at' | 'command' | 'reason'> {
  readonly plan: Pick<Plan, 'settles' | 'undoes'>;
  readonly drops: readonly Drop[];
  readonly devices: readonly DeviceTrace[];
}

export function traceOf(run: Run): RunTrace {
  const { at, command, reason, drops = [], plan, states, stopReason } = run;
  const { settles, undoes } = plan;
  const devices = plan.devices.map((one): DeviceTrace => {
    const { device, steps, error } = one;
    const isWaiting = (index: number): boolean =>
      (states.get(device.name)?.[index]?.kind ?? 'waiting') === 'waiting';
    return {
      device,
      intents: intentsOn(run, one),
      isTaken: error === undefined || isOwing(one),
      isLeft: stopReason !== undefined && steps.some((_step, index) => isWaiting(index)),
    };
  });
  return { run: run.run, at, command, reason, plan: { settles, undoes }, drops, devices };
}

/** All debts that the runs left, the oldest first, with what became of each. A run without a whole plan has sent nothing: leave it out. */
export function debtsOf(
  runs: readonly RunTrace[],
  isKnown: (device: DeviceRef) => boolean,
): readonly { readonly debt: Debt; readonly state: DebtState }[] {
  const all = runs.toSorted((a, b) => (a.run < b.run ? -1 : a.run > b.run ? 1 : 0));
  const of = ({ devices }: RunTrace, device: DeviceRef): readonly Intent[] =>
    devices.flatMap((one) => (isSameDevice(one.device, device) ? one.intents : []));
  const undoneBy = (run: RunTrace, device: DeviceRef): RunTrace | undefined =>
    all.find(
      (one) =>
        one.plan.undoes?.run === run.run &&
        one.plan.undoes.on.includes(device.address) &&
        undoneBy(one, device) === undefined,
    );
  const stateOf = (debt: Debt): DebtState => {
    const { run, device } = debt;
    const drop = run.drops.find(({ on }) => on.includes(device.address));
    if (drop !== undefined) return { kind: 'closed', why: `dropped by ${drop.by}: ${drop.reason}` };
    let unconfirmed: string | undefined;
    for (const other of all) {
      if (other.plan.settles?.includes(run.run) !== true) continue;
      for (const intent of of(other, device)) {
        if (!isSameRecord(intent, debt) || intent.action !== debt.action) continue;
        if (intent.state === 'good') return { kind: 'closed', why: `settled by run ${other.run}` };
        if (intent.state === 'unconfirmed') unconfirmed = other.run;
      }
    }
    const undo = undoneBy(run, device);
    if (undo !== undefined) return { kind: 'closed', why: `undone by run ${undo.run}` };
    for (const later of all) {
      // A run that settles has the place of the run whose debt it settles.
      if (later.run <= run.run || later.plan.settles || undoneBy(later, device)) continue;
      if (debt.change === undefined && repeats(later, debt)) {
        return { kind: 'closed', why: `superseded by run ${later.run}` };
      }
      for (const intent of of(later, device).filter((one) => isSameRecord(one, debt))) {
        if (supersedes(intent, debt)) {
          return { kind: 'closed', why: `superseded by run ${later.run}` };
        }
        if (intent.state === 'unconfirmed') unconfirmed = later.run;
      }
    }
    if (!isKnown(device)) return { kind: 'closed', why: 'the device left the inventory' };
    return unconfirmed === undefined ? { kind: 'open' } : { kind: 'unconfirmed', run: unconfirmed };
  };
  return all.flatMap((run) => owedBy(run).map((debt) => ({ debt, state: stateOf(debt) })));
}

/** The debts that a run left, whatever became of them. A run that settles leaves the debts where they are. */
export function owedBy(run: RunTrace): readonly Debt[] {
  if (run.plan.settles !== undefined) return [];
  return run.devices.flatMap(({ device, intents }) =>
    intents.flatMap(({ state, cause = '', ...intent }) =>
      state === 'owed' ? [{ run, device, cause, ...intent }] : [],
    ),
  );
}

/** What a run did not reach, because it stopped early: not owed, `resume` continues it. */
export interface StoppedRun {
  readonly run: RunTrace;
  readonly devices: readonly DeviceRef[];
}

/** The runs that stopped early, unless they were undone; without the devices that were dropped. */
export function stoppedRuns(runs: readonly RunTrace[]): readonly StoppedRun[] {
  return runs.flatMap((run) => {
    if (runs.some(({ plan }) => plan.undoes?.run === run.run)) return [];
    const devices = run.devices.flatMap(({ device, isLeft }) => {
      const isDropped = run.drops.some(({ on }) => on.includes(device.address));
      return isLeft && !isDropped ? [device] : [];
    });
    return devices.length === 0 ? [] : [{ run, devices }];
  });
}

/**
 * Changes with the keys that their filters matched on the devices that were read, so that they never match other
 * records later; empty if a filter matched none.
 */
export function withKeys(
  devices: readonly DevicePlan[],
  changes: readonly Change[] = [],
): readonly Change[] {
  const lists = changes.map((change) =>
    change.action === 'add' || change.target.kind === 'key'
      ? [change]
      : explicit(devices, change).map((one) => one.change),
  );
  return lists.some(({ length }) => length === 0) ? [] : lists.flat();
}

/** The names of the devices, each once. */
export function namesOf(debts: readonly Debt[]): readonly string[] {
  return [...new Set(debts.map(({ device }) => device.name))];
}

/** The filters of devices that were not reached and that match no record of the devices that were read: they leave no debt. */
export function unresolvedFilters(devices: readonly DevicePlan[]): readonly {
  readonly device: DeviceRef;
  readonly filter: string;
}[] {
  return devices.filter(isOwing).flatMap(({ device, changes = [] }) =>
    changes.flatMap((change) => {
      if (change.action === 'add' || change.target.kind === 'key') return [];
      const isResolved = recordsOf(devices, change).length > 0;
      return isResolved ? [] : [{ device, filter: change.target.filter }];
    }),
  );
}

function intentsOn(run: Run, plan: DevicePlan): readonly Intent[] {
  const { device, steps, settled, error, changes = [], wanted = [] } = plan;
  if (error !== undefined) {
    const state = isOwing(plan) ? 'owed' : 'other';
    const cause = causeText(error);
    const planned = changes.flatMap((change) => explicit(run.plan.devices, change));
    const intended = changes.length > 0 ? planned : wanted;
    return intended.map((one) => ({ ...one, state, cause }));
  }
  const states = run.states.get(device.name) ?? [];
  return [
    ...settled.map((result): Intent => {
      const { resource, action, key, record } = result;
      const state = isGood(result) ? 'good' : 'other';
      return { resource, action, key, state, ids: idsOf(record) };
    }),
    ...steps.map((step, index): Intent => {
      const { resource, action, key } = step;
      const state = states[index];
      const error = state?.kind === 'ended' ? state.result.error : undefined;
      const cause = error && causeText(error);
      const planned = { resource, action, key, change: changeOf(step), ids: idsOf(step.before) };
      return { ...planned, state: stepState(state), cause };
    }),
  ];
}

function stepState(state: StepState | undefined): Intent['state'] {
  if (state?.kind === 'sent') return 'unconfirmed';
  if (state?.kind !== 'ended') return 'other';
  if (state.result.verdict === 'unknown') return 'unconfirmed';
  if (isOwed(state.result)) return 'owed';
  return isGood(state.result) ? 'good' : 'other';
}

/** A change with its explicit keys: those of the records that the filter matched on the devices that were read. */
function explicit(
  devices: readonly DevicePlan[],
  change: Change,
): (Pick<Debt, 'resource' | 'action' | 'key'> & { readonly change: Change })[] {
  const { resource, action } = change;
  if (action === 'add') {
    const own = change.fields['username'] ?? change.fields['name'];
    const peer = peersOf(devices, change).find(({ asked }) => isSameRow(asked, change.fields));
    return [{ resource, action, key: peer?.key ?? valueText(own), change }];
  }
  const keys =
    change.target.kind === 'key'
      ? [change.target.key]
      : recordsOf(devices, change).map(([key]) => key);
  return [...new Set(keys)].map((key) => {
    const before = peersOf(devices, change).flatMap((step) =>
      step.key === key ? [step.before ?? {}] : [],
    );
    const target = { kind: 'key' as const, key };
    const expected = change.expected ?? agreedOn(before, askedBy(change));
    return { resource, action, key, change: { ...change, target, expected } };
  });
}

function peersOf(devices: readonly DevicePlan[], { resource, action }: Change): readonly Step[] {
  return devices.flatMap(({ steps }) =>
    steps.filter((step) => step.resource === resource && step.action === action),
  );
}

/** The records, with their keys, that the filter of a change matched where the devices were read. */
function recordsOf(
  devices: readonly DevicePlan[],
  change: Change,
): readonly (readonly [string, DeviceRecord])[] {
  if (change.action === 'add' || change.target.kind === 'key') return [];
  const { filter } = change.target;
  return devices.flatMap(({ device, steps, settled }) =>
    [...steps.map(({ before, ...step }) => ({ ...step, record: before })), ...settled].flatMap(
      ({ resource, action, key, record }) => {
        if (record === undefined || resource !== change.resource || action !== change.action)
          return [];
        return recordsWhere(filter, [record], device.name).map((one) => [key, one] as const);
      },
    ),
  );
}

/** Fields that say whose account it is. Ids and counters differ between devices by nature. */
const IDENTITY = /^(?:e?-?mail\w*|(?:first|last|full|display|real|sur)_?name|phone\w*)$/i;

/** Who it is, and the values to overwrite, as far as all images agree: another value on the device is drift. */
function agreedOn(images: readonly DeviceRecord[], asked: DeviceRecord): DeviceRecord | undefined {
  const [first, ...others] = images;
  if (first === undefined) return undefined;
  const agreed = Object.entries(first).filter(
    ([field, value]) =>
      (IDENTITY.test(field) || Object.hasOwn(asked, field)) &&
      others.every((other) => isStored(value, other[field])),
  );
  return agreed.length === 0 ? undefined : Object.fromEntries(agreed);
}

/** The change of a step that could not be sent: the device must still have what was planned from. */
function changeOf(step: Step): Change {
  const { resource, action, asked: fields, before, key, rotation } = step;
  if (action === 'add') return { action, resource, fields, isExact: true };
  const target = { kind: 'key' as const, key };
  const expected = before && agreedOn([before], action === 'set' ? fields : {});
  return action === 'delete'
    ? { action, resource, target, expected }
    : { action, resource, target, fields, expected, isExact: true, rotation };
}

function askedBy(change: Change): DeviceRecord {
  return change.action === 'set' ? change.fields : {};
}

/** Without what `--allow drift` (values to overwrite) or a mark (whose account it is) makes unimportant. */
export function permitted(change: Change, isDriftAllowed: boolean, isMarked: boolean): Change {
  if (change.action === 'add' || change.expected === undefined) return change;
  const kept = Object.entries(change.expected).filter(([field]) =>
    Object.hasOwn(askedBy(change), field) ? !isDriftAllowed : !isMarked,
  );
  return { ...change, expected: kept.length === 0 ? undefined : Object.fromEntries(kept) };
}

function isSameDevice(a: DeviceRef, b: DeviceRef): boolean {
  return a.address === b.address || a.name === b.name;
}

export function isAbout({ record, ...result }: StepResult, debt: Debt): boolean {
  return isSameRecord({ ...result, ids: idsOf(record) }, debt);
}

function isSameRecord(
  { resource, key, ids = [] }: Pick<Intent, 'resource' | 'key' | 'ids'>,
  debt: Debt,
): boolean {
  return resource === debt.resource && [key, ...ids].includes(debt.key);
}

function idsOf(record: DeviceRecord = {}): string[] {
  return Object.entries(record).flatMap(([field, value]) =>
    /^_?(?:(?:uu|gu)?id|pk)$/i.test(field) ? [valueText(value)] : [],
  );
}

function isSameRow(asked: DeviceRecord, fields: DeviceRecord): boolean {
  return Object.entries(fields).every(([field, value]) => isStored(value, asked[field]));
}

/** Whether a later run of the same line was planned on the device, or owes the same there again. */
function repeats({ command, devices }: RunTrace, { run, device }: Debt): boolean {
  const again = devices.find((one) => isSameDevice(one.device, device));
  return again?.isTaken === true && withoutDevices(command) === withoutDevices(run.command);
}

/** A line without what may differ when it is repeated for one device. */
function withoutDevices(line: string): string {
  const texts = parseLine(line).words.map(({ text }) => text);
  return texts
    .filter((text, at) => !/^(?:--on(?:=.*)?|--yes)$/s.test(text) && texts[at - 1] !== '--on')
    .join('\n');
}

/** Whether a later intent for the same record replaces a debt. */
function supersedes({ action, state, change }: Intent, debt: Debt): boolean {
  const counts = state === 'good' || state === 'owed';
  switch (action) {
    case 'delete':
      // After "delete bob" nothing recreates bob, even if the delete failed.
      return counts || (debt.action !== 'delete' && state !== 'unconfirmed');
    case 'add':
      return state === 'good' || (state === 'owed' && debt.action === 'add');
    case 'set': {
      if (!counts || debt.action !== 'set' || debt.change?.action !== 'set') return false;
      const { fields: written = {}, rotation }: Partial<typeof debt.change> =
        change?.action === 'set' ? change : {};
      // The field of the secret differs between devices.
      if (debt.change.rotation !== undefined) return rotation?.kind === debt.change.rotation.kind;
      return Object.keys(debt.change.fields).every((field) => Object.hasOwn(written, field));
    }
  }
}
