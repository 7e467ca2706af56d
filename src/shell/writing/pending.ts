import {
  firstOf,
  maskedFields,
  namesOf,
  type Pending,
  pendingOf,
  type PendingWork,
} from '../../change/pending.ts';
import { journalLine } from '../../change/journal.ts';
import { recordName } from '../../change/plan.ts';
import { type DeviceRef, valueText } from '../../device/record.ts';
import { NotFoundError, PartialError, UsageError } from '../../errors.ts';
import { textOf } from '../../output/sentences.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { shortTime, zonedTime } from '../../text/time.ts';
import { visible } from '../../text/visible.ts';
import type { Call } from '../command.ts';
import { info, type Output, success, table } from '../output.ts';
import type { Services } from '../services.ts';
import { readTraces, readTracesAt } from './run-traces.ts';

interface PendingNow {
  /** The oldest run first. */
  readonly open: readonly Pending[];
  readonly closed: readonly PendingWork[];
  /** Ids of runs whose journal cannot be read. */
  readonly unreadable: readonly string[];
}

/** What is pending at `time` (ISO 8601, UTC; default: now). The work of a run in progress is not pending now. */
export async function readPending(services: Services, time?: string): Promise<PendingNow> {
  const { traces, unreadable } = await (time === undefined
    ? readTraces(services)
    : readTracesAt(services, time));
  if (traces.length === 0) return { open: [], closed: [], unreadable };
  const known = await services.inventory.load();
  const all = pendingOf(traces, ({ name, address }) => {
    const isListed = known.find(name) ?? known.findByAddress(address);
    return isListed !== undefined || known.devices.length === 0 || address.startsWith(name);
  });
  const open = all.flatMap(({ pending, closed }) => (closed === undefined ? pending : []));
  const running = new Set<string>();
  for (const { run } of new Set(open.map((one) => one.run))) {
    if (time === undefined && (await services.runs.isInProgress(run))) running.add(run);
  }
  return {
    open: open.filter(({ run }) => !running.has(run.run)),
    closed: all.filter(({ closed }) => closed !== undefined),
    unreadable,
  };
}

/** The pending changes of these runs (none: all runs) on the devices of `--on`, else of the selection, else on all. */
export async function selectedPending(
  call: Call<'on'>,
  runs: readonly string[],
): Promise<PendingNow> {
  const all = await readPending(call.shell.services);
  const isNamed = await call.namedByOn();
  const { selection } = call.shell.fleet;
  const isSelected = (device: DeviceRef): boolean =>
    call.options.on.length > 0 || selection.length === 0
      ? isNamed(device)
      : selection.some(({ ref }) => ref.address === device.address || ref.name === device.name);
  const open = all.open.filter(
    ({ run, device }) =>
      (runs.length === 0 || [run.run, firstOf(run)].some((id) => runs.includes(id))) &&
      isSelected(device),
  );
  return { ...all, open };
}

/** Why nothing of this run is pending: "undone by run …". */
export function closedText({ closed }: PendingNow, id: string): string {
  const why = new Set(
    closed.flatMap((one) => (one.pending.run.run === id && one.closed ? textOf(one.closed) : [])),
  );
  return why.size > 0 ? `: ${[...why].join(', ')}` : '';
}

export function* unreadableWarning({ unreadable }: PendingNow): Generator<Output> {
  if (unreadable.length === 0) return;
  const text = `more may be pending, of runs with unreadable journals: ${someOf(unreadable)}`;
  yield { kind: 'error', error: new PartialError(text) };
}

/** `pending`: one row for each record and device. */
export async function* listPending(call: Call<'on' | 'long'>): AsyncGenerator<Output> {
  const { long, format = 'table' } = call.options;
  const isLong = long || format !== 'table';
  const found = await selectedPending(call, []);
  yield* unreadableWarning(found);
  yield table(
    'pending',
    [
      ...['device', 'change', 'cause', 'since'],
      isLong && { key: 'id', title: 'RUN' },
      isLong && { key: 'command', title: 'COMMAND' },
    ],
    found.open.map((one) => ({
      id: one.run.run,
      since: one.run.at,
      device: one.device.name,
      change: changeText(one),
      cause: pendingCause(one),
      command: one.run.command,
    })),
  );
  yield info(
    found.open.length === 0
      ? nothingPending(call)
      : '"resume" continues them; other accounts and machines have their own',
  );
}

/** `set user bob lang=fr`; secrets are masked already. */
export function changeText({ action, resource, key, change }: Pending): string {
  const fields = change === undefined || change.action === 'delete' ? {} : change.fields;
  const values = Object.entries(fields).map(([field, value]) => `${field}=${valueText(value)}`);
  return visible([`${action} ${recordName({ resource, key })}`, ...values].join(' '));
}

function pendingCause({ cause, change, run }: Pending): string {
  if (change === undefined) {
    const isPruning = / --prune(?: |$)/.test(run.command);
    return `${cause}; repeat the line of the run${isPruning ? ', which also deletes what is not in the file' : ''}`;
  }
  const masked = maskedFields(change);
  return masked.length > 0 ? `${cause}; needs ${masked.join(', ')}` : cause;
}

/** With `--on` it names only these devices, because others may have pending changes. */
export function nothingPending({ options: { on } }: Call<'on'>): string {
  return `nothing is pending${on.length === 0 ? '' : ' on the named devices'}`;
}

/** `pending drop`: notes in the journal that nobody wants the rest of a run. What it wanted and did stays as it is. */
export async function* dropPending(call: Call<'on' | 'reason'>): AsyncGenerator<Output> {
  const { reason } = call.options;
  const { services } = call.shell;
  const id = call.args.required('ID');
  if (reason === undefined) throw new UsageError('drop needs --reason TEXT: the journal keeps it');
  const all = await readPending(services);
  const isNamed = await call.namedByOn();
  const open = all.open.filter(({ run, device }) => run.run === id && isNamed(device));
  if (open.length === 0) {
    throw new NotFoundError(
      `nothing of run ${id} is pending${closedText(all, id)}; "pending" lists what is`,
    );
  }
  const devices = new Map(open.map(({ device: { address, name } }) => [address, name]));
  const file = await services.runs.resume(id);
  try {
    const at = services.now().toISOString();
    const on = [...devices.keys()];
    await file.append(journalLine({ kind: 'drop', at, by: services.operator, reason, on }));
  } finally {
    await file.close();
  }
  yield success(`nothing of run ${id} is pending any more on ${someOf([...devices.values()])}`);
}

function isOn({ device }: Pending, { name, address }: DeviceRef): boolean {
  return name === device.name || address === device.address;
}

/** How many changes are pending on each of these devices, by name. */
export async function pendingCounts(
  services: Services,
  devices: readonly DeviceRef[],
): Promise<ReadonlyMap<string, number>> {
  const { open } = await readPending(services);
  const counts = devices.map(
    (device) => [device.name, open.filter((one) => isOn(one, device)).length] as const,
  );
  return new Map(counts.filter(([, count]) => count > 0));
}

/** A text about all that is pending, for a session that starts; undefined if nothing is. */
export async function pendingSummary(services: Services): Promise<string | undefined> {
  const { open } = await readPending(services);
  if (open[0] === undefined) return undefined;
  const since = shortTime(new Date(open[0].run.at), services.now());
  return `${counted(open.length, 'change')} pending since ${since} on ${someOf(namesOf(open), 3)}`;
}

/** A text about what is pending on these devices, with the line that continues it, for `connect`. */
export async function pendingOn(
  services: Services,
  devices: readonly DeviceRef[],
): Promise<string | undefined> {
  const { open } = await readPending(services);
  const here = open.filter((one) => devices.some((device) => isOn(one, device)));
  const [first] = here;
  if (first === undefined) return undefined;
  const since = zonedTime(first.run.at, services.now());
  const more = here.length > 1 ? ` and ${here.length - 1} more` : '';
  return `pending on ${someOf(namesOf(here))}: ${changeText(first)}${more} · since ${since}: "resume"`;
}

/** The runs with something to do, those that were interrupted first, else the oldest. */
export function byRun(open: readonly Pending[]): readonly string[] {
  const runs = [...new Map(open.map(({ run }) => [run.run, run])).values()];
  const inOrder = [...runs.filter(({ isOpen }) => isOpen), ...runs.filter(({ isOpen }) => !isOpen)];
  return inOrder.map(({ run }) => run);
}
