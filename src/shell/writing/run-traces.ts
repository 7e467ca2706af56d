import { createHash } from 'node:crypto';
import { type RunTrace, traceOf } from '../../change/pending.ts';
import { runAsOf } from '../../change/run-results.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import { jsonText, type JsonValue } from '../../device/record.ts';
import { attempt, DevshError, unlessFailed } from '../../errors.ts';
import type { Services } from '../services.ts';
import { readableRun } from './stored-runs.ts';

/* What runs left to do, from their journals. An index keeps it: devsh reads only the journals from a changed one on. */

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
  /** The oldest first. `readTraces` leaves out the runs and devices that do not concern what is still to be done. */
  readonly traces: readonly RunTrace[];
  readonly unreadable: readonly string[];
}

/** The traces as they are now. Writes the index if it was missing, damaged or older than a journal. */
export async function readTraces(services: Services): Promise<Traces> {
  const { runs } = services;
  const stamps = await runs.stamps();
  const known = entriesIn(await unlessFailed(runs.readIndex()));
  // Earlier runs decide whether a run is kept in the index, so all journals after a changed one are read again.
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
    // If the index cannot be written (a full disk), the next command reads the journals again.
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

/** The first line, with a hash: otherwise a key with a damaged byte would look like the key that a run wanted. */
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

/** The runs that are kept so far, and the devices where one of them left something to do. */
class Concerned {
  readonly #runs = new Set<string>();
  readonly #devices = new Set<string>();

  /** The trace with only the devices that concern it. Undefined if it has none, and undoes no run that is kept. */
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
