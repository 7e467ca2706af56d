import type { Change } from '../../change/change.ts';
import {
  type Debt,
  debtsOf,
  type DebtState,
  maskedFields,
  namesOf,
  type StoppedRun,
  stoppedRuns,
} from '../../change/debts.ts';
import { allowHint } from '../../change/allow.ts';
import { journalLine, type Run } from '../../change/journal.ts';
import { isUnreachable, type Plan, recordName } from '../../change/plan.ts';
import { parseJournal } from '../../change/read-journal.ts';
import { adoptedJournal, readResult } from '../../change/result-file.ts';
import { pause } from '../../change/run-step.ts';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { type DeviceRef, grouped } from '../../device/record.ts';
import {
  CancelledError,
  DevshError,
  NotFoundError,
  RefusedError,
  UsageError,
} from '../../errors.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { shortTime } from '../../text/time.ts';
import type { Call, WriteCall } from '../command.ts';
import { type ErrorOutput, info, type Output, success, table, warning } from '../output.ts';
import type { Services } from '../services.ts';
import { planFleet, refuseReadOnly, writePlan } from './write.ts';

interface OpenDebt {
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

/** A journal without this text left no debt; with a debt only journals that name its device matter. */
const MAY_OWE = '"code":"unreachable"';

/** Derived from all journals. */
export async function readDebts({ runs, inventory }: Services): Promise<Debts> {
  const named = new Set<string>();
  const parsed: Run[] = [];
  const unreadable: string[] = [];
  for (const id of (await runs.ids()).reverse()) {
    const text = (await runs.read(id)) ?? '';
    const mayOwe = text.includes(MAY_OWE);
    if (!mayOwe && ![...named].some((one) => text.includes(one))) continue;
    try {
      const run = parseJournal(text, runs.path(id));
      parsed.push(run);
      if (!mayOwe) continue;
      // As debtsOf: a device that moved to another address is still the same.
      for (const { device } of run.plan.devices) {
        for (const one of [device.address, device.name]) named.add(JSON.stringify(one));
      }
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      unreadable.push(id);
    }
  }
  if (parsed.length === 0) return { open: [], closed: [], stopped: [], unreadable };
  const known = await inventory.load();
  const all = debtsOf(parsed, ({ name, address }) => {
    const isListed = known.find(name) ?? known.findByAddress(address);
    return isListed !== undefined || known.devices.length === 0 || address.startsWith(name);
  });
  const isClosed = ({ state }: OpenDebt): boolean => state.kind === 'closed';
  const open = all.filter((one) => !isClosed(one));
  return { open, closed: all.filter(isClosed), stopped: stoppedRuns(parsed), unreadable };
}

/** The open debts that the line selects by ID and `--on`. */
async function selectedDebts(
  call: Call<'on'>,
): Promise<Debts & { readonly id?: string | undefined }> {
  const id = call.args.optional('ID');
  const debts = await readDebts(call.shell.services);
  const { on } = call.options;
  const named = on.length === 0 ? undefined : await call.resolve(on);
  const isSelected = (run: Run, device: DeviceRef): boolean =>
    (id === undefined || run.run === id) &&
    named?.some(({ ref }) => ref.address === device.address || ref.name === device.name) !== false;
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

function* unreadableWarning({ unreadable }: Debts): Generator<Output> {
  if (unreadable.length === 0) return;
  yield warning(`what runs with unreadable journals owe is unknown: ${someOf(unreadable)}`);
}

/** `owed`: one row for each run and change, with its devices. */
export async function* listOwed(call: Call<'on'>): AsyncGenerator<Output> {
  const debts = await selectedDebts(call);
  yield* unreadableWarning(debts);
  const rows = grouped(debts.open, ({ debt, state }) =>
    JSON.stringify([debt.run.run, textOf(debt), state]),
  );
  const stopped = debts.stopped.map(({ run, devices }) => ({
    id: run.run,
    since: run.at,
    devices: devices.map(({ name }) => name),
    change: 'not reached',
    state: `stopped early: "resume ${run.run}"`,
    command: run.command,
  }));
  yield table(
    'owed',
    [
      'id',
      'since',
      'devices',
      'change',
      'state',
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
          state:
            state.kind === 'unconfirmed'
              ? `sent by run ${state.run}, not confirmed: "resume ${state.run}"`
              : wayOf(debt),
          command: debt.run.command,
        };
      }),
    ],
  );
  if (rows.size + stopped.length === 0) yield info('nothing is owed');
}

function textOf({ action, resource, key }: Debt): string {
  return `${action} ${recordName({ resource, key })}`;
}

function wayOf({ change }: Debt): string {
  if (change === undefined) return 'repeat the line of the run';
  const masked = maskedFields(change);
  return masked.length > 0 ? `needs ${masked.join(', ')}` : 'open';
}

/** `owed settle`: one ordinary run for each round; a record with several debts takes as many rounds. */
export async function* settleOwed(call: WriteCall & Call<'wait'>): AsyncGenerator<Output> {
  refuseReadOnly(call);
  const { dryRun, asCurl, wait } = call.options;
  const isPlanOnly = dryRun || asCurl;
  if (wait && isPlanOnly) {
    throw new UsageError('--wait settles: leave it out, or leave out --dry-run and --as-curl');
  }
  const settling: Settling = { tried: new Set(), secrets: new Map() };
  let told = '';
  for (let attempt = 0; ;) {
    const release = isPlanOnly ? undefined : await call.shell.services.runs.holdDebts();
    let absent: readonly ErrorOutput[] | undefined;
    try {
      const isFirst = attempt === 0 && settling.tried.size === 0;
      absent = yield* settleRound(call, settling, isFirst);
    } finally {
      await release?.();
    }
    if (absent === undefined && !isPlanOnly) continue;
    if (!wait || absent === undefined || absent.length === 0) {
      yield* absent ?? [];
      return;
    }
    const waiting = `still owed, not reached: ${someOf(absent.map(({ device }) => device?.name ?? ''))}`;
    if (waiting !== told)
      yield info(`${waiting}; devsh tries again until they answer (Ctrl-C ends)`);
    told = waiting;
    const seconds = nextPause(attempt++);
    const text = `${waiting}; next try in ${Math.ceil(seconds)} s`;
    yield { kind: 'progress', done: 0, total: 0, text };
    await pause(seconds * 1000, call.io.signal);
    if (call.io.signal.aborted) throw new CancelledError(`cancelled: ${waiting}`);
  }
}

/** What lasts from one round to the next. */
interface Settling {
  /** The debts whose device answered: they are not tried twice. */
  readonly tried: Set<string>;
  readonly secrets: Map<string, string>;
}

function idOf({ run, device: { address }, resource, key, action }: Debt): string {
  return JSON.stringify([run.run, address, resource, key, action]);
}

interface DueDebt extends Debt {
  readonly change: Change;
  /** The address of the device now. */
  readonly at: string;
}

/**
 * Settles the oldest debt of each record. Returns the devices that could not be reached; undefined if
 * another round may settle more.
 */
async function* settleRound(
  call: WriteCall,
  { tried, secrets }: Settling,
  isFirst: boolean,
): AsyncGenerator<Output, readonly ErrorOutput[] | undefined> {
  const debts = await selectedDebts(call);
  if (isFirst) {
    yield* unreadableWarning(debts);
    for (const { run, devices } of debts.stopped) {
      const names = someOf(devices.map(({ name }) => name));
      yield info(`run ${run.run} stopped early before ${names}: "resume ${run.run}" continues it`);
    }
    if (debts.open.length + debts.stopped.length === 0) yield info('nothing is owed');
  }
  const oldest = [
    ...new Map(
      debts.open.toReversed().map((one) => {
        const { device, resource, key } = one.debt;
        return [JSON.stringify([device.address, resource, key]), one];
      }),
    ).values(),
  ].reverse();
  let due: DueDebt[] = [];
  for (const { debt, state } of oldest.filter((one) => !tried.has(idOf(one.debt)))) {
    try {
      const at = await placeOf(call, debt, state);
      due.push({ ...debt, at, change: await completed(call, debt, secrets) });
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      tried.add(idOf(debt));
      yield { kind: 'error', error, device: debt.device };
    }
  }
  if (due.length === 0) return [];
  const refs = new Map(due.map(({ device, at: address }) => [address, { ...device, address }]));
  const sessions = await call.sessionsAt([...refs.values()]);
  const planDue = () => {
    const byPlace = grouped(due, ({ at }) => at);
    return planFleet(call, sessions, ({ ref }) =>
      (byPlace.get(ref.address) ?? []).map(({ change }) => change),
    );
  };
  let plan: Plan;
  try {
    plan = yield* planDue();
  } catch (error) {
    if (!(error instanceof UsageError) || due.length === 1) throw error;
    // Two debts are for one record, by its key and by its id: one after the other.
    const newest = due.toSorted((a, b) => (a.run.run < b.run.run ? 1 : -1));
    due = [...new Map(newest.map((one) => [one.at, one])).values()];
    plan = yield* planDue();
  }
  const absent = new Map<string, ErrorOutput>();
  for (const { device, error } of plan.devices) {
    if (error === undefined) continue;
    const failure: ErrorOutput = { kind: 'error', error, device };
    if (isUnreachable({ error })) absent.set(device.address, failure);
    else yield failure;
  }
  for (const debt of due) if (!absent.has(debt.at)) tried.add(idOf(debt));
  const devices = plan.devices.filter(({ error }) => error === undefined);
  if (devices.length === 0) return [...absent.values()];
  const answered = new Set(devices.map(({ device }) => device.address));
  const here = due.filter(({ at }) => answered.has(at));
  const settles = [...new Set(here.map(({ run }) => run.run))];
  const reasons = new Set(here.map(({ run }) => run.reason));
  const [reason] = reasons.size === 1 ? reasons : [];
  yield* writePlan(
    call,
    { ...plan, devices, settles, reason },
    sessions.filter(({ ref }) => answered.has(ref.address)),
    settles.map((run) => `settles what run ${run} owes`),
  );
  const isDone = debts.open.every(
    ({ debt }) => tried.has(idOf(debt)) || absent.has(debt.device.address),
  );
  return isDone ? [...absent.values()] : undefined;
}

/** The address of a debt's device. Throws a `RefusedError` if the debt must not be settled without being asked about. */
async function placeOf(
  { shell, options: { allow } }: WriteCall,
  debt: Debt,
  state: DebtState,
): Promise<string> {
  const { run, device, change } = debt;
  const what = `${device.name}: ${textOf(debt)} of run ${run.run}`;
  if (state.kind === 'unconfirmed') {
    throw new RefusedError(
      `${what} was sent and not confirmed: "resume ${state.run}" finds out by reading`,
    );
  }
  if (change === undefined) {
    throw new RefusedError(
      `${what} can only be planned by its line: repeat it with --on ${device.name}, then "owed drop ${run.run} --on ${device.name} --reason TEXT" (${run.command})`,
    );
  }
  const entry = (await shell.services.inventory.load()).find(device.name);
  const address = entry === undefined ? device.address : formatAddress(parseAddress(entry.address));
  if (allow.has('drift')) return address;
  if (address !== device.address) {
    throw new RefusedError(
      `${what} was meant for ${device.address}, and ${device.name} is at ${address} now; ${allowHint('drift')}`,
    );
  }
  const pin = await shell.services.knownDevices.find(address);
  if (pin !== undefined && pin.firstSeen > run.at) {
    throw new RefusedError(
      `${what} arose before the certificate of ${device.name} was accepted (${pin.firstSeen}), so it may be another device; ${allowHint('drift')}`,
    );
  }
  return address;
}

/** The change with the secrets that the journal does not keep. Throws a `RefusedError` without them. */
async function completed(
  { io, options: { allow, dryRun, asCurl } }: WriteCall,
  { run, device, change, ...record }: Debt,
  secrets: Map<string, string>,
): Promise<Change> {
  if (change === undefined) throw new RefusedError(`${device.name}: no change is known`);
  if (change.action === 'delete')
    return allow.has('drift') ? { ...change, expected: undefined } : change;
  let fields = change.fields;
  for (const field of maskedFields(change)) {
    const name = `${field} of ${recordName(record)}`;
    const id = JSON.stringify([run.run, name]);
    const isAsked = typeof fields[field] === 'string' && !dryRun && !asCurl;
    const value =
      secrets.get(id) ??
      (isAsked
        ? await io.ask?.({ kind: 'secret', text: `${name}, for run ${run.run}:` })
        : undefined);
    if (value === undefined) {
      const verb = `${record.resource} ${record.action}`;
      throw new RefusedError(
        `${device.name}: ${name} is secret, so no journal has it: settle on a terminal, which asks for it, or repeat "${verb}" with --on ${device.name} and then "owed drop ${run.run}"`,
      );
    }
    secrets.set(id, value);
    fields = { ...fields, [field]: value };
  }
  const whole = { ...change, fields };
  return whole.action === 'set' && allow.has('drift') ? { ...whole, expected: undefined } : whole;
}

/** Seconds: 5, 10, 20… up to five minutes, each up to a quarter shorter, so that machines do not try in step. */
export function nextPause(attempt: number, random: () => number = Math.random): number {
  return Math.min(300, 5 * 2 ** Math.min(attempt, 10)) * (1 - random() / 4);
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

/** `owed import`: keeps the journal in a result file, without the path of that file. */
export async function* importOwed(call: Call): AsyncGenerator<Output> {
  const { services } = call.shell;
  const file = call.args.required('RESULT');
  const result = readResult(await call.readText(file), file);
  const { run, plan } = result.run;
  const journal = adoptedJournal(result, { ...plan, part: undefined });
  const here = await services.runs.read(run);
  if (here === undefined) await services.runs.adopt(run, journal);
  else if (journal.length > here.length && journal.startsWith(here)) {
    const open = await services.runs.resume(run);
    try {
      await open.append(journal.slice(here.length));
    } finally {
      await open.close();
    }
  } else {
    yield info(`run ${run} is here already`);
    return;
  }
  const { open } = await readDebts(services);
  const count = open.filter(({ debt }) => debt.run.run === run).length;
  yield success(
    `kept run ${run}: ${count === 0 ? 'it owes nothing' : `${counted(count, 'change')} owed`}`,
  );
}

/** The number of changes that each of these devices still gets, by name. */
export async function owedCounts(
  services: Services,
  devices: readonly DeviceRef[],
): Promise<ReadonlyMap<string, number>> {
  const { open } = await readDebts(services);
  if (open.length === 0) return new Map();
  const counts = devices.map((device) => {
    const { length } = open.filter(({ debt }) => isOwedTo(debt, device));
    return [device.name, length] as const;
  });
  return new Map(counts.filter(([, count]) => count > 0));
}

function isOwedTo({ device }: Debt, { name, address }: DeviceRef): boolean {
  return name === device.name || address === device.address;
}

/** For a session that starts: all that is owed. */
export async function owedSummary(services: Services): Promise<string | undefined> {
  const { open } = await readDebts(services);
  const [first] = open;
  if (first === undefined) return undefined;
  const names = someOf(namesOf(open.map(({ debt }) => debt)), MOST_NAMED);
  const since = shortTime(new Date(first.debt.run.at), services.now());
  return `${counted(open.length, 'change')} owed to ${names} since ${since}`;
}

const MOST_NAMED = 3;

/** For `connect`: what is owed to these devices, and the line that settles it. */
export async function owedTo(
  services: Services,
  devices: readonly DeviceRef[],
): Promise<string | undefined> {
  const { open } = await readDebts(services);
  const owed = open.filter(({ debt }) => devices.some((one) => isOwedTo(debt, one)));
  const [first] = owed;
  if (first === undefined) return undefined;
  const names = namesOf(owed.map(({ debt }) => debt));
  const more = owed.length > 1 ? ` and ${owed.length - 1} more` : '';
  return `owed to ${someOf(names)}: ${textOf(first.debt)}${more} · since ${first.debt.run.at}: "owed settle"`;
}
