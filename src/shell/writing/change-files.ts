import type { Change } from '../../change/change.ts';
import { isChangeSetFile, parseChangeSet, parseCsvChangeSet } from '../../change/change-set.ts';
import { doubtfulFields } from '../../change/doubts.ts';
import { isPlanFile, planDigest, thawPlan } from '../../change/plan-file.ts';
import { type DevicePlan, devicesOfShard, type Shard, WHOLE } from '../../change/plan.ts';
import { UsageError } from '../../errors.ts';
import { checkAddresses } from './plan-addresses.ts';
import { applyNothing, applyPart, partOf, refuseForParts, shardAsked } from './apply-part.ts';
import type { Call, WriteCall } from '../call.ts';
import type { PartOption, RollOutOption, WriteOption } from '../grammar/options.ts';
import { message, type Output } from '../output.ts';
import { planFleet } from './plan-fleet.ts';
import { confirmOrRevert } from './revert.ts';
import { writeEach, writePlan } from './write.ts';
import { keepPlan } from './keep-plan.ts';

type ApplyCall = Call<
  WriteOption | RollOutOption | PartOption | 'on' | 'asCurl' | 'confirmMs' | 'resource'
>;

/** `plan FILE`: what a change set would do, and with `-o` as a plan file. */
export async function* planFile(
  call: Call<'output' | 'expiresMs' | 'resource'>,
): AsyncGenerator<Output> {
  const members = await call.members();
  const changes = await readChanges(call, call.args.required('FILE'));
  const planned = yield* planFleet(call, members, () => changes);
  const { output } = call.options;
  yield { kind: 'plan', plan: planned, dryRun: true };
  for (const text of doubtfulFields(planned)) yield message('warning', text);
  if (output === undefined) return;
  yield await keepPlan(call, planned, output, changes);
}

/** `apply FILE`: a change set, or a plan that was written down. */
export async function* applyFile(call: ApplyCall): AsyncGenerator<Output> {
  const file = call.args.required('FILE');
  const text = await call.readText(file);
  const shard = shardAsked(call);
  refuseForParts(call, shard, isPlanFile(text));
  const applying = isPlanFile(text)
    ? applyFrozen(call, text, file, shard)
    : applyChanges(call, changesIn(call, text, file));
  const { confirmMs } = call.options;
  if (confirmMs === undefined) yield* applying;
  else yield* confirmOrRevert(call, applying, confirmMs);
}

async function* applyChanges(call: WriteCall, changes: readonly Change[]): AsyncGenerator<Output> {
  yield* writeEach(call, await call.members(), () => changes);
}

async function* applyFrozen(
  call: ApplyCall,
  text: string,
  file: string,
  shard: Shard | undefined,
): AsyncGenerator<Output> {
  const { services } = call.session;
  const frozen = thawPlan(text, file, services.now(), call.options.allow);
  const whole = frozen.plan.devices;
  const planned = shard === undefined ? whole : devicesOfShard(whole, shard);
  const part = partOf(call, planDigest(text), shard ?? WHOLE);
  if (shard !== undefined && planned.length === 0) {
    yield* applyNothing(call, shard, part);
    return;
  }
  if (call.options.replan && frozen.changes.length === 0) {
    throw new UsageError(
      `${file} was worked out from a file of records, and cannot be planned anew by itself: repeat "${frozen.command}"`,
    );
  }
  yield* checkAddresses(call, planned, file);
  const members = await call.membersAt(planned.map(({ device }) => device));
  if (call.options.replan) {
    yield* writeEach(call, members, () => frozen.changes);
    return;
  }
  const addresses = new Set(members.map(({ ref }) => ref.address));
  const devices = planned.filter(({ device }) => addresses.has(device.address));
  // A plan may be applied more than once; each time is a run of its own.
  const applied = { run: call.newRun(), devices: devices.map(asOf(frozen.createdAt)) };
  if (part === undefined || call.options.dryRun || call.options.asCurl) {
    yield* writePlan(call, applied, members);
  } else {
    yield* applyPart(call, applied, part, members);
  }
}

/** What needed no request was so when the plan was made; nobody has looked since. */
function asOf(createdAt: string): (plan: DevicePlan) => DevicePlan {
  return (plan) => ({
    ...plan,
    settled: plan.settled.map((result) => ({
      ...result,
      note: [result.note, `when planned, ${createdAt}`].filter(Boolean).join('; '),
    })),
  });
}

async function readChanges(call: Call<'resource'>, file: string): Promise<readonly Change[]> {
  return changesIn(call, await call.readText(file), file);
}

function changesIn(call: Call<'resource'>, text: string, file: string): readonly Change[] {
  if (isPlanFile(text)) {
    throw new UsageError(`${file} is a plan already: "apply ${file}" carries it out`);
  }
  const name = file === '-' ? 'standard input' : file;
  return isChangeSetFile(file, text)
    ? parseChangeSet(text, name)
    : parseCsvChangeSet(text, name, call.options.resource ?? 'user');
}
