import type { Change } from '../change/change.ts';
import { isChangeSetFile, parseChangeSet, parseCsvChangeSet } from '../change/change-set.ts';
import { freezePlan, isPlanFile, thawPlan } from '../change/plan-file.ts';
import type { DevicePlan } from '../change/plan.ts';
import { UsageError } from '../errors.ts';
import type { Call } from './call.ts';
import type { Output } from './output.ts';
import { planFleet } from './plan-fleet.ts';
import { confirmOrRevert } from './revert.ts';
import { writeEach, writePlan } from './write.ts';

const DEFAULT_EXPIRY_MS = 24 * 3_600_000;

/** `plan FILE`: what a change set would do, and with `-o` as a plan file. */
export async function* planFile(call: Call): AsyncGenerator<Output> {
  const members = await call.members();
  const changes = await readChanges(call, call.args.required('FILE'));
  const planned = yield* planFleet(call, members, () => changes);
  const { output, expiresMs = DEFAULT_EXPIRY_MS } = call.options;
  yield { kind: 'plan', plan: planned, dryRun: true };
  if (output === undefined) return;
  const { services } = call.session;
  const createdAt = services.now();
  const text = freezePlan({
    plan: planned,
    createdAt: createdAt.toISOString(),
    expiresAt: new Date(createdAt.getTime() + expiresMs).toISOString(),
    command: call.line,
    changes,
  });
  await services.writeFile(output, text);
  yield { kind: 'message', level: 'done', text: `wrote the plan to ${output}` };
}

/** `apply FILE`: a change set, or a plan that was written down. */
export async function* applyFile(call: Call): AsyncGenerator<Output> {
  const file = call.args.required('FILE');
  const text = await call.readText(file);
  const applying = isPlanFile(text)
    ? applyFrozen(call, text, file)
    : applyChanges(call, changesIn(call, text, file));
  const { confirmMs } = call.options;
  if (confirmMs === undefined) yield* applying;
  else yield* confirmOrRevert(call, applying, confirmMs);
}

async function* applyChanges(call: Call, changes: readonly Change[]): AsyncGenerator<Output> {
  yield* writeEach(call, await call.members(), () => changes);
}

async function* applyFrozen(call: Call, text: string, file: string): AsyncGenerator<Output> {
  const { services } = call.session;
  const frozen = thawPlan(text, file, services.now(), call.options.force);
  const members = await call.membersAt(frozen.plan.devices.map(({ device }) => device));
  if (call.options.replan) {
    yield* writeEach(call, members, () => frozen.changes);
    return;
  }
  const addresses = new Set(members.map(({ ref }) => ref.address));
  const devices = frozen.plan.devices.filter(({ device }) => addresses.has(device.address));
  // A plan may be applied more than once; each time is a run of its own.
  const applied = { run: call.newRun(), devices: devices.map(asOf(frozen.createdAt)) };
  yield* writePlan(call, applied, members);
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

async function readChanges(call: Call, file: string): Promise<readonly Change[]> {
  return changesIn(call, await call.readText(file), file);
}

function changesIn(call: Call, text: string, file: string): readonly Change[] {
  if (isPlanFile(text)) {
    throw new UsageError(`${file} is a plan already: "apply ${file}" carries it out`);
  }
  const name = file === '-' ? 'standard input' : file;
  return isChangeSetFile(file, text)
    ? parseChangeSet(text, name)
    : parseCsvChangeSet(text, name, call.options.resource);
}
