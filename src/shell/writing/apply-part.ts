import { resolve } from 'node:path';
import { type Plan, type PlanPart, type Shard, shardOf, shardText } from '../../change/plan.ts';
import { parseJournal } from '../../change/read-journal.ts';
import {
  journalOfResult,
  parseResult,
  resultText,
  type ResultFile,
} from '../../change/result-file.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call, WriteCall } from '../call.ts';
import type { PartOption } from '../grammar/options.ts';
import { message, type Output } from '../output.ts';
import { retriedPart, takeUp } from './take-up.ts';
import { writePlan } from './write.ts';

/** The environment variable that says which pod of an Indexed Job this is, from 0. */
const JOB_INDEX = 'JOB_COMPLETION_INDEX';

/** Which shard of the plan is meant; undefined for the whole. Throws a `UsageError`. */
export function shardAsked({ options, session }: Call<PartOption>): Shard | undefined {
  const { shard, shardIndex, shardTotal: total } = options;
  if (shard !== undefined) {
    if (shardIndex === undefined && total === undefined) return shard;
    throw new UsageError('either --shard, or --shard-index with --shard-total');
  }
  if (total === undefined) {
    if (shardIndex === undefined) return undefined;
    throw new UsageError('--shard-index needs --shard-total: how many shards there are');
  }
  const index = shardIndex ?? indexIn(session.services.environment(JOB_INDEX));
  if (index < total) return shardOf(index + 1, total);
  throw new UsageError(
    `there is no shard with the index ${index} of ${total}: they count from 0 to ${total - 1}`,
  );
}

function indexIn(text: string | undefined): number {
  if (text !== undefined && /^\d{1,5}$/.test(text)) return Number(text);
  throw new UsageError(
    text === undefined
      ? `--shard-total needs --shard-index, or ${JOB_INDEX} in the environment`
      : `${JOB_INDEX} is "${text}": an index counts from 0`,
  );
}

/** Refuses what a part of a plan cannot be combined with. */
export function refuseForParts(
  { options }: Call<PartOption | 'confirmMs'>,
  shard: Shard | undefined,
  isPlan: boolean,
): void {
  const option = shard !== undefined ? '--shard' : options.result !== undefined ? '--result' : '';
  if (option === '') return;
  if (!isPlan) {
    throw new UsageError(
      `${option} needs a plan file, the same for all: make one with "plan FILE --on … -o PLANFILE"`,
    );
  }
  if (options.replan) {
    throw new UsageError(`${option} carries out the plan as it is: leave out --replan`);
  }
  if (options.result !== undefined && options.confirmMs !== undefined) {
    throw new UsageError('--confirm may take back what --result has told: leave one out');
  }
}

/**
 * Carries out a part of a plan whose result is kept in a file. Where the file is there already, the
 * run that it tells of is gone on with, also on another machine: what is in doubt is settled by
 * reading, what failed or was not reached is sent, nothing that is done is sent again.
 */
export async function* applyPart(
  call: WriteCall,
  plan: Plan,
  part: PlanPart,
  members: readonly Member[],
): AsyncGenerator<Output> {
  const { services } = call.session;
  const release = await services.holdFile(part.result);
  try {
    const earlier = await readEarlier(call, plan, part);
    if (earlier === undefined) {
      yield* writePlan(call, { ...plan, part }, members);
      return;
    }
    const { run } = earlier;
    if ((await services.runs.read(run)) === undefined) {
      await services.runs.adopt(run, journalOfResult(earlier, { ...plan, run, part }));
    }
    yield message('info', `${part.result}: going on with run ${run}`);
    yield* takeUp(call, run, retriedPart(true));
  } finally {
    await release();
  }
}

/** A part without a device is done at once. */
export async function* applyNothing(
  call: Call<'dryRun'>,
  shard: Shard,
  part: PlanPart | undefined,
): AsyncGenerator<Output> {
  const { services } = call.session;
  yield message('info', `shard ${shardText(shard)} has no device: nothing to do`);
  if (part === undefined || call.options.dryRun) return;
  const run = call.newRun();
  const release = await services.holdFile(part.result);
  try {
    if ((await readEarlier(call, { run, devices: [] }, part)) !== undefined) return;
    const { operator: by, version } = services;
    const at = services.now().toISOString();
    const plan = { run, devices: [], part };
    const head = { run, at, command: call.line, by, version };
    const journal = journalOfResult({ ...head, ...part, devices: [] }, plan);
    await services.writeFile(part.result, resultText(parseJournal(journal, run), part, at));
  } finally {
    await release();
  }
}

/** The absolute path of the result file, and which part of which plan is to be told there. */
export function partOf(call: Call<'result'>, digest: string, shard: Shard): PlanPart | undefined {
  const { result } = call.options;
  return result === undefined ? undefined : { digest, shard, result: resolve(result) };
}

/** What the result file tells of an earlier attempt. Throws a `RefusedError` when that was another part. */
async function readEarlier(
  { session }: Call,
  { devices }: Plan,
  { digest, shard, result: file }: PlanPart,
): Promise<ResultFile | undefined> {
  const text = await session.services.readIfThere(file);
  if (text === undefined) return undefined;
  const earlier = parseResult(text, file);
  const isSame =
    earlier.digest === digest &&
    shardText(earlier.shard) === shardText(shard) &&
    earlier.devices.length === devices.length &&
    earlier.devices.every(({ device: { address }, states }, index) => {
      const now = devices[index];
      return now?.device.address === address && now.steps.length === states.length;
    });
  if (isSame) return earlier;
  throw new RefusedError(
    `${file} is the result of ${earlier.digest === digest ? `other devices (shard ${shardText(earlier.shard)})` : 'another plan'}: ` +
      'name another file, or remove this one',
  );
}
