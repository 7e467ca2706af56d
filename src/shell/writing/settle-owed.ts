import type { Change } from '../../change/change.ts';
import { type Debt, type DebtState, isAbout, maskedFields, permitted } from '../../change/debts.ts';
import { allowHint } from '../../change/allow.ts';
import type { Mark } from '../../change/lockout.ts';
import { type Plan, recordName } from '../../change/plan.ts';
import { pause } from '../../change/run-step.ts';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { grouped, valueText } from '../../device/record.ts';
import { CancelledError, RefusedError, UsageError } from '../../errors.ts';
import { someOf } from '../../text/one-line.ts';
import { zonedTime } from '../../text/time.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import type { Call, WriteCall } from '../command.ts';
import { type ErrorOutput, info, type Output } from '../output.ts';
import { nothingOwed, selectedDebts, textOf, unreadableWarning } from './owed.ts';
import { refuseOwnAccount } from './stored-runs.ts';
import { chooseSome, planFleet, refuseReadOnly, writePlan } from './write.ts';

type SettleCall = WriteCall & Call<'wait' | 'also'>;

/** `owed settle`: one ordinary run for each round; a record with several debts takes as many rounds. */
export async function* settleOwed(call: SettleCall): AsyncGenerator<Output> {
  refuseReadOnly(call);
  const { dryRun, wait } = call.options;
  if (wait && dryRun) {
    throw new UsageError('--wait settles: leave it out, or leave out --dry-run');
  }
  const settling: Settling = { tried: new Set(), secrets: new Map() };
  let told = '';
  for (let attempt = 0; ;) {
    const release = dryRun ? undefined : await call.shell.services.runs.holdDebts();
    let absent: readonly ErrorOutput[] | undefined;
    try {
      const isFirst = attempt === 0 && settling.tried.size === 0;
      absent = yield* settleRound(call, settling, isFirst);
    } finally {
      await release?.();
    }
    if (absent === undefined && !dryRun) continue;
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
  call: SettleCall,
  { tried, secrets }: Settling,
  isFirst: boolean,
): AsyncGenerator<Output, readonly ErrorOutput[] | undefined> {
  const debts = await selectedDebts(call);
  if (isFirst) {
    const idle = call.options.also.find((one) => !debts.open.some(({ debt }) => isFor(one, debt)));
    if (idle !== undefined) {
      throw new UsageError(
        `--also ${idle.device ?? 'DEVICE'}=${idle.key}: no such change is owed; "owed" lists device and key`,
      );
    }
    for (const run of new Set(debts.open.map(({ debt }) => debt.run))) {
      await refuseOwnAccount(call, run);
    }
    yield* unreadableWarning(debts);
    for (const { run, devices } of debts.stopped) {
      const names = someOf(devices.map(({ name }) => name));
      yield info(`run ${run.run} stopped early before ${names}: "resume ${run.run}" continues it`);
    }
    if (debts.open.length + debts.stopped.length === 0) yield info(nothingOwed(call));
  }
  const ofRecord = ({ debt: { device, resource, key } }: (typeof debts.open)[number]): string =>
    JSON.stringify([device.address, resource, key]);
  const oldest = [...grouped(debts.open, ofRecord).values()].map(([first]) => first);
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
  if (due.some(({ change }) => change.action === 'set' && change.rotation !== undefined)) {
    await (await import('./kept-rotations.ts')).findLogins(call, sessions);
  }
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
  const agreed = await chosenAnyway(call, plan, due);
  if (agreed.length > 0) {
    due = due.map((one) =>
      agreed.includes(one) ? { ...one, change: permitted(one.change, true, true) } : one,
    );
    plan = yield* planDue();
  }
  const absent = new Map<string, ErrorOutput>();
  for (const { device, error } of plan.devices) {
    if (error === undefined) continue;
    const failure: ErrorOutput = { kind: 'error', error, device };
    if (error.code === 'unreachable') absent.set(device.address, failure);
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

function isFor({ device, key }: Mark, debt: Debt): boolean {
  return device === debt.device.name && key === debt.key;
}

/** The debts to settle although their records differ by now: the user chooses each. `--yes` chooses none. */
async function chosenAnyway(
  { io, options }: SettleCall,
  { devices }: Plan,
  due: readonly DueDebt[],
): Promise<readonly DueDebt[]> {
  if (io.ask === undefined || options.yes || options.dryRun) return [];
  const drifts = devices.flatMap(({ settled }) => settled.filter((one) => one.verdict === 'drift'));
  const drifted = due.flatMap((debt) => {
    const drift = drifts.find((one) => one.device.address === debt.at && isAbout(one, debt));
    return drift === undefined ? [] : [{ debt, fields: drift.differences ?? [] }];
  });
  if (drifted.length === 0) return [];
  const lines = drifted.map(({ debt, fields }) => {
    const texts = fields.map(
      ({ field, was, held }) => `${field}: ${valueText(was)} then, ${valueText(held)} now`,
    );
    return visible(`${debt.device.name}  ${textOf(debt)}: ${texts.join(', ')}`);
  });
  const chosen = await chooseSome(io, 'These differ by now. Which to change anyway?', lines);
  return drifted.flatMap(({ debt }, index) => (chosen.includes(index) ? debt : []));
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
      `${what} can only be planned by its line: repeat it with --on ${device.name}; if it changes nothing there, "owed drop ${run.run} --on ${device.name} --reason TEXT" (${run.command})`,
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
      `${what} arose before the certificate of ${device.name} was accepted (${zonedTime(pin.firstSeen)}), so it may be another device; ${allowHint('drift')}`,
    );
  }
  return address;
}

/** The change with the secrets that the journal does not keep. Throws a `RefusedError` without them. */
async function completed(
  call: SettleCall,
  debt: Debt,
  secrets: Map<string, string>,
): Promise<Change> {
  const { run, device, ...record } = debt;
  const { io, options } = call;
  if (debt.change === undefined) throw new RefusedError(`${device.name}: no change is known`);
  const isMarked = options.also.some((mark) => isFor(mark, debt));
  const mark = `--also ${quoteWord(`${device.name}=${debt.key}`)}`;
  const change = { ...permitted(debt.change, options.allow.has('drift'), isMarked), mark };
  if (change.action === 'delete') return change;
  let fields = change.fields;
  for (const field of maskedFields(change)) {
    const name = `${field} of ${recordName(record)}`;
    const id = JSON.stringify([run.run, name]);
    const isAsked = typeof fields[field] === 'string' && !options.dryRun;
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
  return { ...change, fields };
}

/** Seconds: 5, 10, 20… up to five minutes, each up to a quarter shorter, so that machines do not try in step. */
function nextPause(attempt: number): number {
  return Math.min(300, 5 * 2 ** Math.min(attempt, 10)) * (1 - Math.random() / 4);
}
