import { isGood } from '../../change/roll-out.ts';
import { undoOf } from '../../change/undo.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { CancelledError, RefusedError } from '../../errors.ts';
import type { WriteCall } from '../call.ts';
import { message, type Output } from '../output.ts';
import { loadRun } from './run-store.ts';
import { takeBack } from './take-back.ts';

/**
 * A roll-out that takes itself back unless the user confirms in time; one that was cancelled is taken
 * back at once. Works only while devsh runs, and says so.
 */
export async function* confirmOrRevert(
  call: WriteCall,
  rollOut: AsyncGenerator<Output>,
  limitMs: number,
): AsyncGenerator<Output> {
  let cancelled: CancelledError | undefined;
  let runId: string | undefined;
  try {
    for await (const output of rollOut) {
      if (output.kind === 'result') runId = output.run;
      yield output;
    }
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    cancelled = error;
  }
  if (runId !== undefined) yield* keepOrRevert(call, runId, limitMs, cancelled);
  if (cancelled !== undefined) throw cancelled;
}

async function* keepOrRevert(
  call: WriteCall,
  runId: string,
  limitMs: number,
  cancelled: CancelledError | undefined,
): AsyncGenerator<Output> {
  const run = await loadRun(call.session.services, runId);
  if (undoOf(run, () => documentedProfile).length === 0) return;
  const seconds = Math.round(limitMs / 1000);
  if (cancelled === undefined) {
    const text =
      `run ${runId} is taken back in ${seconds} s unless you confirm; ` +
      'this works only while devsh runs';
    yield message('warning', text);
    if (await isConfirmedInTime(call, seconds, limitMs)) {
      yield message('done', `confirmed: run ${runId} stays`);
      return;
    }
  }
  const why = cancelled === undefined ? 'not confirmed' : 'cancelled';
  yield message('warning', `${why}: taking run ${runId} back`);
  let isBack = true;
  for await (const output of takeBack(call.nestedYes(), run)) {
    if (output.kind === 'result' && !isGood(output.result)) isBack = false;
    yield output;
  }
  // What was asked for is not so; where the way back failed, too, its verdicts decide.
  if (call.io.signal.aborted) throw cancelled ?? new CancelledError('cancelled: taken back');
  if (isBack) {
    throw new RefusedError(`not confirmed in time: run ${runId} was taken back`);
  }
}

async function isConfirmedInTime(
  call: WriteCall,
  seconds: number,
  limitMs: number,
): Promise<boolean> {
  const { ask, signal } = call.io;
  if (signal.aborted) return false;
  const over = new AbortController();
  const late = new Promise<undefined>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      over.abort();
      resolve(undefined);
    };
    const timer = setTimeout(end, limitMs);
    signal.addEventListener('abort', end);
    over.signal.addEventListener('abort', end);
  });
  const question = {
    kind: 'confirm' as const,
    text: `Keep the changes? Type keep within ${seconds} s:`,
    expected: 'keep',
    until: over.signal,
  };
  // With nobody to ask, the time alone decides.
  const asked = ask === undefined ? late : ask(question);
  const answer = await Promise.race([asked, late]);
  over.abort();
  return answer === 'keep';
}
