import { isDeepStrictEqual } from 'node:util';
import { isStored } from '../device/equality.ts';
import { type DeviceRecord, type DeviceRef, valueText } from '../device/record.ts';
import { holdsMask } from '../device/sensitive-fields.ts';
import { type Note, textOf } from '../output/sentences.ts';
import { parseLine } from '../text/words.ts';
import { type Change, changeOf, recordsWhere } from './change.ts';
import { idsOf, isPersonField } from './identity.ts';
import { type Drop, isLockout, type Run, type RunHead, type StepState } from './journal.ts';
import { type DevicePlan, isOwing, isStopped, type Plan } from './plan.ts';
import { type About, isAbout, isGood, type StepResult } from './verdict.ts';
import type { Step } from './step.ts';
import { causeText } from '../fleet/failure-cause.ts';

/** What a run still has to do to one record of one device. A filter is resolved when its run is planned. */
export interface Pending extends About {
  readonly run: RunTrace;
  readonly device: DeviceRef;
  /** The place of its step in the plan of the run; absent if it is planned when the device is read. */
  readonly index?: number | undefined;
  /** What it would do, secrets masked; absent if only the line of the run can say it (`import`). */
  readonly change?: Change | undefined;
  /** Why it is not done yet: `not reached`, `not sent`, `no answer`, `not read back`. */
  readonly cause: string;
  /** A request was sent, and its outcome is not known. */
  readonly isSent?: true | undefined;
}

export interface PendingWork {
  readonly pending: Pending;
  /** Why nothing of it is left to do; undefined while it is open. */
  readonly closed: Note | undefined;
}

/** What a run wanted of one record, and how far it came. */
interface Intent extends About, Pick<Pending, 'index' | 'change' | 'isSent'> {
  /** `failed`: only `resume RUN` tries it again. */
  readonly state: 'good' | 'pending' | 'failed' | 'other';
  readonly cause?: string | undefined;
  /** The ids of the record, if the device was read. */
  readonly ids?: readonly string[];
  /** The natural key that the step left, if it has changed it. */
  readonly renamedTo?: string | undefined;
}

/** What became of a run on one device. */
interface DeviceTrace extends Pick<DevicePlan, 'device' | 'pin' | 'takesOver'> {
  readonly intents: readonly Intent[];
  /** Whether the run was planned there, or is pending there as a whole. */
  readonly isTaken: boolean;
}

/** What a run wanted, and what it left to do. */
export interface RunTrace extends Pick<RunHead, 'run' | 'at' | 'command' | 'reason'> {
  readonly plan: Pick<Plan, 'input' | 'of' | 'undoes'>;
  readonly drops: readonly Drop[];
  /** It has neither ended nor stopped: it may be running. */
  readonly isOpen: boolean;
  readonly devices: readonly DeviceTrace[];
}

export function traceOf(run: Run): RunTrace {
  const { at, command, reason, drops = [], plan, stopReason, endedAt } = run;
  const { input, of, undoes } = plan;
  const devices = plan.devices.map((one): DeviceTrace => {
    const { device, pin, error, takesOver } = one;
    const isTaken = error === undefined || isOwing(one);
    return { device, pin, takesOver, intents: intentsOn(run, one), isTaken };
  });
  const isOpen = stopReason === undefined && endedAt === undefined;
  return {
    run: run.run,
    at,
    command,
    reason,
    plan: { input, of, undoes },
    drops,
    isOpen,
    devices,
  };
}

/** Everything that runs left to do, in their order, and what became of it. */
export function pendingOf(
  runs: readonly RunTrace[],
  isKnown: (device: DeviceRef) => boolean,
): readonly PendingWork[] {
  // A run that continues another one has the place of the first.
  const placeOf = (run: RunTrace): string => `${firstOf(run)} ${run.run}`;
  const all = runs.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  const list = all.flatMap((run) => pendingIn(run));
  return withLater(list, all, isKnown);
}

/**
 * What one run left to do, whatever later runs have done about it. `failed`: what a device refused, and what was not
 * tried because of that; it is pending only if the user names the run.
 */
export function pendingIn(
  run: RunTrace,
  state: 'pending' | 'failed' = 'pending',
): readonly Pending[] {
  return run.devices.flatMap(({ device, intents }) =>
    intents.flatMap((one): Pending | [] => {
      const { cause = '', resource, action, key, index, change, isSent } = one;
      if (one.state !== state) return [];
      return { run, device, resource, action, key, index, change, cause, isSent };
    }),
  );
}

/** Adds why these runs closed it. It does not matter whether the devices are still in the inventory. */
export function withLater(
  list: readonly Pending[],
  runs: readonly RunTrace[],
  isKnown: (device: DeviceRef) => boolean = () => true,
): readonly PendingWork[] {
  return list.map((pending) => ({ pending, closed: closedBy(pending, runs, isKnown) }));
}

/** The newest of these runs that has deleted the record of a step on its device, or still has to. */
export function deletedBy(
  later: readonly RunTrace[],
  plan: DevicePlan,
  { resource, key }: Step,
): string | undefined {
  const isDelete = (intent: Intent): boolean =>
    (intent.state === 'good' || intent.state === 'pending') &&
    isAbout(intent, { resource, action: 'delete', key });
  // An undo restores the state that the plan was made from.
  return later.findLast(
    ({ devices, plan: { undoes } }) =>
      undoes === undefined &&
      devices.some((one) => isSameDevice(one, plan) && one.intents.some(isDelete)),
  )?.run;
}

function closedBy(
  { run, device, ...about }: Pending,
  all: readonly RunTrace[],
  isKnown: (device: DeviceRef) => boolean,
): Note | undefined {
  const drop = run.drops.find(({ on }) => on.includes(device.address));
  if (drop !== undefined) return { code: 'unfinished', is: 'dropped', ...drop };
  const own = run.devices.find((one) => one.device.address === device.address);
  // An undo that wrote nothing only cancelled the work: undoing it makes the work pending again.
  const hasWritten = ({ devices }: RunTrace): boolean =>
    devices.some(
      (one) =>
        one.device.address === device.address &&
        one.intents.some(({ resource, key }) => resource === about.resource && key === about.key),
    );
  const undoneBy = (one: RunTrace): RunTrace | undefined =>
    all.find(
      (other) =>
        other.plan.undoes?.run === firstOf(one) &&
        other.plan.undoes.on.includes(device.address) &&
        (hasWritten(other) || undoneBy(other) === undefined),
    );
  const undo = undoneBy(run);
  if (undo !== undefined) return { code: 'unfinished', is: 'undone', run: undo.run };
  // A replacement counts even if it was undone, because an undo revives nothing older.
  const record = new FollowedRecord(own, about);
  for (const later of all) {
    const replaced = { code: 'unfinished', is: 'replaced', run: later.run } as const;
    const next = later.devices.find((one) => one.device.name === device.name);
    const isNext = later.run > run.run && later.plan.of?.run === firstOf(run);
    if (isNext && next?.takesOver?.some((one) => isAbout(one, about)) === true) {
      return { code: 'unfinished', is: 'continued', run: later.run };
    }
    if (firstOf(later) <= firstOf(run)) continue;
    const here = later.devices.find((one) => own !== undefined && isSameDevice(one, own));
    if (here === undefined) continue;
    if (about.change === undefined && here.isTaken && isSameLine(later, run)) return replaced;
    for (const intent of here.intents.filter((one) => record.isMeantBy(one))) {
      if (replaces(later, intent, about)) return replaced;
      record.follow(intent);
    }
  }
  return isKnown(device) ? undefined : { code: 'unfinished', is: 'unlisted' };
}

/** The run itself, or the first of those that it continues. */
export function firstOf({ run, plan }: { run: string; plan: Pick<Plan, 'of'> }): string {
  return plan.of?.run ?? run;
}

/** Follows one record through later runs by its ids and its names. */
class FollowedRecord {
  readonly #resource: string;
  readonly #ids: Set<string>;
  #key: string;

  constructor(
    trace: DeviceTrace | undefined,
    { resource, key, index }: About & Pick<Intent, 'index'>,
  ) {
    this.#resource = resource;
    this.#key = key;
    const own = trace?.intents.find((one) => index !== undefined && one.index === index);
    this.#ids = new Set(own?.ids);
  }

  isMeantBy({ resource, key, ids = [] }: Intent): boolean {
    if (resource !== this.#resource) return false;
    if (ids.length > 0 && this.#ids.size > 0) return ids.some((id) => this.#ids.has(id));
    return key === this.#key || ids.includes(this.#key);
  }

  follow({ ids = [], key, renamedTo }: Intent): void {
    for (const id of ids) this.#ids.add(id);
    this.#key = renamedTo ?? key;
  }
}

/**
 * Whether a later intent for the same record replaces an older one. It counts if it is done, was so already, or is
 * pending itself: what failed or drifted replaces nothing.
 */
function replaces(
  later: RunTrace,
  { action, state, change }: Intent,
  older: Pick<Pending, 'action' | 'change'>,
): boolean {
  if (state !== 'good' && state !== 'pending') return false;
  switch (action) {
    case 'delete':
      return true;
    case 'add':
      return state === 'good' || older.action === 'add';
    case 'set': {
      if (isLockout(later)) return older.action !== 'delete';
      if (older.action !== 'set' || older.change?.action !== 'set') return false;
      const { fields: written = {}, rotation }: Partial<typeof older.change> =
        change?.action === 'set' ? change : {};
      // The field of the secret differs between devices.
      if (older.change.rotation) return rotation?.kind === older.change.rotation.kind;
      return Object.keys(older.change.fields).every((field) => Object.hasOwn(written, field));
    }
  }
}

/** Compares the pins, and the names and addresses of devices without a pin. */
function isSameDevice(a: Pick<DevicePlan, 'device' | 'pin'>, b: typeof a): boolean {
  if (a.pin !== undefined && b.pin !== undefined && a.pin !== b.pin) return false;
  const isSameName = a.device.name === b.device.name;
  const isSameAddress = a.device.address === b.device.address;
  return a.pin !== undefined && a.pin === b.pin
    ? isSameName || isSameAddress
    : isSameName && isSameAddress;
}

/** Whether two runs have the same line, apart from devices, and the same input file. */
function isSameLine(one: RunTrace, other: RunTrace): boolean {
  const words = withoutDevices(one.command);
  return (
    one.plan.input === other.plan.input && isDeepStrictEqual(words, withoutDevices(other.command))
  );
}

/** The words of a line without `--on` and `--yes`, which may differ when it is repeated for one device. */
function withoutDevices(line: string): readonly string[] {
  const texts = parseLine(line).words.map(({ text }) => text);
  return texts.filter(
    (text, at) => !/^(?:--on(?:=.*)?|--yes)$/s.test(text) && texts[at - 1] !== '--on',
  );
}

function intentsOn(run: Run, plan: DevicePlan): readonly Intent[] {
  const { device, steps, settled, error, changes = [], wanted = [] } = plan;
  const causeOf = (about: About): string =>
    error !== undefined
      ? causeText(error)
      : stopText(settled.find((one) => one.verdict === 'drift' && isAbout(one, about)));
  const state = error === undefined || isOwing(plan) ? 'pending' : 'failed';
  const planned = changes.flatMap((change) => explicitChanges(run.plan.devices, change));
  const intended: readonly (About & Pick<Intent, 'change'>)[] =
    error !== undefined && changes.length === 0 ? wanted : planned;
  const states = run.states.get(device.name) ?? [];
  return [
    ...intended.map(({ resource, action, key, change }): Intent => {
      const about = { resource, action, key };
      const isSent = change?.sent === undefined ? undefined : true;
      return { ...about, change, state, isSent, cause: causeOf(about) };
    }),
    // A change that was stopped is in the list above.
    ...settled
      .filter((one) => !(isStopped(one) && intended.some((about) => isAbout(one, about))))
      .map(intentOfResult),
    ...steps.map((step, index): Intent => {
      const state = states[index];
      const intent = intentOfStep(run, step, index, state);
      // A step that drifts again after it was continued stays pending, like one that drifts when it is planned.
      const isStill = run.plan.of !== undefined && state?.kind === 'ended';
      return isStill && state.result.verdict === 'drift'
        ? { ...intent, state: 'pending', cause: stopText(state.result) }
        : intent;
    }),
  ];
}

/** Why nothing was sent: values or its record have changed, or nobody answered whose it is. */
function stopText(drifted: StepResult | undefined): string {
  return drifted?.verdict === 'drift' ? 'drift' : causeNamed('question');
}

function causeNamed(is: 'question' | 'waiting' | 'not-read' | 'not-in-effect'): string {
  return textOf({ code: 'unfinished', is });
}

function intentOfResult(result: StepResult): Intent {
  const { resource, action, key, record, asked } = result;
  const target = { kind: 'key', key } as const;
  const change = asked && ({ action: 'set', resource, target, fields: asked } as const);
  const state = isGood(result) ? 'good' : 'other';
  return { resource, action, key, change, state, ids: idsOf(record) };
}

function intentOfStep(
  { stopReason }: Run,
  step: Step,
  index: number,
  state: StepState | undefined,
): Intent {
  const { resource, action, key, before, after, keyField } = step;
  const left = valueText(after?.[keyField]);
  const intent = {
    ...{ resource, action, key, index, change: changeOf(step), ids: idsOf(before) },
    renamedTo: left === '' || left === key ? undefined : left,
  };
  const open = { ...intent, state: 'pending' } as const;
  if (state === undefined || state.kind === 'waiting') {
    return { ...open, cause: stopReason ?? causeNamed('waiting') };
  }
  if (state.kind === 'sent') return { ...open, cause: NO_ANSWER, isSent: true };
  const { result } = state;
  if (result.verdict === 'unknown') {
    return { ...open, cause: result.error ? NO_ANSWER : causeNamed('not-read'), isSent: true };
  }
  // An undo that adds a record again cannot restore its id, but the record is there.
  if (isGood(result) || (action === 'add' && result.verdict === 'differs')) {
    const ids = idsOf(before ?? result.record);
    return { ...intent, ids, state: 'good' };
  }
  if (step.purpose?.kind === 'rotate' && result.verdict === 'no effect') {
    return { ...open, cause: causeNamed('not-in-effect') };
  }
  const cause = result.error && causeText(result.error);
  if (isRepeatable(result)) return { ...open, cause };
  const mayTryAgain = ['failed', 'no effect', 'skipped'].includes(result.verdict);
  return { ...intent, state: mayTryAgain ? 'failed' : 'other', cause };
}

const NO_ANSWER = 'no answer';

/** Whether devsh sent nothing, or the failure says nothing about the request. */
function isRepeatable({ verdict, error }: StepResult): boolean {
  return verdict === 'failed' && (isOwing({ error }) || error?.code === 'protocol');
}

/** The fields whose values the journal masks: they must be given again. */
export function maskedFields(change: Change): string[] {
  // The secret of a rotation is kept.
  if (change.action === 'delete' || (change.action === 'set' && change.rotation)) return [];
  return Object.keys(change.fields).filter((field) => holdsMask(change.fields[field] ?? null));
}

/** A change of a device that was not read, with the key of its record. */
export interface ExplicitChange extends About {
  readonly change: Change;
  /** The filter that selected the key on other devices. */
  readonly filter?: string | undefined;
}

/**
 * Splits a change of a device that was not read into one for each key. A filter gives the keys that it matched on the
 * devices that were read, so that it never selects others later. `expected` has the values on which these devices
 * agree: those of the person, and those to overwrite.
 */
export function explicitChanges(
  devices: readonly DevicePlan[],
  change: Change,
): readonly ExplicitChange[] {
  const { resource, action } = change;
  if (action === 'add') {
    const own = change.fields['username'] ?? change.fields['name'];
    const peer = peersOf(devices, change).find(({ asked }) =>
      Object.entries(change.fields).every(([field, value]) => isStored(value, asked[field])),
    );
    return [{ resource, action, key: peer?.key ?? valueText(own), change }];
  }
  const filter = change.target.kind === 'where' ? change.target.filter : change.meant?.filter;
  const keys =
    filter === undefined || change.target.kind === 'key'
      ? [change.target.kind === 'key' ? change.target.key : '']
      : keysOf(devices, change, filter);
  return [...new Set(keys)].map((key) => {
    const images = peersOf(devices, change).flatMap((step) =>
      step.key === key ? [step.before ?? {}] : [],
    );
    const target = change.target.kind === 'key' ? change.target : { kind: 'key' as const, key };
    const expected =
      change.expected ?? agreedOn(images, change.action === 'set' ? change.fields : {});
    return { resource, action, key, change: { ...change, target, expected }, filter };
  });
}

/** Filters of devices that were not reached, if they match no record of devices that were read: nothing is pending. */
export function unresolvedFilters(devices: readonly DevicePlan[]): readonly {
  readonly device: DeviceRef;
  readonly filter: string;
}[] {
  return devices.filter(isOwing).flatMap(({ device, changes = [] }) =>
    changes.flatMap((change) => {
      if (change.action === 'add' || change.target.kind === 'key') return [];
      const { filter } = change.target;
      return keysOf(devices, change, filter).length > 0 ? [] : [{ device, filter }];
    }),
  );
}

function peersOf(devices: readonly DevicePlan[], { resource, action }: Change): readonly Step[] {
  return devices.flatMap(({ steps }) =>
    steps.filter((step) => step.resource === resource && step.action === action),
  );
}

/** The keys of the records that a filter matched where the devices were read. */
function keysOf(
  devices: readonly DevicePlan[],
  { resource, action }: Change,
  filter: string,
): readonly string[] {
  return devices.flatMap(({ device, steps, settled }) =>
    [...steps.map(({ before, ...step }) => ({ ...step, record: before })), ...settled].flatMap(
      (one) => {
        const { record, key } = one;
        if (record === undefined || one.resource !== resource || one.action !== action) return [];
        return recordsWhere(filter, [record], device.name).length > 0 ? [key] : [];
      },
    ),
  );
}

/** The fields of the person and the asked fields, as far as all images agree on their values. */
function agreedOn(images: readonly DeviceRecord[], asked: DeviceRecord): DeviceRecord | undefined {
  const [first, ...others] = images;
  if (first === undefined) return undefined;
  const agreed = Object.entries(first).filter(
    ([field, value]) =>
      (isPersonField(field) || Object.hasOwn(asked, field)) &&
      others.every((other) => isStored(value, other[field])),
  );
  return agreed.length === 0 ? undefined : Object.fromEntries(agreed);
}

export function namesOf(list: readonly Pending[]): readonly string[] {
  return [...new Set(list.map(({ device }) => device.name))];
}
