import { grantCounts } from '../../change/doubts.ts';
import { type Note, textOf } from '../../output/sentences.ts';
import { AccessError, guardPlan } from '../../change/guard.ts';
import { type Allowed, allowOption, isOwnAccountWord, OWN_ACCOUNT } from '../../change/allow.ts';
import { notCoveredBy, type Plan, recordName, stepCount } from '../../change/plan.ts';
import type { Step } from '../../change/step.ts';
import type { About } from '../../change/verdict.ts';
import { DeclinedError, RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call, WriteCall } from '../command.ts';
import { reason as parseReason } from '../grammar/option.ts';
import { confirm, labelsOf, type ShellIo } from '../session.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, type DeviceRef, grouped, valueText } from '../../device/record.ts';
import { assignmentWord } from '../arguments.ts';
import { durationText } from '../../text/time.ts';
import { maskedValue } from '../../device/sensitive-fields.ts';
import { named } from '../../change/account-harm.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import { causeText } from '../../fleet/failure-cause.ts';
/**
 * Who allows a write to an account that somebody needs. `this line`: its `--allow`, or the user's answer. `its run`:
 * devsh undoes its own run, which was allowed. `a fresh line`: for the account in use, only a new line that names it.
 */
export type AccountConsent = 'this line' | 'its run' | 'a fresh line';

/**
 * The reason of a line: `--reason`, else `before`, else the user's answer if the setting `requireReason` asks for one.
 * Throws a `RefusedError` if there is none.
 *
 * @param before the reason in the plan file or the run
 */
export async function reasonFor(
  { io, options, shell }: Call<'reason'>,
  before?: string,
): Promise<string | undefined> {
  const known = options.reason ?? before;
  if (known !== undefined || !shell.services.settings.get('requireReason')) return known;
  if (io.ask === undefined) {
    throw new RefusedError('the setting requireReason needs --reason TEXT; nothing was sent');
  }
  const answer = await io.ask({ kind: 'text', text: 'Reason for this change:' });
  if (answer === undefined || answer.trim() === '') {
    throw new DeclinedError('you gave no reason: devsh sent nothing');
  }
  return parseReason(answer);
}

export function refuseReadOnly(call: WriteCall): void {
  if (call.isReadOnly && !call.options.dryRun) {
    throw new RefusedError('read-only: nothing was sent');
  }
}

/**
 * Throws for steps that would end the access of an account that somebody needs, or lose data. At a terminal it asks
 * first whose the token is, and whether the account may lose its access.
 *
 * @returns the words of `--allow`, and those that the answers add
 */
export async function guard(
  call: WriteCall,
  plan: Plan,
  sessions: readonly DeviceSession[],
  consent: AccountConsent,
): Promise<Allowed> {
  const { allow, yes, dryRun } = call.options;
  const { ask } = call.io;
  // If nobody looks at the plan, only a word that names the account counts.
  const isNamed = ask === undefined || yes;
  let allowed: Allowed = isNamed
    ? new Set([...allow].filter((word) => word !== OWN_ACCOUNT))
    : allow;
  if (stepCount(plan) === 0) return allowed;
  for (const session of sessions) await session.ensureOpen(call.access);
  let hasNamedOwner = false;
  for (;;) {
    const error = guardPlan(plan, sessions, allowed);
    if (error === undefined) return allowed;
    if (!(error instanceof AccessError)) throw error;
    const { objection, word, device } = error;
    if (consent === 'its run') {
      allowed = new Set([...allowed, word]);
      continue;
    }
    if (consent === 'a fresh line' && isOwnAccountWord(word)) throw freshLineError(error);
    if (isNamed || dryRun) throw error;
    const { account } = objection;
    const session = sessions.find(({ ref }) => ref.address === device.address);
    if (account === undefined && session?.account === undefined && !hasNamedOwner) {
      hasNamedOwner = true;
      const text = `Whose token does devsh use on ${visible(device.name)}? Its user name:`;
      const owner = await ask({ kind: 'text', text });
      if (owner === undefined) throw new DeclinedError('you did not confirm: nothing was sent');
      nameOwner(sessions, owner.trim());
      continue;
    }
    const expected = account ?? device.name;
    const text = `${visible(device.name)}: ${textOf(objection.reason)}. Type ${named(expected)} to do it:`;
    const answer = await ask({ kind: 'confirm', text, expected });
    if (answer !== expected) throw new DeclinedError('you did not confirm: nothing was sent');
    if (account !== undefined) allowed = new Set([...allowed, word]);
    else if (session !== undefined) session.unlistedLogin = session.credential;
  }
}

/** Names the owner of all tokens whose owner is unknown, until devsh ends. */
function nameOwner(sessions: readonly DeviceSession[], owner: string): void {
  for (const session of sessions) {
    const { credential } = session;
    if (owner === '' || credential?.kind !== 'token' || credential.user !== undefined) continue;
    session.tokenOwner = owner;
  }
}

/** Refuses to write to the account in use for an older intent or a lockout, and names the line that may do it. */
function freshLineError({ device, step, objection }: AccessError): RefusedError {
  const allow = allowOption(OWN_ACCOUNT, objection.account ?? step.key);
  return new RefusedError(
    `${device.name}: ${textOf(objection.reason)}; if you mean it now: ${lineOn(device, step, step.asked)} ${allow}; nothing was sent`,
  );
}

/** `user set bob lang=de --on fw1`: the line that does this to one record. */
export function lineOn(
  { name }: DeviceRef,
  { resource, action, key }: About,
  fields: DeviceRecord,
): string {
  const words = Object.entries(action === 'delete' ? {} : fields).flatMap(
    ([field, value]) => assignmentWord(field, maskedValue(field, value)) ?? [],
  );
  const named = action === 'add' ? [] : [quoteWord(key)];
  return [resource, action, ...named, ...words, '--on', quoteWord(name)].join(' ');
}

/** Throws a `UsageError` for `--allow own-account` on a line that cannot use it: an older intent, or a lockout. */
export function refuseOwnAccountWord({ options }: Call<'allow'>): void {
  if (![...options.allow].some(isOwnAccountWord)) return;
  throw new UsageError(
    'this line has no --allow own-account: only one that names the account in use itself takes it',
  );
}

/** At most this many records are checked one by one. */
const MOST_RECORDS = 5;

/** Names other selected devices that have a record of the same name, as far as cached, if the line has `--on`. */
export function othersWithRecord(
  call: Call<'on'>,
  plan: Plan,
  sessions: readonly DeviceSession[],
): string[] {
  if (call.options.on.length === 0) return [];
  const addresses = new Set(sessions.map(({ ref }) => ref.address));
  const others = call.shell.fleet.selection.filter(({ ref }) => !addresses.has(ref.address));
  const steps = plan.devices.flatMap((device) => device.steps);
  const named = new Map(steps.map((step) => [recordName(step), step]));
  return [...named].slice(0, MOST_RECORDS).flatMap(([name, { resource, key, before }]) => {
    if (before === undefined) return [];
    const on = others.flatMap((session) => {
      const records = session.cached(resource) ?? [];
      const field = keyFieldOf(session.profile, resource, records);
      return records.some((one) => valueText(one[field]) === key) ? session.ref.name : [];
    });
    const text = `${name} also exists on ${someOf(on)} (the line without --on includes them)`;
    return on.length === 0 ? [] : [text];
  });
}

/**
 * Asks for `y` if there is one step, else for the number of steps. The plan above the question names the devices.
 * Throws a `RefusedError` if it is not confirmed.
 */
export async function confirmPlan(
  call: WriteCall,
  plan: Plan,
  warnings: readonly (Note | string)[] = [],
): Promise<void> {
  const count = stepCount(plan);
  if (count === 0) return;
  const devices = plan.devices.filter(({ steps }) => steps.length > 0);
  const names = devices.map(({ device }) => device.name);
  const steps = devices.flatMap((device) => device.steps);
  const [step] = steps;
  const absent = grouped(notCoveredBy(plan), ({ error }) => causeText(error));
  const details = [...grantCounts(steps), ...warnings].map(textOf);
  const addresses = new Set(devices.map(({ device }) => device.address));
  const used = call.shell.fleet.known.filter(({ ref }) => addresses.has(ref.address));
  const { texts, color } = labelsOf(used.map(({ entry }) => entry));
  const label = texts.map((text) => `${text}: `).join('');
  const where = whereText(names, plan.devices.length);
  const beside = [...absent].map(([cause, of]) => `, ${of.length} ${cause}`).join('');
  const time = timeText(call, devices);
  const textFor = (expected: string): string =>
    count === 1 && step !== undefined
      ? `${label}${step.action} ${recordName(step)} on ${where}? Type ${expected} to do it:`
      : `${label}${count} steps on ${where}${beside}${time}. Type ${expected} to ${deedText(steps)}:`;
  await confirm(call, count, textFor, { details, color });
}

/** The deed in a question about several steps: `do them`, `DELETE`. Deletions are in capitals. */
function deedText(steps: readonly Step[]): string {
  const deleted = steps.filter(({ action }) => action === 'delete').length;
  if (deleted === 0) return 'do them';
  return deleted === steps.length ? 'DELETE' : `do them and DELETE ${deleted}`;
}

/** Asks which of the lines the user wants, by number; resolves to their indexes. Throws a `DeclinedError`. */
export async function chooseSome(
  { ask }: ShellIo,
  what: string,
  lines: readonly string[],
): Promise<readonly number[]> {
  const details = lines.map((line, index) => `${index + 1}  ${line}`);
  const text = `${what} Their numbers, or Enter for none:`;
  const answer = await ask?.({ kind: 'text', text, details });
  if (answer === undefined) throw new DeclinedError('you did not confirm: nothing was sent');
  const words = answer.split(/[\s,]+/).filter((word) => word !== '');
  const wrong = words.find(
    (word) => !/^\d+$/.test(word) || details[Number(word) - 1] === undefined,
  );
  if (wrong === undefined) return words.map((word) => Number(word) - 1);
  throw new DeclinedError(`"${visible(wrong)}" is not one of the numbers: nothing was sent`);
}

/** A step reads, writes on a new connection and reads back: three responses, and the round trips of two handshakes. */
const RESPONSES_OF_STEP = 5;
/** The question states no time for a shorter run. */
const SHORT_MS = 30_000;

/** `, about 4 min with one device at a time`, from the last response time of each device; empty for a short run. */
function timeText({ shell, writeWidth, options }: WriteCall, devices: Plan['devices']): string {
  const sessions = new Map(shell.fleet.known.map((session) => [session.ref.address, session]));
  const eachMs = devices.map(({ device, steps }) => {
    const state = sessions.get(device.address)?.state;
    const latencyMs = state?.kind === 'ready' ? (state.latencyMs ?? 0) : 0;
    return steps.length * RESPONSES_OF_STEP * latencyMs;
  });
  const width = Math.min(writeWidth, devices.length);
  const pauses = Math.ceil(devices.length / (options.batch ?? width)) - 1;
  const allMs = eachMs.reduce((sum, ms) => sum + ms, 0) / width + pauses * (options.pauseMs ?? 0);
  if (allMs < SHORT_MS) return '';
  const at = width === 1 ? 'one device' : `${width} devices`;
  return `, about ${durationText(allMs)} with ${at} at a time`;
}

/** `fw1`, `fw1, 1 of 12 devices`, `10 of 12 devices`: the changed devices of all selected ones. */
function whereText(names: readonly string[], all: number): string {
  const of = names.length < all ? ` of ${all}` : '';
  const [only = ''] = names;
  if (names.length !== 1) return `${names.length}${of} devices`;
  return of === '' ? only : `${only}, 1${of} devices`;
}
