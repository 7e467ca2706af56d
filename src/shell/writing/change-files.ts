import { resolve } from 'node:path';
import type { Change } from '../../change/change.ts';
import { isCsvChangeSet, parseChangeSet, parseCsvChangeSet } from '../../change/change-set.ts';
import { type Connection, curlScript } from './curl-script.ts';
import { doubtfulFields } from '../../change/doubts.ts';
import { isPlanFile, parsePlanFile, serializePlan, wishedChange } from '../../change/plan-file.ts';
import {
  type DevicePlan,
  isInShard,
  type Plan,
  type PlanPart,
  recordName,
  shardText,
  type StoredDevice,
  WHOLE,
  type Wish,
} from '../../change/plan.ts';
import { DriftError, RefusedError, UsageError } from '../../errors.ts';
import { profileOf } from '../access/access.ts';
import type { Call, WriteCall } from '../command.ts';
import type { PartOption } from '../grammar/options.ts';
import {
  type MessageOutput,
  type Output,
  type TextOutput,
  warning,
  info,
  success,
} from '../output.ts';
import { confirmOrRevert } from './undo.ts';
import { planFleet, write } from './write.ts';
import { deletedBy, type RunTrace, traceOf } from '../../change/pending.ts';
import { adoptedJournals, readResult, type ResultFile } from '../../change/result-file.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Step } from '../../change/step.ts';
import { type About, isAbout, resultFor, type StepResult } from '../../change/verdict.ts';
import { resumeShard } from './resume.ts';
import { laterRuns } from './stored-runs.ts';
import { counted } from '../../text/one-line.ts';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { type DeviceRef, withoutFields } from '../../device/record.ts';
import { readText, writeTextAtomically } from '../../os/files.ts';

type ApplyCall = WriteCall & Call<PartOption | 'confirmMs' | 'resource'>;

/** `plan FILE`: shows what a change set would do, and with `-o` writes a plan file. */
export async function* planFile(
  call: Call<'asCurl' | 'output' | 'expiresMs' | 'resource' | 'reason' | 'shard'>,
): AsyncGenerator<Output> {
  const sessions = yield* sessionsOfShard(call);
  const file = call.args.required('FILE');
  const changes = changesIn(call, await call.readText(file), file);
  const planned = yield* planFleet(call, sessions, () => changes);
  const { asCurl, output } = call.options;
  if (asCurl) {
    yield await planAsCurl(call, planned, sessions);
    return;
  }
  yield { kind: 'plan', plan: planned, dryRun: true };
  for (const text of doubtfulFields(planned)) yield warning(text);
  if (output === undefined) return;
  yield await writePlanFile(call, planned, output, changes);
}

async function planAsCurl(
  call: Call,
  plan: Plan,
  sessions: readonly DeviceSession[],
): Promise<TextOutput> {
  const connections = new Map<string, Connection>();
  for (const { ref, entry } of sessions) {
    const { headers, auth } = await profileOf(call.shell.services, entry);
    connections.set(ref.address, { route: call.access.route(entry), headers, auth });
  }
  return { kind: 'text', name: 'curl', text: curlScript(call.line, plan, connections) };
}

/** `apply FILE`: applies a change set or a plan file. */
export async function* applyFile(call: ApplyCall): AsyncGenerator<Output> {
  const file = call.args.required('FILE');
  const text = await call.readText(file);
  checkShardOptions(call, isPlanFile(text));
  const applying = isPlanFile(text)
    ? applyPlanFile(call, text, file)
    : applyChangeSet(call, changesIn(call, text, file));
  const { confirmMs } = call.options;
  if (confirmMs === undefined) yield* applying;
  else yield* confirmOrRevert(call, applying, confirmMs);
}

async function* applyChangeSet(
  call: ApplyCall,
  changes: readonly Change[],
): AsyncGenerator<Output> {
  const sessions = yield* sessionsOfShard(call);
  if (call.options.shard !== undefined) {
    yield info(
      'each shard plans for itself; "plan FILE --shard I/N -o PLANFILE" makes plans to review',
    );
  }
  yield* write(call, { sessions, wanted: () => changes, age: 'fresh' });
}

/** The selected devices, or those of them that are in the shard. */
async function* sessionsOfShard(
  call: Call<'shard'>,
): AsyncGenerator<Output, readonly DeviceSession[]> {
  const { shard } = call.options;
  const selected = await call.sessions();
  if (shard === undefined) return selected;
  const own = selected.filter(({ ref }) => isInShard(ref.address, shard));
  yield info(`shard ${shardText(shard)}: ${own.length} of ${counted(selected.length, 'device')}`);
  return own;
}

async function* applyPlanFile(call: ApplyCall, text: string, file: string): AsyncGenerator<Output> {
  const { services } = call.shell;
  const { shard, result } = call.options;
  const stored = parsePlanFile(text, file, services.now(), call.options.allow);
  const own = shard ?? WHOLE;
  const planned = stored.devices.filter(({ device }) => isInShard(device.address, own));
  const { digest } = stored;
  const part = result === undefined ? result : { digest, shard: own, result: resolve(result) };
  if (shard !== undefined && planned.length === 0) {
    yield info(`shard ${shardText(shard)} has no device: nothing to do`);
  }
  if (call.options.replan && stored.changes.length === 0) {
    throw new UsageError(
      `${file} comes from "import", which has no --replan: repeat "${stored.command}"`,
    );
  }
  const sessions = await sessionsOf(call, planned, file);
  if (call.options.replan) {
    yield* write(call, { sessions, wanted: () => stored.changes, age: 'fresh' });
    return;
  }
  // A plan may be applied more than once; each time is a new run.
  const later = (await laterRuns(services, stored.run)).map(traceOf);
  const byAddress = new Map(planned.map((one) => [one.device.address, one]));
  const wanted = new Map<string, readonly Change[]>();
  for (const { ref, entry } of sessions) {
    const { steps = [] } = byAddress.get(ref.address) ?? {};
    const profile = await profileOf(services, entry);
    wanted.set(
      ref.address,
      steps.map((wish) => wishedChange(profile, wish)),
    );
  }
  const { reason, at } = stored;
  const applying = write(call, {
    sessions,
    wanted: ({ ref }) => wanted.get(ref.address) ?? [],
    age: 'fresh',
    *review(plan) {
      const devices = plan.devices.map((now) => {
        const then = byAddress.get(now.device.address);
        return then === undefined ? now : asReviewed(then, at, later, now);
      });
      return { plan: { ...plan, devices, reason, part } };
    },
  });
  if (part === undefined || call.options.dryRun) yield* applying;
  else yield* applyPart(call, part, sessions, applying);
}

/**
 * Replaces the before-images of a new plan by those of the reviewed one: the device must still hold them at sending.
 * If a step is not as reviewed, or adds a record that devsh has deleted since, no step of the device is sent.
 */
function asReviewed(
  then: StoredDevice,
  createdAt: string,
  later: readonly RunTrace[],
  now: DevicePlan,
): DevicePlan {
  // devsh judged these when it made the plan, and does not check them again.
  const judged = then.settled.map((result) => ({
    ...result,
    notes: [...(result.notes ?? []), `as planned at ${createdAt}`],
  }));
  if (then.error !== undefined) return { ...then, steps: [], settled: judged };
  if (now.error !== undefined) {
    return { ...now, settled: judged };
  }
  const { device } = now;
  const drift = (about: About, reason: string): StepResult => {
    const error = new DriftError(`${device.name}: ${reason}; nothing was sent`);
    return resultFor(device, about, { verdict: 'drift', error });
  };
  const settled = now.settled.map((result): StepResult => {
    return result.verdict === 'differs' && result.action === 'add'
      ? drift(result, `${recordName(result)} was added since the plan`)
      : result;
  });
  const left = [...then.steps];
  const wishes = now.steps.map((step): Wish | undefined => {
    const at = left.findIndex((one) => isAbout(one, step));
    return at === -1 ? undefined : left.splice(at, 1)[0];
  });
  const reasons = now.steps.map((step, index) => {
    if (wishes[index] === undefined) return `${recordName(step)} is not as planned`;
    const run = step.action === 'add' ? deletedBy(later, now, step) : undefined;
    return run && `${recordName(step)} was deleted since the plan by run ${run}`;
  });
  const changed = settled.find(({ verdict }) => verdict !== 'unchanged');
  const first =
    reasons.find((reason) => reason !== undefined) ??
    (changed && `${recordName(changed)} is not as planned`);
  const steps = now.steps.map((step, index): Step => {
    // The step keeps the reviewed dependents: at sending, further ones are drift.
    const { before, effects: { takes } = {} } = wishes[index] ?? {};
    if (before === undefined) return step;
    const after = step.after && { ...withoutFields(before, step.removes ?? []), ...step.asked };
    return { ...step, before, after, effects: { ...step.effects, takes } };
  });
  if (first === undefined) return { ...now, steps, settled: [...judged, ...settled] };
  const stopped = steps.map((step, index) => {
    const reason = reasons[index];
    return reason === undefined
      ? resultFor(device, step, { verdict: 'skipped', notes: [`not sent: ${first}`] })
      : drift(step, reason);
  });
  return { ...now, steps: [], settled: [...judged, ...settled, ...stopped] };
}

function changesIn(call: Call<'resource'>, text: string, file: string): readonly Change[] {
  if (isPlanFile(text)) {
    throw new UsageError(`${file} is already a plan: "apply ${file}" applies it`);
  }
  const name = file === '-' ? 'standard input' : file;
  return isCsvChangeSet(file, text)
    ? parseCsvChangeSet(text, name, call.options.resource ?? 'user')
    : parseChangeSet(text, name);
}

function checkShardOptions({ options }: Call<PartOption | 'confirmMs'>, isPlan: boolean): void {
  if (options.result !== undefined && !isPlan) {
    throw new UsageError(
      '--result needs a plan file: create one with "plan FILE --on … -o PLANFILE"',
    );
  }
  if (options.result !== undefined && options.replan) {
    throw new UsageError('--result is about the plan unchanged: leave out --replan');
  }
  if (options.result !== undefined && options.confirmMs !== undefined) {
    throw new UsageError('--confirm may undo what --result reports: leave one out');
  }
}

/**
 * Applies a shard whose result is kept in a file. If the file exists, its run is resumed, also on another
 * machine: unconfirmed steps are resolved by reading, failed steps and those not reached are sent, steps
 * that are done are not repeated.
 */
async function* applyPart(
  call: WriteCall,
  part: PlanPart,
  sessions: readonly DeviceSession[],
  applying: AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  const release = await services.holdFile(part.result);
  try {
    const refs = sessions.map(({ ref }) => ref);
    const earlier = await readEarlierResult(refs, part);
    if (earlier === undefined) {
      yield* applying;
      return;
    }
    const { run } = earlier.run;
    if ((await services.runs.read(run)) === undefined) {
      for (const [id, journal] of adoptedJournals(earlier, part)) {
        await services.runs.adopt(id, journal);
      }
    }
    yield info(`${part.result}: resuming run ${run}`);
    yield* resumeShard(call, run);
  } finally {
    await release();
  }
}

/** Undefined if there is no result file yet. Throws a `RefusedError` if it is of another plan, shard or devices. */
async function readEarlierResult(
  devices: readonly DeviceRef[],
  { digest, shard, result: file }: PlanPart,
): Promise<ResultFile | undefined> {
  const text = await readText(file);
  if (text === undefined) return undefined;
  const earlier = readResult(text, file);
  const { part, run } = earlier;
  // The inventory may have another order now.
  const placesOf = (refs: readonly DeviceRef[]): string =>
    refs
      .map(({ name, address }) => `${name} ${address}`)
      .sort()
      .join();
  const isSame =
    part.digest === digest &&
    shardText(part.shard) === shardText(shard) &&
    placesOf(run.plan.devices.map(({ device }) => device)) === placesOf(devices);
  if (isSame) return earlier;
  throw new RefusedError(
    `${file} is the result of ${part.digest === digest ? `other devices (shard ${shardText(part.shard)})` : 'another plan'}: ` +
      'use another file, or remove this one',
  );
}

/**
 * The devices of a plan file, which may be old or from anybody: nothing goes to an address that is neither in the
 * inventory nor typed with `--on`. Throws a `RefusedError` if the inventory has another address for a device.
 */
async function sessionsOf(
  call: Call<'on'>,
  planned: readonly StoredDevice[],
  file: string,
): Promise<readonly DeviceSession[]> {
  const devices = planned.map(({ device }) => device);
  const inventory = await call.shell.services.inventory.load();
  for (const { name, address } of devices) {
    const known = inventory.find(name);
    const now = known && formatAddress(parseAddress(known.address));
    if (now !== undefined && now !== address) {
      throw new RefusedError(
        `${file} has ${name} at ${address}, the inventory at ${now}: plan again`,
      );
    }
  }
  if (call.options.on.length > 0 || devices.length === 0) return call.sessionsAt(devices);
  const addresses = devices.map(({ address }) => address);
  return call.resolveKnown(addresses, file);
}

const DEFAULT_EXPIRY_MS = 24 * 3_600_000;

/** Resolves to the message about the file. */
export async function writePlanFile(
  call: Call<'expiresMs' | 'reason'>,
  plan: Plan,
  file: string,
  changes: readonly Change[],
): Promise<MessageOutput> {
  const { services } = call.shell;
  const { expiresMs = DEFAULT_EXPIRY_MS } = call.options;
  const createdAt = services.now();
  const head = {
    run: plan.run,
    at: createdAt.toISOString(),
    command: call.line,
    reason: call.options.reason,
    by: services.operator,
    version: services.version,
    expiresAt: new Date(createdAt.getTime() + expiresMs).toISOString(),
    changes,
  };
  await writeTextAtomically(file, serializePlan(head, plan.devices));
  return success(`wrote the plan to ${file}`);
}
