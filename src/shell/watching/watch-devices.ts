import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceRecord } from '../../device/record.ts';
import type { Member } from '../../fleet/member.ts';
import { recordChanges } from '../../fleet/record-changes.ts';
import type { Call } from '../call.ts';
import type { ChangeOutput, Output, TableOutput, View } from '../output.ts';
import { nextWait, refuseEndless, watchText } from './watch.ts';

/** A device is its own record. */
const VIEW: View = { resource: '', layout: 'table', fold: false, perDevice: [] };

/** Answers come a little sooner or later; what is told is half as much again, and so much at least. */
const NOTABLE_MS = 50;

/**
 * The states of the devices, then every change of them: each is asked again and again, until the signal
 * comes. `tableOf`: the devices as they are.
 */
export async function* watchDevices(
  call: Call,
  members: readonly Member[],
  everyMs: number,
  tableOf: () => TableOutput,
  ask: () => AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  refuseEndless(call.options.format);
  const { signal } = call.io;
  yield* ask();
  let told = tableOf();
  yield told;
  yield { kind: 'checkpoint' };
  yield { kind: 'message', level: 'info', text: watchText(everyMs) };
  const hasAnswer = (): boolean => members.some(({ state }) => state.kind === 'ready');
  let waitMs = nextWait(everyMs, everyMs, hasAnswer());
  for (;;) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    for await (const output of ask()) if (!signal.aborted) yield output;
    if (signal.aborted) return;
    const now = tableOf();
    const rows = now.rows.map((row, index) => withOldLatency(row, told.rows[index]));
    for (const [index, { ref }] of members.entries()) {
      const [before, after] = [told.rows[index] ?? {}, rows[index] ?? {}];
      const at = call.session.services.now();
      for (const change of recordChanges([before], [after], '')) {
        yield { kind: 'change', at, device: ref, view: VIEW, change } satisfies ChangeOutput;
      }
    }
    told = { ...now, rows };
    waitMs = nextWait(everyMs, waitMs, hasAnswer());
  }
}

/** A latency that is hardly another one is no change. */
function withOldLatency(now: DeviceRecord, before: DeviceRecord | undefined): DeviceRecord {
  const [old, latency] = [before?.['latency_ms'], now['latency_ms']];
  if (typeof old !== 'number' || typeof latency !== 'number') return now;
  const isNotable =
    Math.abs(latency - old) >= NOTABLE_MS && Math.max(latency, old) >= 1.5 * Math.min(latency, old);
  return isNotable ? now : { ...now, latency_ms: old };
}
