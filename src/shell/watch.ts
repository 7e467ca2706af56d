import type { Call } from './command.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceRecord } from '../device/record.ts';
import { UsageError } from '../errors.ts';
import { recordChanges } from '../fleet/compared.ts';
import { info, type Output, type ReadOutput, type TableOutput, type View } from './output.ts';
import type { DeviceSession } from '../fleet/device-session.ts';

/** The wait doubles up to this limit while no device responds. */
const LONGEST_WAIT_MS = 60_000;

/** The wait before the next round: it grows while no device responds. */
export function nextWait(everyMs: number, waitMs: number, hasAnswer: boolean): number {
  return hasAnswer ? everyMs : Math.max(everyMs, Math.min(waitMs * 2, LONGEST_WAIT_MS));
}

/** Runs a round at once, then repeats it until the signal aborts. Throws a `UsageError` for a format with an end. */
async function* repeated(
  call: Call,
  everyMs: number,
  hasAnswer: () => boolean,
  round: (isFirst: boolean) => AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  const { signal } = call.io;
  const { format = 'table' } = call.options;
  if (format !== 'table' && format !== 'jsonl') {
    throw new UsageError(`--watch never ends, and ${format} needs an end; use --format jsonl`);
  }
  yield* round(true);
  yield { kind: 'checkpoint' };
  yield info(`watching every ${everyMs / 1000} s; Ctrl-C stops it`);
  for (let waitMs = everyMs; !isOver(signal);) {
    waitMs = nextWait(everyMs, waitMs, hasAnswer());
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    for await (const output of round(false)) {
      // A request that Ctrl-C aborted is no failure of the device.
      if (isOver(signal)) return;
      yield output;
    }
  }
}

/** Reports changes. Reports a device that fails once, and again when it responds; the others continue. */
export function watched(
  call: Call,
  everyMs: number,
  read: () => AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  const seen = new Seen();
  async function* round(isFirst: boolean): AsyncGenerator<Output> {
    for await (const output of read()) {
      const news = output.kind === 'read' ? seen.take(output, call.shell.services.now()) : [];
      if (isFirst) yield output;
      else yield* news;
    }
  }
  return repeated(call, everyMs, () => seen.hasAnswer, round);
}

class Seen {
  readonly #records = new Map<string, readonly DeviceRecord[]>();
  readonly #failing = new Set<string>();
  readonly #answering = new Set<string>();

  get hasAnswer(): boolean {
    return this.#answering.size > 0;
  }

  /** Stores a result; returns what is new in it. */
  take({ device, outcome, view }: ReadOutput, at: Date): Output[] {
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
    const back: Output[] = hadFailed ? [info(`${name} responds again`)] : [];
    if (before === undefined) return back;
    const { columns, key = '' } = view;
    const changes = recordChanges(before, outcome.records, key, columns);
    return [
      ...back,
      ...changes.map((change) => ({ kind: 'change', at, device, view, change }) as const),
    ];
  }
}

/** The records of this watch are the devices themselves. */
const VIEW: View = { resource: '', layout: 'table', fold: false, perDevice: [] };

/** Latency varies by itself: a change is reported if it is at least this large and half as much again. */
const NOTABLE_MS = 50;

/** The states of the devices, then every change. `tableOf` makes the table of the devices. */
export function watchDevices(
  call: Call,
  sessions: readonly DeviceSession[],
  everyMs: number,
  tableOf: () => TableOutput,
  ask: () => AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  let shown: TableOutput | undefined;
  async function* round(): AsyncGenerator<Output> {
    yield* ask();
    const [before, now] = [shown?.rows, tableOf()];
    if (before === undefined) yield now;
    const rows = now.rows.map((row, index) => steady(row, before?.[index]));
    shown = { ...now, rows };
    for (const [index, { ref: device }] of sessions.entries()) {
      const [old = {}, row = {}] = [before?.[index], rows[index]];
      const changes = before === undefined ? [] : recordChanges([old], [row], '');
      const at = call.shell.services.now();
      yield* changes.map((change) => ({ kind: 'change', at, device, view: VIEW, change }) as const);
    }
  }
  return repeated(call, everyMs, () => sessions.some(({ state }) => state.kind === 'ready'), round);
}

/** The row without the time of the reading, and with the old latency if the change is too small to report. */
function steady(row: DeviceRecord, before: DeviceRecord | undefined): DeviceRecord {
  const now = Object.fromEntries(Object.entries(row).filter(([key]) => key !== 'last_read'));
  const [old, latency] = [before?.['latency_ms'], now['latency_ms']];
  if (typeof old !== 'number' || typeof latency !== 'number') return now;
  const isNotable =
    Math.abs(latency - old) >= NOTABLE_MS && Math.max(latency, old) >= 1.5 * Math.min(latency, old);
  return isNotable ? now : { ...now, latency_ms: old };
}

function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
