import {
  type Debt,
  debtsOf,
  type DebtState,
  maskedFields,
  namesOf,
  type RunTrace,
  type StoppedRun,
  stoppedRuns,
} from '../../change/debts.ts';
import { journalLine } from '../../change/journal.ts';
import { recordName } from '../../change/plan.ts';
import { type DeviceRef, grouped } from '../../device/record.ts';
import { NotFoundError, UsageError } from '../../errors.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { shortTime, zonedTime } from '../../text/time.ts';
import type { Call } from '../command.ts';
import { info, type Output, success, table, warning } from '../output.ts';
import type { Services } from '../services.ts';
import { readTraces, readTracesAt } from './run-traces.ts';

export interface OpenDebt {
  readonly debt: Debt;
  readonly state: DebtState;
}

interface Debts {
  /** Not closed, the oldest first. */
  readonly open: readonly OpenDebt[];
  readonly closed: readonly OpenDebt[];
  readonly stopped: readonly StoppedRun[];
  readonly unreadable: readonly string[];
}

/** As they were at `time` (ISO 8601, UTC; default: now). */
export async function readDebts(services: Services, time?: string): Promise<Debts> {
  const { traces, unreadable } = await (time === undefined
    ? readTraces(services)
    : readTracesAt(services, time));
  if (traces.length === 0) return { open: [], closed: [], stopped: [], unreadable };
  const known = await services.inventory.load();
  const all = debtsOf(traces, ({ name, address }) => {
    const isListed = known.find(name) ?? known.findByAddress(address);
    return isListed !== undefined || known.devices.length === 0 || address.startsWith(name);
  });
  const isClosed = ({ state }: OpenDebt): boolean => state.kind === 'closed';
  const open = all.filter((one) => !isClosed(one));
  return { open, closed: all.filter(isClosed), stopped: stoppedRuns(traces), unreadable };
}

/** The open debts that the line selects by ID and `--on`. */
export async function selectedDebts(
  call: Call<'on'>,
): Promise<Debts & { readonly id?: string | undefined }> {
  const id = call.args.optional('ID');
  const debts = await readDebts(call.shell.services);
  const isNamed = await call.namedByOn();
  const isSelected = (run: RunTrace, device: DeviceRef): boolean =>
    (id === undefined || run.run === id) && isNamed(device);
  const open = debts.open.filter(({ debt: { run, device } }) => isSelected(run, device));
  const stopped = debts.stopped.flatMap(({ run, devices }) => {
    const selected = devices.filter((device) => isSelected(run, device));
    return selected.length === 0 ? [] : [{ run, devices: selected }];
  });
  if (id !== undefined && open.length + stopped.length === 0) {
    const { closed } = debts;
    const why = new Set(
      closed.flatMap(({ debt, state }) =>
        debt.run.run === id && state.kind === 'closed' ? state.why : [],
      ),
    );
    throw new NotFoundError(
      `run ${id} owes nothing${why.size > 0 ? `: ${[...why].join(', ')}` : ''}; "owed" lists what is owed`,
    );
  }
  return { ...debts, open, stopped, id };
}

export function* unreadableWarning({ unreadable }: Debts): Generator<Output> {
  if (unreadable.length === 0) return;
  yield warning(`what runs with unreadable journals owe is unknown: ${someOf(unreadable)}`);
}

/** `owed`: one row for each run and change, with its devices. */
export async function* listOwed(call: Call<'on'>): AsyncGenerator<Output> {
  const debts = await selectedDebts(call);
  yield* unreadableWarning(debts);
  const rows = grouped(debts.open, ({ debt, state }) =>
    JSON.stringify([debt.run.run, textOf(debt), debt.cause, state]),
  );
  const stopped = debts.stopped.map(({ run, devices }) => ({
    id: run.run,
    since: run.at,
    devices: devices.map(({ name }) => name),
    change: 'not reached',
    cause: null,
    state: `stopped early: "resume ${run.run}"`,
    command: run.command,
  }));
  yield table(
    'owed',
    [
      ...['id', 'since', 'devices', 'change', 'cause', 'state'],
      { key: 'command', title: 'COMMAND', isExtra: true },
    ],
    [
      ...stopped,
      ...[...rows.values()].map((group) => {
        const [{ debt, state }] = group;
        return {
          id: debt.run.run,
          since: debt.run.at,
          devices: group.map(({ debt: { device } }) => device.name),
          change: textOf(debt),
          cause: debt.cause,
          state:
            state.kind === 'unconfirmed'
              ? `sent by run ${state.run}, not confirmed: "resume ${state.run}"`
              : wayOf(debt),
          command: debt.run.command,
        };
      }),
    ],
  );
  if (rows.size + stopped.length === 0) yield info(nothingOwed(call));
}

export function textOf({ action, resource, key }: Debt): string {
  return `${action} ${recordName({ resource, key })}`;
}

function wayOf({ change, run }: Debt): string {
  if (change === undefined) {
    const isPruning = / --prune(?: |$)/.test(run.command);
    return `repeat the line of the run${isPruning ? ', which also deletes what is not in the file' : ''}`;
  }
  const masked = maskedFields(change);
  return masked.length > 0 ? `needs ${masked.join(', ')}` : 'open';
}

/** Other devices may be owed something. */
export function nothingOwed({ options: { on } }: Call<'on'>): string {
  return `nothing is owed${on.length === 0 ? '' : ' to the named devices'}`;
}

/** `owed drop`: a line in the journal of the run. */
export async function* dropOwed(call: Call<'on' | 'reason'>): AsyncGenerator<Output> {
  const { reason } = call.options;
  const { services } = call.shell;
  if (reason === undefined)
    throw new UsageError('drop needs --reason TEXT: it is kept in the journal');
  const release = await services.runs.holdDebts();
  try {
    const { open, stopped, id = '' } = await selectedDebts(call);
    const left = [...open.map(({ debt }) => debt.device), ...stopped.flatMap((one) => one.devices)];
    const devices = new Map(left.map(({ address, name }) => [address, name]));
    const file = await services.runs.resume(id);
    try {
      const at = services.now().toISOString();
      const on = [...devices.keys()];
      await file.append(journalLine({ kind: 'drop', at, by: services.operator, reason, on }));
    } finally {
      await file.close();
    }
    yield success(`run ${id} owes nothing more to ${someOf([...devices.values()])}`);
  } finally {
    await release();
  }
}

/** Open debts; of these devices, if any are given. */
async function openDebts(services: Services, devices?: readonly DeviceRef[]): Promise<Debt[]> {
  const { open } = await readDebts(services);
  const debts = open.map(({ debt }) => debt);
  return debts.filter((debt) => devices?.some((one) => isOwedTo(debt, one)) !== false);
}

function isOwedTo({ device }: Debt, { name, address }: DeviceRef): boolean {
  return name === device.name || address === device.address;
}

/** The number of changes that each of these devices still gets, by name. */
export async function owedCounts(
  services: Services,
  devices: readonly DeviceRef[],
): Promise<ReadonlyMap<string, number>> {
  const debts = await openDebts(services, devices);
  const counts = devices.map(
    (device) => [device.name, debts.filter((debt) => isOwedTo(debt, device)).length] as const,
  );
  return new Map(counts.filter(([, count]) => count > 0));
}

/** For a session that starts: all that is owed. */
export async function owedSummary(services: Services): Promise<string | undefined> {
  const debts = await openDebts(services);
  if (debts[0] === undefined) return undefined;
  const since = shortTime(new Date(debts[0].run.at), services.now());
  return `${counted(debts.length, 'change')} owed to ${someOf(namesOf(debts), 3)} since ${since}`;
}

/** For `connect`: what is owed to these devices, and the line that settles it. */
export async function owedTo(
  services: Services,
  devices: readonly DeviceRef[],
): Promise<string | undefined> {
  const debts = await openDebts(services, devices);
  if (debts[0] === undefined) return undefined;
  const since = zonedTime(debts[0].run.at, services.now());
  const more = debts.length > 1 ? ` and ${debts.length - 1} more` : '';
  return `owed to ${someOf(namesOf(debts))}: ${textOf(debts[0])}${more} · since ${since}: "owed settle"`;
}
