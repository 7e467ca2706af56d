import { setTimeout as sleep } from 'node:timers/promises';
import { DevshError, UsageError } from '../../errors.ts';
import { bind, title, type Invocation } from '../grammar/bind.ts';
import type { Call } from '../call.ts';
import { ExitCode } from '../exit-code.ts';
import { helpOn } from '../help/help.ts';
import type { Output } from '../output.ts';
import { isReading } from '../grammar/reading-verbs.ts';
import { WATCH_MS } from '../grammar/options.ts';
import { nextWait } from './watch.ts';

/** No device could be reached. */
const UNREACHABLE = 5;

/** `watch LINE…`: carries out a line that changes nothing, again and again until Ctrl-C. */
export async function* watchLine(call: Call<'intervalMs'>): AsyncGenerator<Output> {
  const { signal } = call.io;
  const everyMs = call.options.intervalMs ?? WATCH_MS;
  const invocation = bind(call.args.words('LINE'), call.grammar);
  const { command, verb, given } = invocation;
  if (given.help === true) {
    yield { kind: 'text', name: 'help', text: helpOn(command, verb) };
    return;
  }
  refuseUnfit(call, invocation);
  const { format } = given;
  let waitMs = everyMs;
  for (let round = 1; ; round += 1) {
    yield { kind: 'checkpoint', format };
    const exitCode = new ExitCode();
    try {
      for await (const output of verb.run(call.nested(invocation))) {
        exitCode.add(output);
        yield output;
      }
    } catch (error) {
      // A line that makes no sense makes none the next time, either.
      if (!(error instanceof DevshError) || error instanceof UsageError) throw error;
      if (isOver(signal)) return;
      exitCode.addError(error);
      yield { kind: 'error', error };
    }
    if (isOver(signal)) return;
    yield { kind: 'checkpoint' };
    waitMs = nextWait(everyMs, waitMs, exitCode.value !== UNREACHABLE);
    const at = call.session.services.now().toTimeString().slice(0, 8);
    const text = `${at} · again in ${waitMs / 1000} s${round === 1 ? '; Ctrl-C ends it' : ''}`;
    // On the full screen the rounds follow each other in the same place.
    if (round === 1 || call.io.isRefreshing !== true)
      yield { kind: 'message', level: 'info', text };
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (isOver(signal)) return;
  }
}

function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

function refuseUnfit(call: Call, { command, verb, given }: Invocation): void {
  const column = call.args.words('LINE')[0]?.start;
  if (!isReading(command, verb) || given.output !== undefined) {
    throw new UsageError(
      `watch repeats only what changes nothing, and "${title(command, verb)}" does`,
      { column },
    );
  }
  if (given.watchMs !== undefined) {
    throw new UsageError('watch repeats the line by itself: leave out --watch', { column });
  }
  const format = given.format ?? call.options.format ?? 'table';
  if (format !== 'table' && format !== 'jsonl') {
    throw new UsageError(`watch has no end, and ${format} needs one; use --format jsonl`);
  }
}
