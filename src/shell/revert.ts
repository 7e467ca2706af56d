import { NotFoundError } from '../errors.ts';
import type { Call } from './call.ts';
import type { Output } from './output.ts';
import { loadRun } from './run-store.ts';
import { takeBack } from './take-back.ts';

/**
 * After a run: takes it back by itself unless the user confirms in time. Works only while devsh runs,
 * and says so.
 */
export async function* revertUnlessConfirmed(
  call: Call,
  runId: string,
  limitMs: number,
): AsyncGenerator<Output> {
  const seconds = Math.round(limitMs / 1000);
  const text =
    `run ${runId} is taken back in ${seconds} s unless you confirm; ` +
    'this works only while devsh runs';
  yield { kind: 'message', level: 'warning', text };
  if (await isConfirmedInTime(call, seconds, limitMs)) {
    yield { kind: 'message', level: 'done', text: `confirmed: run ${runId} stays` };
    return;
  }
  yield { kind: 'message', level: 'warning', text: `not confirmed: taking run ${runId} back` };
  try {
    yield* takeBack(call.nestedYes(), await loadRun(call.session.services, runId));
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    yield { kind: 'error', error };
  }
}

async function isConfirmedInTime(call: Call, seconds: number, limitMs: number): Promise<boolean> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, limitMs, undefined).unref();
    call.io.signal.addEventListener('abort', () => {
      resolve(undefined);
    });
  });
  const question = {
    kind: 'confirm' as const,
    text: `Keep the changes? Type keep within ${seconds} s:`,
    expected: 'keep',
  };
  // With nobody to ask, the time alone decides.
  const asked = call.io.ask?.(question) ?? late;
  return (await Promise.race([asked, late])) === 'keep';
}
