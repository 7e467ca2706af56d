import { perDeviceFields } from '../../fleet/compared.ts';
import type { Change } from '../../change/change.ts';
import { doubtfulFields } from '../../change/doubts.ts';
import { guardPlan } from '../../change/guard.ts';
import { planMember, type Wanted } from '../../change/plan-member.ts';
import { type DevicePlan, type Plan, recordName, stepCount } from '../../change/plan.ts';
import { CancelledError, RefusedError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import { profileOf } from '../access/access.ts';
import type { Call, WriteCall } from '../command.ts';
import { confirm } from '../session.ts';
import { executeRun } from './execute.ts';
import { type Output, type TextOutput, warning } from '../output.ts';
import { type CurlCall, curlScript } from '../../change/report/curl.ts';
import { keyFieldOf, type Profile } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { valueText } from '../../device/value-text.ts';
import { foldRecords } from '../../fleet/fold.ts';
import { someOf } from '../../text/one-line.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import { grantCounts } from '../../change/grants.ts';
import { notCoveredBy, notCoveredText } from '../../change/not-covered.ts';
import { type Labels, labelsOf } from '../prompt-text.ts';

/** Carries out the same changes on every selected device. */
export async function* write(call: WriteCall, changes: readonly Change[]): AsyncGenerator<Output> {
  const members = await call.members();
  yield* writeEach(call, members, () => changes);
}

/**
 * The one way to write: read, plan, show, guard, ask, then journal, send, read back and report.
 *
 * @param details said before the question
 */
export async function* writeEach(
  call: WriteCall,
  members: readonly Member[],
  wantedOf: (member: Member) => Wanted,
  details: readonly string[] = [],
): AsyncGenerator<Output> {
  refuseReadOnly(call);
  const plan = yield* planFleet(call, members, wantedOf);
  yield* writePlan(call, plan, members, details);
}

/** The second half: from a plan to verdicts. With `--dry-run` it ends after the plan. */
export async function* writePlan(
  call: WriteCall,
  plan: Plan,
  members: readonly Member[],
  details: readonly string[] = [],
): AsyncGenerator<Output> {
  refuseReadOnly(call);
  yield { kind: 'plan', plan, dryRun: call.options.dryRun };
  const doubts = [...doubtfulFields(plan), ...otherHolders(call, plan, members)];
  const isPlanOnly = call.options.dryRun || call.options.asCurl;
  const isAsked = call.io.ask !== undefined && !call.options.yes && !isPlanOnly;
  if (!isAsked) {
    for (const text of doubts) yield warning(text);
  }
  await guard(call, plan, members);
  if (call.options.asCurl) {
    yield await planAsCurl(call, plan, members);
    return;
  }
  if (call.options.dryRun) return;
  await confirmPlan(call, plan, [...doubts, ...details]);
  yield* executeRun(call, plan, members);
}

export function refuseReadOnly(call: WriteCall): void {
  if (call.isReadOnly && !call.options.dryRun && !call.options.asCurl) {
    throw new RefusedError('read-only: nothing was sent');
  }
}

/** Refuses what would lock the user out. */
export async function guard(
  call: WriteCall,
  plan: Plan,
  members: readonly Member[],
): Promise<void> {
  if (stepCount(plan) === 0) return;
  for (const member of members) await member.opened(call.access);
  guardPlan(plan, members, call.options.allow);
}

type Request = NonNullable<CurlCall['request']>;

/** One request to each device, in the words that it understands, as curl calls. */
export async function requestAsCurl(
  call: Call,
  members: readonly Member[],
  requestFor: (profile: Profile) => Request,
): Promise<TextOutput> {
  const calls = members.map(async ({ ref, entry }): Promise<CurlCall> => {
    const request = requestFor(await profileOf(call.session.services, entry));
    const title = `${ref.name}: ${request.method} ${request.path}`;
    return { title, device: ref, owner: request.path, request };
  });
  return script(call, await Promise.all(calls), members);
}

/** The requests of a plan as curl calls. */
function planAsCurl(
  call: Call,
  { devices }: Plan,
  members: readonly Member[],
): Promise<TextOutput> {
  const calls = devices.flatMap(({ device, steps, settled, error }): CurlCall[] => [
    ...(error === undefined
      ? []
      : [{ title: `${device.name}: cannot be planned: ${error.message}`, device, owner: '' }]),
    ...settled.map((result) => ({
      title: `${device.name}: ${result.action} ${recordName(result)}: ${result.verdict}, nothing to send`,
      device,
      owner: '',
    })),
    ...steps.map((step) => ({
      title: `${device.name}: ${step.action} ${recordName(step)}`,
      device,
      owner: recordName(step),
      request: step.request,
    })),
  ]);
  return script(call, calls, members);
}

async function script(
  call: Call,
  calls: readonly CurlCall[],
  members: readonly Member[],
): Promise<TextOutput> {
  const byAddress = new Map(members.map(({ ref, entry }) => [ref.address, entry]));
  const addressed = calls.map(async (one): Promise<CurlCall> => {
    const entry = byAddress.get(one.device.address);
    if (entry === undefined) return one;
    const { accept } = await profileOf(call.session.services, entry);
    return { ...one, route: call.access.route(entry), accept };
  });
  return {
    kind: 'text',
    name: 'curl',
    text: curlScript([call.line], await Promise.all(addressed)),
  };
}

/** More records than that are not gone through one by one. */
const MOST_RECORDS = 5;

/**
 * Where `--on` keeps a line to some of the selected devices: which others hold a record of the same
 * name, as far as was seen in this session. Each is a sentence to be said before the question.
 */
function otherHolders(call: Call<'on'>, plan: Plan, members: readonly Member[]): string[] {
  if (call.options.on.length === 0) return [];
  const addresses = new Set(members.map(({ ref }) => ref.address));
  const others = call.session.fleet.selection.filter(({ ref }) => !addresses.has(ref.address));
  const steps = plan.devices.flatMap((device) => device.steps);
  const named = new Map(steps.map((step) => [recordName(step), step]));
  return [...named].slice(0, MOST_RECORDS).flatMap(([name, { resource, key, before }]) => {
    if (before === undefined) return [];
    const holders = others.flatMap((member) => {
      const seen = member.seen(resource) ?? [];
      const field = keyFieldOf(member.profile, resource, seen);
      const record = seen.find((one) => valueText(one[field]) === key);
      if (record === undefined) return [];
      return [{ name: member.ref.name, isOther: isOther(member, resource, field, before, record) }];
    });
    return [true, false].flatMap((isOther) => {
      const on = holders.filter((one) => one.isOther === isOther).map((one) => one.name);
      const values = isOther ? ' with other values' : '';
      const text = `${name}: also on ${someOf(on)}${values} (without --on the line means them, too)`;
      return on.length === 0 ? [] : [text];
    });
  });
}

function isOther(
  member: Member,
  resource: string,
  keyField: string,
  before: DeviceRecord,
  record: DeviceRecord,
): boolean {
  const reads = [before, record].map((one) => ({ device: { ...member.ref }, records: [one] }));
  return foldRecords(reads, keyField, perDeviceFields(member.profile, resource)).length > 1;
}

/** Reads every device and computes what the changes mean on it; in the order of the members. */
export async function* planFleet(
  call: Call<never, 'allow'>,
  members: readonly Member[],
  wantedOf: (member: Member) => Wanted,
): AsyncGenerator<Output, Plan> {
  const plans = new Map<Member, DevicePlan>();
  const planning = {
    access: call.access,
    signal: call.io.signal,
    allow: call.options.allow ?? new Set(),
  };
  const planned = fanOut<Member, DevicePlan>(
    members,
    call.readWidth,
    async (member, emit) => {
      const plan = await planMember(planning, member, wantedOf(member));
      plans.set(member, plan);
      emit(plan);
    },
    call.io.signal,
  );
  for await (const { device, error } of planned) {
    const text = `planning: ${device.name} ${error === undefined ? 'was read' : 'failed'}`;
    yield { kind: 'progress', done: plans.size, total: members.length, text };
  }
  if (call.io.signal.aborted) throw new CancelledError('cancelled: nothing was sent');
  return {
    run: call.newRun(),
    devices: members.flatMap((member) => plans.get(member) ?? []),
  };
}

/** The plan above the question names all. */
const MOST_NAMED = 10;

/**
 * Asks in proportion: `y` for one step, the number of steps for more, with the names of the devices
 * where something is deleted. Throws a `RefusedError` when it is not confirmed.
 */
export async function confirmPlan(
  call: Call<'yes'>,
  plan: Plan,
  said: readonly string[] = [],
): Promise<void> {
  const count = stepCount(plan);
  if (count === 0) return;
  const devices = plan.devices.filter(({ steps }) => steps.length > 0);
  const names = devices.map(({ device }) => device.name);
  const steps = devices.flatMap((device) => device.steps);
  const [step] = steps;
  const deletes = devices.some(({ steps }) => steps.some(({ action }) => action === 'delete'));
  const absent = notCoveredBy(plan);
  const details = [
    ...(absent.length > 0 ? [notCoveredText(absent, MOST_NAMED)] : []),
    ...(deletes && names.length > 1 ? [`Devices: ${names.join(', ')}`] : []),
    ...grantCounts(steps),
    ...said,
  ];
  const { texts, color } = labelsIn(call, devices);
  const label = texts.map((text) => `${text}: `).join('');
  const where = whereText(names, plan.devices.length);
  const beside = absent.length === 0 ? '' : `, ${absent.length} not covered`;
  const textFor = (expected: string): string =>
    count === 1 && step !== undefined
      ? `${label}${step.action} ${recordName(step)} on ${where}? Type ${expected} to do it:`
      : `${label}${count} steps on ${where}${beside}. Type ${expected} to do them:`;
  await confirm(call, count, textFor, { details, color });
}

/** `fw1`, `fw1, 1 of 12 devices`, `10 of 12 devices`: what is changed of all that the line was about. */
function whereText(names: readonly string[], all: number): string {
  const of = names.length < all ? ` of ${all}` : '';
  const [only = ''] = names;
  if (names.length !== 1) return `${names.length}${of} devices`;
  return of === '' ? only : `${only}, 1${of} devices`;
}

function labelsIn({ session }: Call, devices: Plan['devices']): Labels {
  const addresses = new Set(devices.map(({ device }) => device.address));
  const used = session.fleet.known.filter(({ ref }) => addresses.has(ref.address));
  return labelsOf(used.map(({ entry }) => entry));
}
