import { createHash } from 'node:crypto';
import { type RunTrace, traceOf } from '../../change/pending.ts';
import { runAsOf } from '../../change/run-results.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { jsonText, type JsonValue } from '../../device/record.ts';
import { attempt, DevshError, unlessFailed } from '../../errors.ts';
import type { Services } from '../services.ts';
import { readableRun } from './stored-runs.ts';

/* What runs left to do, from their journals. An index remembers it: a journal is read again only when it changed. */

const SCHEMA = 'devsh-pending/4';

interface Entry {
  readonly run: string;
  /** Size and time of the journal when it was read. */
  readonly stamp: string;
  /** Absent: the run does not concern what is still to be done. */
  readonly trace?: RunTrace | undefined;
  readonly isUnreadable?: true | undefined;
}

interface Traces {
  /** Without runs and devices that do not concern what is still to be done; the oldest first. */
  readonly traces: readonly RunTrace[];
  readonly unreadable: readonly string[];
}

/** The traces as they are now. Writes the index if it was missing, damaged or older than a journal. */
export async function readTraces(services: Services): Promise<Traces> {
  const { runs } = services;
  const stamps = await runs.stamps();
  const known = entriesIn(await unlessFailed(runs.readIndex()));
  // A run counts or not by what earlier runs left: behind a changed journal all are read again.
  const changed = stamps.findIndex(
    ({ run, stamp }, index) => known[index]?.run !== run || known[index].stamp !== stamp,
  );
  const entries = known.slice(0, changed < 0 ? stamps.length : changed);
  const concerned = new Concerned();
  for (const { trace } of entries) if (trace !== undefined) concerned.add(trace);
  for (const { run, stamp } of stamps.slice(entries.length)) {
    const trace = await readTrace(services, run);
    entries.push(
      trace instanceof DevshError
        ? { run, stamp, isUnreadable: true }
        : { run, stamp, trace: trace && concerned.add(trace) },
    );
  }
  if (changed >= 0 || known.length > stamps.length) {
    const text = entries.map((one) => `${jsonText(one as unknown as JsonValue)}\n`).join('');
    // Without an index (a full disk) the journals are read again next time.
    await unlessFailed(runs.writeIndex(`${headOf(text)}\n${text}`));
  }
  return {
    traces: entries.flatMap(({ trace }) => trace ?? []),
    unreadable: entries.flatMap(({ run, isUnreadable }) => (isUnreadable ? [run] : [])),
  };
}

/** The traces as they were at `time` (ISO 8601, UTC), from all journals. */
export async function readTracesAt(services: Services, time: string): Promise<Traces> {
  const [traces, unreadable]: [RunTrace[], string[]] = [[], []];
  for (const { run } of await services.runs.stamps()) {
    const trace = await readTrace(services, run, time);
    if (trace instanceof DevshError) unreadable.push(run);
    else if (trace !== undefined) traces.push(trace);
  }
  return { traces, unreadable };
}

/** Undefined for a run without a whole plan, which has sent nothing. */
async function readTrace(
  services: Services,
  id: string,
  time?: string,
): Promise<RunTrace | DevshError | undefined> {
  const whole = await readableRun(services, id);
  if (whole === undefined || whole instanceof DevshError) return whole;
  const run = time === undefined ? whole : runAsOf(whole, time);
  return run?.isPlanned === true ? traceOf(run) : undefined;
}

/** The first line: a changed byte in a key would pass for what a run wanted. */
function headOf(text: string): string {
  return jsonText({ schema: SCHEMA, sha256: createHash('sha256').update(text).digest('hex') });
}

/** Returns no entries if the text is damaged or of another version. */
function entriesIn(text = ''): readonly Entry[] {
  const start = text.indexOf('\n') + 1;
  if (text.slice(0, Math.max(0, start - 1)) !== headOf(text.slice(start))) return [];
  const lines = text.slice(start).split('\n').slice(0, -1);
  return attempt(JsonFailure, () => lines.map((line) => parseJson(line) as unknown as Entry)) ?? [];
}

/** What the runs up to now concern. */
class Concerned {
  readonly #runs = new Set<string>();
  readonly #devices = new Set<string>();

  /** Leaves out the devices that do not concern it. Undefined if no device is left. */
  add({ devices, ...trace }: RunTrace): RunTrace | undefined {
    const isNamed = this.#runs.has(trace.plan.undoes?.run ?? '');
    const kept = devices.filter(({ device: { name, address }, intents }) => {
      const isPending = intents.some(({ state }) => state === 'pending');
      const isConcerned = this.#devices.has(address) || this.#devices.has(name);
      if (isPending) this.#devices.add(address).add(name);
      return isPending || isConcerned;
    });
    if (!isNamed && kept.length === 0) return undefined;
    this.#runs.add(trace.run);
    return { ...trace, devices: kept };
  }
}
