import { MASK, pluralOf } from '../text/one-line.ts';
import { Credential, type RotatedAccount, type RotatedSecrets } from '../device/credential.ts';
import { ProtocolError, RejectedError, UnauthorizedError } from '../device/errors.ts';
import type { Device } from '../device/device.ts';
import { jsonIn } from '../device/json.ts';
import { isMaskedRequest } from '../device/encode.ts';
import { passwordRequest } from '../device/rotation-request.ts';
import { type DeviceRecord, type DeviceRef, nestedValue } from '../device/record.ts';
import { DevshError, expectedError, RefusedError } from '../errors.ts';
import { withoutAsking } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { type LoginOutcome, tryLogin } from '../fleet/fresh-login.ts';
import { visible } from '../text/visible.ts';
import { foldedLook } from './account-harm.ts';
import { findRecord } from './pairing.ts';
import { isOwnRotation, losesLogin } from './guard.ts';
import type { PendingStep } from './journal.ts';
import { recordName } from './plan.ts';
import {
  nextAction,
  type RotationAction,
  type RotationEvent,
  type RotationFacts,
} from './next-action.ts';
import { StopsRunError } from './run-control.ts';
import { type DeviceWork, type Ended, pause, readResource } from './run-step.ts';
import { type FailedRequest, outcomeOf, send } from './send.ts';
import { type StepEnd, withNotes } from './verdict.ts';
import { rotationOf, type Step } from './step.ts';
import { type Note, textOf } from '../output/sentences.ts';

/** What is kept of an account, and the secret whose login was tried last, perhaps by a run that was killed. */
export type KeptSecrets = RotatedSecrets & { readonly lastTried: 'new' | 'old' | undefined };

/** The places where the secrets of a rotation are kept. All throw DevshError. */
export interface KeptRotations {
  /** The run whose pending secrets may be sent. */
  readonly run: string;
  read(account: RotatedAccount): Promise<KeptSecrets>;
  /** Called before a request leaves: keeps the secret in the second place, and records that it is sent. */
  beforeSending(device: DeviceRef, account: RotatedAccount, secret: string): Promise<void>;
  /** Called before a login with the new or the old secret. */
  trying(account: RotatedAccount, secret: 'new' | 'old'): Promise<void>;
  /** Keeps the token that a device has just made. */
  received(device: DeviceRef, account: RotatedAccount, secret: string): Promise<void>;
  promote(account: RotatedAccount, options: { readonly isLogin: boolean }): Promise<void>;
  drop(account: RotatedAccount): Promise<void>;
  /** The old secret is still in effect: the second place gets it back. */
  keepsOld(account: RotatedAccount): Promise<void>;
}

export interface RotationWork extends DeviceWork {
  readonly rotations?: KeptRotations | undefined;
}

/** One rotation under way on one device. */
interface Attempt {
  readonly step: Step;
  readonly kind: Credential['kind'];
  readonly account: RotatedAccount;
  readonly isOwn: boolean;
  readonly old: string | undefined;
  /** The new secret; empty for a token that the device has not made yet. */
  secret: string;
  readonly facts: RotationFacts;
  events: readonly RotationEvent[];
  /** Why the last request failed. */
  error?: DevshError | undefined;
}

/** Whether a device lets anyone read: then no login proves a secret. By session, because it is asked once. */
const withoutLogin = new WeakMap<object, Promise<LoginOutcome | 'forbidden'>>();

/**
 * Sets a new secret: keeps it, sends it once, and proves it by a login on a new connection. The records were
 * just read with the login in use, which is the way back.
 */
export async function rotateStep(work: RotationWork, one: PendingStep): Promise<Ended> {
  let attempt: Attempt | undefined;
  try {
    attempt = await attemptOf(work, one);
    const end = await runAttempt(work, one, attempt);
    return losesLogin(work.session, one.step, end) ? { end } : await readBack(work, one.step, end);
  } catch (error) {
    // Expected: the rotation is refused, the keychain is locked, or the disk is full.
    if (!(error instanceof DevshError)) throw error;
    const isInDoubt =
      attempt === undefined ? rotationOf(one.step)?.isSent === true : mayHaveArrived(attempt);
    if (attempt !== undefined && !isInDoubt) await work.rotations?.keepsOld(attempt.account);
    return { end: { verdict: isInDoubt ? 'unknown' : 'failed', error } };
  }
}

/** Whether a request with the new secret may have arrived: that of this attempt, or an earlier one. */
function mayHaveArrived({ facts, events }: Attempt): boolean {
  return events.some(({ kind }) => kind === 'sent') || (facts.isSent && !isOldAccepted(events));
}

function isOldAccepted(events: readonly RotationEvent[]): boolean {
  return events.some(
    (event) => event.kind === 'tried' && event.secret === 'old' && event.outcome === 'accepted',
  );
}

/** Logs in and sends until the outcome is known. */
async function runAttempt(
  work: RotationWork,
  one: PendingStep,
  attempt: Attempt,
): Promise<StepEnd> {
  for (;;) {
    const action = nextAction(attempt.facts, attempt.events);
    if (action.kind === 'end') return endOf(work, attempt, action);
    if (action.kind === 'send') await sendSecret(work, one, attempt);
    else {
      const { secret, waitMs } = action;
      // It takes no signal: devsh proves what it has sent, also after Ctrl-C.
      if (waitMs > 0) await pause(waitMs, new AbortController().signal);
      const outcome = await login(work, attempt, secret);
      attempt.events = [...attempt.events, { kind: 'tried', secret, outcome }];
    }
  }
}

/**
 * The account whose secret a step rotates; that of the login in use has the name of the login. Throws RefusedError if the
 * login in use is, or may be, another account with nearly the same name: `CORP\\admin` of a directory opens the device,
 * but no login of it would prove the new password of the local `admin`.
 */
export function rotatedAccount(
  { ref, credential }: Pick<DeviceSession, 'ref' | 'credential'>,
  step: Pick<Step, 'key' | 'purpose'> & Partial<Pick<Step, 'keyField'>>,
  records: readonly DeviceRecord[] = [],
): RotatedAccount {
  const isOwn = isOwnRotation(step, credential);
  const user = (isOwn ? credential?.user : undefined) ?? step.key;
  const isListed = user !== step.key && records.some((one) => one[step.keyField ?? ''] === user);
  if (isListed || foldedLook(user) !== foldedLook(step.key)) {
    const is = isListed ? 'look-alike' : 'may-be-other';
    const names = { key: visible(step.key), user: visible(user) };
    throw new RefusedError({ code: 'rotation', is, ...names }, { where: ref.name });
  }
  return { address: ref.address, user, kind: rotationOf(step)?.kind ?? 'basic' };
}

/** What the kept secrets allow to do. Throws RefusedError if they allow nothing. */
async function attemptOf(work: RotationWork, { step }: PendingStep): Promise<Attempt> {
  const { session, rotations } = work;
  const isUnconfirmed = rotationOf(step)?.isSent === true;
  const { credential, ref } = session;
  const isOwn = isOwnRotation(step, credential);
  const key = visible(step.key);
  const refused = (why: Note) => new RefusedError(why, { where: ref.name });
  const account = rotatedAccount(session, step, session.cached(step.resource));
  if (rotations === undefined) throw refused({ code: 'rotation', is: 'unkept' });
  const { pending, current, lastTried, replaces, ...kept } = await rotations.read(account);
  const old = replaces ?? (isOwn ? credential?.revealed().secret : current);
  const attempt = { step, kind: account.kind, account, isOwn, old, events: [] };
  const facts = { isSent: true, knowsOld: old !== undefined, lastTried };
  const isMine = kept.run === rotations.run;
  if (pending === undefined && isUnconfirmed && isMine && current !== undefined) {
    // It was kept as the current one before the interruption.
    const own = { ...attempt, secret: current, facts };
    const outcome = await login(work, own, 'new');
    if (outcome === 'accepted')
      return { ...own, events: [{ kind: 'tried', secret: 'new', outcome }] };
  }
  if (rotationOf(step)?.answer !== undefined) {
    const secret = isMine ? (pending ?? '') : '';
    return { ...attempt, secret, facts: { ...facts, isSent: secret !== '' } };
  }
  if (pending === undefined) {
    throw refused({ code: 'rotation', is: 'forgotten', key });
  }
  if (!isMine) throw refused({ code: 'rotation', is: 'other', key, run: kept.run ?? '?' });
  if (rotationOf(step)?.old !== undefined && old === undefined) {
    throw refused({ code: 'rotation', is: 'no-old', key });
  }
  const open =
    withoutLogin.get(session) ?? tryLogin(session, work.access, step.resource, undefined);
  withoutLogin.set(session, open);
  if ((await open) === 'accepted') {
    throw refused({ code: 'rotation', is: 'open', resources: pluralOf(step.resource) });
  }
  return { ...attempt, secret: pending, facts: { ...facts, isSent: kept.isSent === true } };
}

async function login(
  { session, access, rotations }: RotationWork,
  attempt: Attempt,
  which: 'new' | 'old',
): Promise<LoginOutcome> {
  const { step, kind, account, isOwn, secret, old = '' } = attempt;
  const text = which === 'new' ? secret : old;
  if (text === '') return 'refused';
  await rotations?.trying(account, which);
  const credential = credentialOf(kind, account.user, text);
  const outcome = await tryLogin(session, access, step.resource, credential);
  if (outcome !== 'forbidden') return outcome;
  // A 403 proves nothing if the account could read before, or if the device answers 403 without a login, too.
  return isOwn || (await withoutLogin.get(session)) === 'forbidden' ? 'unclear' : 'accepted';
}

function credentialOf(kind: Credential['kind'], user: string, secret: string): Credential {
  return kind === 'basic' ? Credential.basic(user, secret) : Credential.token(secret, user);
}

type SentOutcome = (RotationEvent & { kind: 'sent' })['outcome'];

/** Throws DevshError if the secret or the step cannot be kept. */
async function sendSecret(
  work: RotationWork,
  { ref }: PendingStep,
  attempt: Attempt,
): Promise<void> {
  const { session, devicePlan, journal, rotations } = work;
  const { step, account, secret, old } = attempt;
  const { answer } = rotationOf(step) ?? {};
  const quiet = { session, access: withoutAsking(work.access) };
  const secrets = { new: secret, old: old ?? MASK };
  const { request } =
    answer === undefined
      ? passwordRequest(session.profile, step.resource, step.before ?? {}, secrets)
      : step;
  if (isMaskedRequest(request)) {
    throw new RefusedError({ code: 'rotation', is: 'other-secret', name: recordName(step) });
  }
  if (secret !== '') await rotations?.beforeSending(devicePlan.device, account, secret);
  await journal.sending(ref);
  for (const one of [secret, old ?? '']) if (one !== '') session.sentSecrets.add(one);
  let outcome: SentOutcome = 'accepted';
  try {
    const sent =
      answer === undefined
        ? await send(quiet, { ...step, request })
        : await sendForToken(quiet, step, answer);
    if (typeof sent === 'string') attempt.secret = sent;
    else if (sent.kind !== 'accepted') {
      attempt.error = sent.error;
      outcome = sent.kind === 'refused' && isDefinite(sent.error) ? 'refused' : 'lost';
    }
  } catch (error) {
    attempt.error = expectedError(error);
    outcome = 'not sent';
  }
  attempt.events = [...attempt.events, { kind: 'sent', outcome }];
  if (answer === undefined || attempt.secret === secret) return;
  session.sentSecrets.add(attempt.secret);
  await rotations?.received(devicePlan.device, account, attempt.secret);
}

/** Sends a request for a token. Throws if it certainly did not reach the device. */
function sendForToken(
  { session, access }: Pick<DeviceWork, 'session' | 'access'>,
  { request }: Step,
  answer: string,
): Promise<string | FailedRequest> {
  const work = async (device: Device): Promise<string> => {
    const { path, form } = request;
    const response = await device.raw({ method: 'POST', path, form });
    const failure = device.failureOf({ method: 'POST', path }, response);
    if (failure !== undefined) throw failure;
    const token = textAt(response.body, answer);
    if (token !== undefined) return token;
    const { status } = response;
    throw new ProtocolError(
      session.ref,
      { code: 'rotation', is: 'no-token', place: answer },
      { status },
    );
  };
  return outcomeOf(() => session.use(access, work, { isWrite: true }));
}

/** The text at a path as `data.key`; undefined if there is none. */
function textAt(body: string, path: string): string | undefined {
  const held = nestedValue({ body: jsonIn(body) ?? null }, `body.${path}`);
  return typeof held === 'string' && held !== '' ? held : undefined;
}

/** Whether the device refused the values. One that fails, throttles or no longer accepts the login may have stored them. */
function isDefinite(error: DevshError): boolean {
  if (error instanceof UnauthorizedError) return error.code === 'forbidden';
  return error instanceof RejectedError && error.status !== 429;
}

async function endOf(
  work: RotationWork,
  attempt: Attempt,
  { verdict, keeps }: RotationAction & { kind: 'end' },
): Promise<StepEnd> {
  const { session, rotations, devicePlan } = work;
  const { step, kind, account, isOwn, secret, facts, error } = attempt;
  const { name } = devicePlan.device;
  const named = { secret: nounOf(step), key: visible(step.key) };
  const works = { code: 'rotation', is: 'works', secret: named.secret } as const;
  const oldWorks = { code: 'rotation', is: 'old-works' } as const;
  if (verdict === 'done') {
    // Open connections first: what follows on this device needs the new login.
    if (isOwn) await session.openWith(work.access, credentialOf(kind, account.user, secret));
    try {
      await rotations?.promote(account, { isLogin: isOwn });
    } catch (failure) {
      if (!(failure instanceof DevshError)) throw failure;
      return {
        verdict: 'unknown',
        error: failure,
        notes: [works, { code: 'rotation', is: 'still-pending' }],
      };
    }
    return { verdict, notes: [works] };
  }
  if (verdict !== 'unknown') await rotations?.keepsOld(account);
  const notes = isOldAccepted(attempt.events) ? [oldWorks] : undefined;
  if (keeps === 'old') await rotations?.drop(account);
  if (verdict === 'failed') return { verdict, error, notes };
  if (verdict === 'no effect') {
    return { verdict, notes: [oldWorks, { code: 'rotation', is: 'not-yet' }] };
  }
  const is = secret === '' ? 'lost' : facts.knowsOld ? 'neither' : 'unknown';
  const why = { code: 'rotation', is, ...named } as const;
  const reason = textOf({ code: 'stopped', is: 'new-login-lost', ...named, device: name });
  return { verdict, error: new StopsRunError(devicePlan.device, why, reason) };
}

function nounOf(step: Step): string {
  return rotationOf(step)?.kind === 'token' ? 'token' : 'password';
}

/** Reads the records for the next step, which also shows that the login in use works. */
async function readBack(work: RotationWork, step: Step, end: StepEnd): Promise<Ended> {
  try {
    const after = await readResource(work, step.resource);
    const record = findRecord(work.session.profile, step, after, step.before ?? {});
    return { end: { ...end, record }, after };
  } catch (error) {
    const reason = expectedError(error).message;
    return { end: withNotes(end, { code: 'rotation', is: 'unread', reason }) };
  }
}
