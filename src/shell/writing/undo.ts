import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../../output/sentences.ts';
import { isAbout, isGood } from '../../change/verdict.ts';
import { allowHint } from '../../change/allow.ts';
import type { Add, Change } from '../../change/change.ts';
import {
  accountRemarks,
  closeAccounts,
  type ClosedAccounts,
  foldedRemarks,
  missingFields,
} from '../../change/closed-accounts.ts';
import { firstOf, namesOf, pendingIn, traceOf } from '../../change/pending.ts';
import type { Run } from '../../change/journal.ts';
import { meantBy } from '../../change/lineage.ts';
import { History } from '../../history/history.ts';
import { type Plan, stepCount } from '../../change/plan.ts';
import {
  changedDevices,
  endedAccess,
  hadNoEffect,
  mayHaveErased,
  rawRequests,
  type UndoContext,
  undoOf,
} from '../../change/undo.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { RejectedError } from '../../device/errors.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { valueText } from '../../device/record.ts';
import { isSecretField } from '../../device/sensitive-fields.ts';
import { CancelledError, DevshError, NotFoundError, RefusedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { someOf } from '../../text/one-line.ts';
import { quoteWord } from '../../text/words.ts';
import { assignmentWord } from '../arguments.ts';
import type { WriteCall } from '../command.ts';
import { profileOf } from '../access/access.ts';
import { type Output, warning, info, success } from '../output.ts';
import { type DeviceNow, devicesNow } from './device-now.ts';
import { laterRuns, loadRun, wholeRun } from './stored-runs.ts';
import { checkOwner, selectedDevices, newestRun, runText } from './newest-run.ts';
import { refuseOwnAccountWord } from './consent.ts';
import { write, type WriteIntent } from './write.ts';

/** `undo`: undoes the named run, else the newest that changed the selected devices, as one with all that continue it. */
export async function* undoRun(call: WriteCall): AsyncGenerator<Output> {
  refuseOwnAccountWord(call);
  const { services } = call.shell;
  const id = call.args.optional('RUN');
  if (id !== undefined) {
    const run = await wholeRun(services, firstOf(await loadRun(services, id)));
    yield* executeUndo(call, { run, description: runText(run) });
    return;
  }
  const selection = await selectedDevices(call);
  const skipped = new Set<string>();
  for (;;) {
    const found = await newestRun(services, selection.addresses, skipped);
    if (found === undefined) {
      const hint = await hintAt(call, undefined, skipped, 'other devices');
      const what = `no run has changed ${selection.text}${hint}`;
      throw new NotFoundError(`there is nothing to undo: ${what}`);
    }
    yield* checkOwner(call, found, `the newest run that changed ${selection.text}`);
    const { owner } = found;
    const run = await wholeRun(services, firstOf(found.run));
    const undone = {
      ...{ run, description: runText(run, owner) },
      ...{ only: selection.addresses, isDoubtful: hadNoEffect(run) },
    };
    if (yield* executeUndo(call, undone)) return;
    skipped.add(found.run.run);
  }
}

/** The newest run that changed these devices (undefined: any): it may be the intended one. */
async function hintAt(
  { shell: { services } }: WriteCall,
  addresses: ReadonlySet<string> | undefined,
  without: ReadonlySet<string>,
  devices: string,
): Promise<string> {
  const other = await newestRun(services, addresses, without);
  if (other === undefined) return '';
  const { run, command } = other.run;
  return `; the newest one that changed ${devices}: "undo ${run}" (${command})`;
}

interface Undone {
  readonly run: Run;
  /** Names the run to the user before any question; absent if devsh undoes its own run. */
  readonly description?: string;
  /** The addresses of the selected devices. */
  readonly only?: ReadonlySet<string> | undefined;
  /** The run is skipped if the devices show no effect of it. */
  readonly isDoubtful?: boolean;
}

type UndoPlace = UndoContext & DeviceNow;

/** Plans and applies the undo of a run. Returns false if it was skipped. */
async function* executeUndo(call: WriteCall, undone: Undone): AsyncGenerator<Output, boolean> {
  const { run, description, only, isDoubtful = false } = undone;
  const { services } = call.shell;
  const places = (await devicesNow(services, run.plan.devices)).filter(
    ({ then, ref }) => only?.has(then.address) !== false || only.has(ref.address),
  );
  const sessions = await call.sessionsAt(places.map(({ ref }) => ref));
  const later = await laterRuns(services, run.run);
  const contexts = new Map<string, UndoPlace>();
  for (const { entry } of sessions) {
    const profile = await profileOf(services, entry);
    const goneAt = new History(await call.shell.readings()).goneAt(entry.name, profile);
    for (const place of places.filter(({ ref }) => ref.address === entry.address)) {
      contexts.set(place.then.address, {
        ...{ ...place, profile },
        meantBy: (device, { resource, meant }, left, at) => ({
          ...meantBy(later, { device, resource, profile, goneAt, doubt: place.doubt }, left, at),
          isKeyShared: meant?.isKeyShared,
        }),
      });
    }
  }
  yield* cannotComeBack(run, only);
  const { length: rawCount } = rawRequests(run);
  if (changedDevices(run).length === 0 || rawCount > 0) throw await nothingToUndo(call, run);
  const notice = noticeOf(undone, sessions);
  const { changes, losses, unsure } = changesOf(call, undone, contexts);
  for (const text of notice) yield { ...info(text), settles: true };
  const lineFor = linesWithSecrets(call, sessions, { text: run.run, time: Date.parse(run.at) });
  if (description !== undefined) await refuseOpenAccounts(call, unsure, lineFor);
  for (const loss of losses) yield warning(loss);
  const age = description === undefined ? 'way back' : 'older';
  let isSkipped = false;
  const review: WriteIntent['review'] = function* (plan) {
    const results = plan.devices.flatMap(({ settled }) => settled);
    const isIdle = stepCount(plan) === 0 && plan.devices.every(({ error }) => error === undefined);
    if (isDoubtful && isIdle && results.every(({ verdict }) => verdict === 'unchanged')) {
      yield info(`devsh skipped run ${run.run}, of which it sees no effect`);
      isSkipped = true;
      return undefined;
    }
    // An automatic undo asks for no reason, so it takes that of the run.
    const reason = age === 'way back' ? run.reason : undefined;
    // On devices whose state is unknown, pending changes of the run stay pending.
    const open = new Set(
      results.flatMap(({ verdict, device }) => (verdict === 'unknown' ? device.address : [])),
    );
    const settled = sessions.filter(({ ref }) => !open.has(ref.address));
    const undoes = { run: run.run, on: undoneOn(call, undone, settled) };
    return { plan: { ...plan, reason, undoes }, details: [...notice, ...losses] };
  };
  const wanted = ({ ref }: DeviceSession): readonly Change[] => changes.get(ref.address) ?? [];
  const concerned = sessions.filter(({ entry }) => changes.has(entry.address));
  yield* namingLines(write(call, { sessions: concerned, wanted, age, review }), lineFor);
  return !isSkipped;
}

function* cannotComeBack(run: Run, only: Undone['only']): Generator<Output> {
  const ended = endedAccess(run);
  if (ended > 0) yield warning(`ended sessions and tokens do not come back: ${ended}`);
  const doubtful = mayHaveErased(run, only);
  if (doubtful.length > 0) {
    yield warning(`what the run may have erased does not come back: ${someOf(doubtful)}`);
  }
}

function noticeOf(
  { run, description }: Undone,
  sessions: readonly DeviceSession[],
): readonly string[] {
  const undone = new Set(sessions.map(({ ref }) => ref.address));
  const owing = pendingIn(traceOf(run)).filter(({ device }) => undone.has(device.address));
  const names = someOf(namesOf(owing));
  return [
    ...(description === undefined ? [] : [`undoes ${description}`]),
    ...(owing.length === 0 ? [] : [`once undone, nothing of it is pending on ${names}`]),
  ];
}

/** The changes that undo the run, by address. Throws a `RefusedError` if the run changed none of the named devices. */
function changesOf(
  call: WriteCall,
  { run, description }: Undone,
  contexts: ReadonlyMap<string, UndoPlace>,
) {
  const undos = undoOf(run, ({ address }) => contexts.get(address));
  const selected = undos.flatMap((one) => {
    const context = contexts.get(one.device.address);
    return context === undefined ? [] : [{ ...one, context }];
  });
  if (selected.length === 0) {
    const names = someOf(changedDevices(run).map(({ name }) => name));
    throw new RefusedError(`run ${run.run} changed ${names}, but none of the named devices`);
  }
  const { allow } = call.options;
  const ways = selected.map(({ changes, context: { profile, ref } }) => {
    const agreed = { changes, closed: [], open: new Map() };
    return { device: ref, ...(allow.has('loss') ? agreed : closeAccounts(changes, profile)) };
  });
  const losses = foldedRemarks(ways.flatMap((way) => accountRemarks(way.device.name, way)));
  const changes = new Map(
    ways.map(({ device, changes: all, open }) => {
      // An automatic undo omits changes that need the user's consent.
      const agreed =
        description === undefined
          ? all.filter((change) => change.action !== 'add' || !open.has(change))
          : all;
      return [device.address, allow.has('drift') ? agreed.map(withoutExpectation) : agreed];
    }),
  );
  const unsure = ways.map((accounts) => ({ name: accounts.device.name, accounts }));
  return { changes, losses, unsure };
}

/** The addresses where the run counts as undone. The undo of an undo also makes pending again what that undo closed. */
function undoneOn(
  call: WriteCall,
  { run, only }: Undone,
  sessions: readonly DeviceSession[],
): readonly string[] {
  const cancelled = call.options.on.length > 0 ? [] : (run.plan.undoes?.on ?? []);
  return [
    ...sessions.map(({ ref }) => ref.address),
    ...cancelled.filter((address) => only?.has(address) !== false),
  ];
}

async function nothingToUndo(call: WriteCall, run: Run): Promise<RefusedError> {
  const addresses = new Set(run.plan.devices.map(({ device }) => device.address));
  const hint = await hintAt(call, addresses, new Set([run.run]), 'its devices');
  const [raw] = rawRequests(run);
  const why =
    raw === undefined
      ? `run ${run.run} changed nothing: there is nothing to undo`
      : `run ${run.run} sent ${raw}; devsh does not know what it did, and cannot take it back`;
  return new RefusedError(why + hint);
}

type Again = Pick<Add, 'resource' | 'fields' | 'lost'>;

/** Makes the line that adds a record again, with `…` for each value that devsh does not know. */
type LineFor = (device: string, add: Again) => Promise<string>;

/** `user restore bob password=… --at RUN`, or `user add …` with all fields if there is no reading of that time. */
export function linesWithSecrets(
  call: WriteCall,
  sessions: readonly DeviceSession[],
  at: { readonly text: string; readonly time: number },
): LineFor {
  return async (device, { resource, fields, lost = {} }) => {
    const session = sessions.find(({ ref }) => ref.name === device);
    const profile = session
      ? await profileOf(call.shell.services, session.entry)
      : documentedProfile;
    const key = valueText(fields[keyFieldOf(profile, resource, [fields])]);
    const missing = missingFields(profile, resource, fields);
    const secrets = [...new Set([...missing, ...Object.keys(lost).filter(isSecretField)])];
    const given = (secrets.length > 0 ? secrets : ['password']).map((field) => `${field}=…`);
    const history = new History(await call.shell.readings());
    const past = history.stateAt(device, resource, at.time);
    const all = Object.entries(fields).flatMap(
      ([field, value]) => assignmentWord(field, value) ?? [],
    );
    const words =
      past instanceof DevshError
        ? ['add', ...all, ...given]
        : ['restore', quoteWord(key), ...given, '--at', quoteWord(at.text)];
    return [resource, ...words, '--on', device].join(' ');
  };
}

/** If a device rejects a record without its secrets, adds the line in which the user can give them. */
export async function* namingLines(
  outputs: AsyncIterable<Output>,
  lineFor: LineFor,
): AsyncGenerator<Output> {
  let plan: Plan | undefined;
  for await (const output of outputs) {
    yield output;
    if (output.kind === 'plan') plan = output.plan;
    if (output.kind !== 'result' || !(output.result.error instanceof RejectedError)) continue;
    const { device, action, key, resource } = output.result;
    const step = plan?.devices
      .find((one) => one.device.name === device.name)
      ?.steps.find((one) => isAbout(one, output.result));
    const { effects: { lost = {} } = {}, asked: fields = {} } = step ?? {};
    if (action !== 'add' || !Object.keys(lost).some(isSecretField)) continue;
    const line = await lineFor(device.name, { resource, fields, lost });
    yield warning(`"${line}" gives what devsh does not know of ${key}`);
  }
}

/** With `--yes`, throws a `RefusedError` for records without a required field, or with an empty or default password. */
export async function refuseOpenAccounts(
  call: WriteCall,
  unsure: readonly { readonly name: string; readonly accounts: ClosedAccounts | undefined }[],
  lineFor?: LineFor,
): Promise<void> {
  const [first] = unsure.flatMap(({ name, accounts }) =>
    [...(accounts?.open ?? [])].map(([add, reason]) => ({ name, add, reason })),
  );
  const { yes, dryRun } = call.options;
  if (first === undefined || !yes || dryRun) return;
  const { name, add, reason } = first;
  const line = await lineFor?.(name, add);
  const way = line === undefined ? '' : `"${line}" gives it, or `;
  throw new RefusedError(`${textOf(reason)}; ${way}${allowHint('loss')}; nothing was sent`);
}

/** `--allow drift`: also undoes changes to records that another user has changed since. */
function withoutExpectation(change: Change): Change {
  return change.action === 'add' ? change : { ...change, expected: undefined };
}

/** Undoes a roll-out unless confirmed in time, at once if cancelled. Works only while devsh runs, and says so. */
export async function* confirmOrRevert(
  call: WriteCall,
  rollOut: AsyncGenerator<Output>,
  limitMs: number,
): AsyncGenerator<Output> {
  let cancelled: CancelledError | undefined;
  let runId: string | undefined;
  try {
    for await (const output of rollOut) {
      if (output.kind === 'result') runId = output.run;
      yield output;
    }
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    cancelled = error;
  }
  if (runId !== undefined) yield* keepOrRevert(call, runId, limitMs, cancelled);
  if (cancelled !== undefined) throw cancelled;
}

async function* keepOrRevert(
  call: WriteCall,
  runId: string,
  limitMs: number,
  cancelled: CancelledError | undefined,
): AsyncGenerator<Output> {
  const run = await loadRun(call.shell.services, runId);
  if (changedDevices(run).length === 0) return;
  const seconds = Math.round(limitMs / 1000);
  if (cancelled === undefined) {
    const text =
      `run ${runId} is undone in ${seconds} s unless you confirm; ` +
      'this works only while devsh runs';
    yield warning(text);
    if (await isConfirmedInTime(call, seconds, limitMs)) {
      yield success(`confirmed: the changes of run ${runId} stay`);
      return;
    }
  }
  const why = cancelled === undefined ? 'you did not confirm' : 'cancelled';
  yield warning(`${why}: undoing run ${runId}`);
  let isUndone = true;
  for await (const output of executeUndo(call.nestedYes(), { run })) {
    if (output.kind === 'result' && !isGood(output.result)) isUndone = false;
    yield output;
  }
  // The requested change is not in place; if the undo failed, too, its verdicts set the exit code.
  if (call.io.signal.aborted) throw cancelled ?? new CancelledError('cancelled: undone');
  if (isUndone) {
    throw new RefusedError(`you did not confirm in time: devsh undid run ${runId}`);
  }
}

async function isConfirmedInTime(
  call: WriteCall,
  seconds: number,
  limitMs: number,
): Promise<boolean> {
  const { ask, signal } = call.io;
  if (signal.aborted) return false;
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const late = sleep(limitMs, undefined, { signal: ended }).catch(() => undefined);
  const question = {
    kind: 'confirm' as const,
    text: `Keep the changes? Type keep within ${seconds} s:`,
    expected: 'keep',
    until: over.signal,
  };
  // Without a user to ask, only the time limit counts.
  const asked = ask === undefined ? late : ask(question);
  const answer = await Promise.race([asked, late]);
  over.abort();
  return answer === 'keep';
}
