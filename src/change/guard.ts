import type { Credential } from '../device/credential.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  valueAt,
  valueText,
  frequencies,
} from '../device/record.ts';
import { RefusedError } from '../errors.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import {
  type AccountFinder,
  accountFinders,
  fieldThatLoses,
  givesAccess,
  harmOf,
  isSameName,
  named,
  remembered,
  breakGlassAtRisk,
  isBreakGlass,
} from './account-harm.ts';
import {
  type Allowed,
  allowHint,
  allowOption,
  type AllowWord,
  type AllowedWord,
  BREAK_GLASS,
  OWN_ACCOUNT,
  permits,
  UNLISTED_LOGIN,
} from './allow.ts';
import { lossReason } from './data-loss.ts';
import type { Plan } from './plan.ts';
import { endsAccess, type Step } from './step.ts';
import type { StepEnd } from './verdict.ts';
import { type Note, textOf } from '../output/sentences.ts';

type Guarded = Pick<
  DeviceSession,
  'ref' | 'entry' | 'credential' | 'profile' | 'tokenOwner' | 'unlistedLogin'
>;

/** Why a step may end the access of an account that somebody needs. */
interface Objection {
  /** The account to name in order to permit the step. Absent if nobody knows whose login is in use. */
  readonly account?: string;
  readonly reason: Note;
}

/** The step may end the access of an account that somebody needs. Naming the account in full overrides the refusal. */
export class AccessError extends RefusedError {
  readonly device: DeviceRef;
  readonly step: Step;
  readonly word: AllowedWord;
  readonly objection: Objection;

  constructor(
    device: DeviceRef,
    step: Step,
    word: typeof OWN_ACCOUNT | typeof BREAK_GLASS,
    objection: Objection,
  ) {
    const { account, reason } = objection;
    const hint =
      account === undefined
        ? allowHint(UNLISTED_LOGIN)
        : textOf({ code: 'at-risk', is: 'name-it', option: allowOption(word, account) });
    super(refusedFor(reason, hint), { where: device.name });
    this.device = device;
    this.step = step;
    this.word = account === undefined ? UNLISTED_LOGIN : `${word}=${account}`;
    this.objection = objection;
  }
}

/**
 * Why steps may end the access of an account that somebody needs, by the login and the break-glass accounts of a device.
 *
 * @param recordsOf the records last read; empty if the resource was not read
 */
export function objectionsOn(
  { credential, tokenOwner, profile, entry }: Omit<Guarded, 'ref' | 'unlistedLogin'>,
  recordsOf: (resource: string) => readonly DeviceRecord[],
): Record<'own' | 'breakGlass', (step: Step) => Objection | undefined> {
  const user = credential?.user ?? tokenOwner ?? '';
  const isUser = (text: string): boolean => user !== '' && isSameName(text, user);
  const isListed = (text: string): boolean => isBreakGlass(text, entry.breakGlass ?? []);
  const ownFinder = accountFinders(profile, recordsOf, isUser);
  const glassFinder = accountFinders(profile, recordsOf, isListed);
  const holdsToken = (record: DeviceRecord): boolean =>
    Object.values(record).some((value) => typeof value === 'string' && credential?.isToken(value));
  /** Whether a list of logins shows neither the login in use nor its token. */
  const isUnlisted = remembered(({ list: { resource, records }, ...finder }: AccountFinder) => {
    const isShown = (user !== '' && finder.isListed()) || records.some(holdsToken);
    return !isShown && givesAccess(profile, resource, records);
  });
  const own = (step: Step): Objection | undefined => {
    // A rotation of the login in use proves the new secret before it gives up the old one.
    if (credential === undefined || isOwnRotation(step, credential)) return undefined;
    const { action, resource, key, before } = step;
    const account = key === '' ? resource : key;
    const field = fieldThatLoses(step, isUser, profile);
    if (field !== undefined) {
      const names = { account: named(account), user: named(user) };
      return { account, reason: { code: 'at-risk', is: 'field', field, ...names } };
    }
    const harm = harmOf(step, isUser, profile);
    if (harm === undefined) return undefined;
    const finder = ownFinder(step);
    const may = { code: 'at-risk', harm, account: named(account) } as const;
    // A device that trims and folds names may take a new name for the existing one.
    const isAdded = action === 'add' && finder.isListed() && key !== user;
    const isToken = before !== undefined && holdsToken(before);
    const isOwn =
      before === undefined
        ? isAdded && isUser(key)
        : isToken || finder.nameIn(before) !== undefined;
    if (isOwn) {
      const isSure = key === user || isToken;
      return { account, reason: { ...may, is: isSure ? 'own' : 'perhaps-own', user } };
    }
    if (action === 'add' || !isUnlisted(finder)) return undefined;
    if (user === '') return { reason: { ...may, is: 'unknown-owner' } };
    return { reason: { ...may, is: 'unlisted', resource, user: named(user) } };
  };
  const breakGlass = (step: Step): Objection | undefined =>
    breakGlassAtRisk(step, isListed, glassFinder(step));
  return { own, breakGlass };
}

function refusedFor(reason: Note | string, hint: string): Note {
  return { code: 'at-risk', is: 'refused', reason: textOf(reason), hint };
}

/** Whether devsh itself logs in with the secret that is rotated, or may do so: a token alone names nobody. */
export function isOwnRotation(
  { key, purpose }: Pick<Step, 'key' | 'purpose'>,
  credential: Credential | undefined,
): boolean {
  if (credential === undefined || purpose?.kind !== 'rotate') return false;
  const { kind, user } = credential;
  return purpose.rotation.kind === kind && (user === undefined || isSameName(key, user));
}

/** Whether the login in use is lost on a device: nothing more can be read or sent. */
export function losesLogin(
  { credential }: { readonly credential: Credential | undefined },
  step: Parameters<typeof isOwnRotation>[0],
  { verdict }: StepEnd,
): boolean {
  return verdict === 'unknown' && isOwnRotation(step, credential);
}

/** Fields by which devices mark protected records, and the value that protects. */
const PROTECTING: Readonly<Record<string, boolean>> = {
  canBeDeleted: false,
  can_be_deleted: false,
  deletable: false,
  protected: true,
  builtin: true,
  built_in: true,
};

/**
 * Whether a step may be written, by the records last read: undefined if it may, an `AccessError` if a person can permit
 * it, else a refusal. A step must not take access from the account in use or from a break-glass account, lose data that
 * nobody asked to lose, or delete the last record or a protected one. devsh asks this when it plans the step, and again
 * right before the request.
 *
 * @param leaves how many records of its resource a delete would leave
 */
type MayWrite = (step: Step, leaves: number) => RefusedError | undefined;

export function guardOf(
  session: Guarded,
  recordsOf: (resource: string) => readonly DeviceRecord[],
  allowed: Allowed,
): MayWrite {
  const { ref, credential, unlistedLogin } = session;
  const { own, breakGlass } = objectionsOn(session, recordsOf);
  const isPermitted = (
    word: typeof OWN_ACCOUNT | typeof BREAK_GLASS,
    { account }: Objection,
  ): boolean =>
    account === undefined
      ? allowed.has(UNLISTED_LOGIN) || unlistedLogin?.equals(credential) === true
      : permits(allowed, word, account);
  const refusal = (word: AllowWord, why: Note | undefined): RefusedError | undefined =>
    why === undefined || allowed.has(word)
      ? undefined
      : new RefusedError(refusedFor(why, allowHint(word)), { where: ref.name });
  return (step, leaves) => {
    if (isOwnRotation(step, credential) && credential?.kind === 'token') {
      return new RefusedError({ code: 'at-risk', is: 'token' }, { where: ref.name });
    }
    for (const [word, objectionTo] of [
      [BREAK_GLASS, breakGlass],
      [OWN_ACCOUNT, own],
    ] as const) {
      const objection = objectionTo(step);
      if (objection !== undefined && !isPermitted(word, objection)) {
        return new AccessError(ref, step, word, objection);
      }
    }
    return (
      refusal('loss', lossReason(step)) ??
      refusal('protected', protectedReason(step) ?? lastOneReason(step, leaves))
    );
  };
}

/**
 * The first refusal of a plan.
 *
 * @param sessions the open sessions of the plan's devices
 */
export function guardPlan(
  plan: Plan,
  sessions: readonly (Guarded & Pick<DeviceSession, 'cached'>)[],
  allowed: Allowed,
): RefusedError | undefined {
  const byAddress = new Map(sessions.map((session) => [session.ref.address, session]));
  for (const { device, steps, total } of plan.devices) {
    const session = byAddress.get(device.address);
    if (session === undefined) continue;
    const mayWrite = guardOf(session, (resource) => session.cached(resource) ?? [], allowed);
    const deletes = steps.filter(({ action }) => action === 'delete');
    const counts = new Map(frequencies(deletes.map(({ resource }) => resource)));
    for (const step of steps) {
      const { resource } = step;
      const leaves = (valueAt(total, resource) ?? Infinity) - (counts.get(resource) ?? 0);
      const refusal = mayWrite(step, leaves);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

function protectedReason(step: Step): Note | undefined {
  if (step.action !== 'delete') return undefined;
  const mark = Object.entries(PROTECTING).find(([field, value]) => {
    const held = valueAt(step.before, field);
    return held !== undefined && valueText(held).toLowerCase() === String(value);
  });
  if (mark === undefined) return undefined;
  const [field, value] = mark;
  return { code: 'at-risk', is: 'protected', key: step.key, field, value: String(value) };
}

/** A lockout may end the only session of a device, and an undo may delete the record that was added first. */
function lastOneReason({ action, resource, key, purpose }: Step, leaves: number): Note | undefined {
  const isFree = endsAccess(purpose) || (purpose?.kind === 'undo' && purpose.isFirst);
  return action === 'delete' && !isFree && leaves <= 0
    ? { code: 'at-risk', is: 'last', key, resource }
    : undefined;
}
