import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceRecord } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { recordChanges } from '../../fleet/record-changes.ts';
import type { Call } from '../call.ts';
import type { Format } from '../grammar/options.ts';
import type { Output, ReadOutput } from '../output.ts';

/** While no device answers, the wait doubles up to this. */
const LONGEST_WAIT_MS = 60_000;

/** The wait before the next round: longer and longer while nothing answers. */
export function nextWait(everyMs: number, waitMs: number, hasAnswer: boolean): number {
  return hasAnswer ? everyMs : Math.max(everyMs, Math.min(waitMs * 2, LONGEST_WAIT_MS));
}

/** Throws a `UsageError` for a format that is written at the end, which never comes. */
export function refuseEndless(format: Format | undefined): void {
  if (format !== undefined && format !== 'table' && format !== 'jsonl') {
    throw new UsageError(`--watch has no end, and ${format} needs one; use --format jsonl`);
  }
}

export function watchText(everyMs: number): string {
  return `watching every ${everyMs / 1000} s; Ctrl-C ends it`;
}

/**
 * Reads once, then again and again until the signal comes, and says what is other than before. A device
 * that fails is told of once, and so is its first answer after that; the others go on.
 */
export async function* watched(
  call: Call,
  everyMs: number,
  read: () => AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  const { signal } = call.io;
  refuseEndless(call.options.format);
  const seen = new Seen();
  for await (const output of read()) {
    if (output.kind === 'read') seen.take(output);
    yield output;
  }
  yield { kind: 'checkpoint' };
  yield { kind: 'message', level: 'info', text: watchText(everyMs) };
  let waitMs = nextWait(everyMs, everyMs, seen.hasAnswer);
  for (;;) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    for await (const output of read()) {
      // What Ctrl-C cut short is no failure of the device.
      if (signal.aborted) return;
      if (output.kind === 'read') yield* seen.take(output, call.session.services.now());
    }
    if (signal.aborted) return;
    waitMs = nextWait(everyMs, waitMs, seen.hasAnswer);
  }
}

/** What each device held when it last answered. */
class Seen {
  readonly #records = new Map<string, readonly DeviceRecord[]>();
  readonly #failing = new Set<string>();
  readonly #answering = new Set<string>();

  get hasAnswer(): boolean {
    return this.#answering.size > 0;
  }

  /** Takes in a reading; returns what it tells that was not known. */
  take({ device, outcome, view }: ReadOutput, at?: Date): Output[] {
    const { name } = device;
    const hadFailed = this.#failing.has(name);
    if (!outcome.ok) {
      this.#failing.add(name);
      this.#answering.delete(name);
      return hadFailed ? [] : [{ kind: 'error', error: outcome.error, device }];
    }
    this.#failing.delete(name);
    this.#answering.add(name);
    const before = this.#records.get(name);
    this.#records.set(name, outcome.records);
    const back: Output[] = hadFailed
      ? [{ kind: 'message', level: 'info', text: `${name} answers again` }]
      : [];
    if (before === undefined || at === undefined) return back;
    const { columns, key = '' } = view;
    const changes = recordChanges(before, outcome.records, key, columns);
    return [
      ...back,
      ...changes.map((change) => ({ kind: 'change', at, device, view, change }) as const),
    ];
  }
}
