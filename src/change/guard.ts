import type { Credential } from '../device/credential.ts';
import type { Profile } from '../device/profile.ts';
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
  fieldThatLoses,
  harmOf,
  isAccount,
  isSameName,
  named,
  names,
  breakGlassAtRisk,
  isBreakGlass,
} from './account-harm.ts';
import {
  type Allowed,
  allowHint,
  allowOption,
  type AllowWord,
  BREAK_GLASS,
  OWN_ACCOUNT,
  permits,
} from './allow.ts';
import { lossReason } from './data-loss.ts';
import { isHarmless, showsRights } from './doubts.ts';
import type { DevicePlan, Plan } from './plan.ts';
import type { Step } from './step.ts';
import type { StepEnd } from './verdict.ts';

type Guarded = Pick<DeviceSession, 'ref' | 'entry' | 'credential' | 'profile' | 'tokenOwner'>;

/** Why a step may end the access of an account that somebody needs. */
interface Objection {
  readonly account: string;
  readonly reason: string;
  /** Whose token is in use would settle it. */
  readonly isOwnerUnknown?: true;
}

/** It may end the access of an account that somebody needs: naming it in full overrides it. */
export class AccessError extends RefusedError {
  readonly device: DeviceRef;
  readonly step: Step;
  readonly word: `${typeof OWN_ACCOUNT | typeof BREAK_GLASS}=${string}`;
  readonly objection: Objection;

  constructor(
    device: DeviceRef,
    step: Step,
    word: typeof OWN_ACCOUNT | typeof BREAK_GLASS,
    objection: Objection,
  ) {
    const { account, reason } = objection;
    super(`${device.name}: ${reason}; name it in full to override: ${allowOption(word, account)}`);
    this.device = device;
    this.step = step;
    this.word = `${word}=${account}`;
    this.objection = objection;
  }
}

/** The account that devsh uses on a device, as far as the login and the records show it. */
export class OwnAccess {
  readonly #credential: Credential | undefined;
  readonly #user: string;
  readonly #recordsOf: (resource: string) => readonly DeviceRecord[];
  readonly #profile: Profile;
  readonly #isOwnerKnown = new Map<string, boolean>();

  /** @param recordsOf the records last read; empty if the resource was not read */
  constructor(
    { credential, tokenOwner, profile }: Pick<Guarded, 'credential' | 'tokenOwner' | 'profile'>,
    recordsOf: (resource: string) => readonly DeviceRecord[],
  ) {
    this.#profile = profile;
    this.#credential = credential;
    this.#user = credential?.user ?? tokenOwner ?? '';
    this.#recordsOf = recordsOf;
  }

  /** Why a step may lock out the user of devsh; undefined if it does not. */
  objectionTo(step: Step): Objection | undefined {
    if (this.#credential === undefined) return undefined;
    // A rotation of the login in use proves the new secret before it gives up the old one.
    if (isOwnRotation(step, this.#credential)) return undefined;
    const { action, key, keyField, before } = step;
    const user = this.#user;
    const field = user === '' ? undefined : fieldThatLoses(step, user);
    if (field !== undefined) {
      const reason = `${field} of ${named(key)} would lose ${named(user)}, the account in use`;
      return { account: user, reason };
    }
    if (!isAccount(step)) return undefined;
    const harm = harmOf(step, user, this.#profile);
    if (harm === undefined) return undefined;
    const record = before ?? { [keyField]: key };
    const may = `${harm} ${named(key)} may lock you out`;
    if (this.#isOwn(record, keyField)) {
      const isSure = key === user || this.#holdsToken(record);
      const own = isSure ? 'it is the account in use' : `it may be the account in use, ${user}`;
      // Of a session or a token, its owner.
      const account = user === '' || isSameName(key, user) ? key : user;
      return { account, reason: `${may}: ${own}` };
    }
    if (action === 'add' || this.#knowsOwner(step) || !mayWrite(record)) return undefined;
    const reason = `${may}: the owner of the token in use is unknown (set --user or DEVSH_USER)`;
    return { account: key, reason, isOwnerUnknown: true };
  }

  /** A record of another account that gets a name which a device may take for the one in use. */
  isImpostor({ before, after, keyField }: Step): boolean {
    if (before === undefined || after === undefined) return false;
    return (
      this.#isOwn({ [keyField]: after[keyField] ?? null }, keyField) &&
      !this.#isOwn(before, keyField)
    );
  }

  #isOwn(record: DeviceRecord, keyField: string): boolean {
    const user = this.#user;
    if (this.#holdsToken(record)) return true;
    return user !== '' && Object.keys(record).some((field) => names(record, field, keyField, user));
  }

  #holdsToken(record: DeviceRecord): boolean {
    const values = Object.values(record);
    return values.some(
      (value) => typeof value === 'string' && this.#credential?.isToken(value) === true,
    );
  }

  /** The configured owner of a token counts only if the device has such an account. */
  #knowsOwner({ resource, keyField }: Step): boolean {
    if (this.#credential?.kind === 'basic') return true;
    let isKnown = this.#isOwnerKnown.get(resource);
    if (isKnown === undefined) {
      const records = this.#recordsOf(resource);
      const isUnread = records.length === 0 && this.#user !== '';
      isKnown = isUnread || records.some((record) => this.#isOwn(record, keyField));
      this.#isOwnerKnown.set(resource, isKnown);
    }
    return isKnown;
  }
}

/** Whether devsh itself logs in with the secret that is rotated. */
export function isOwnRotation(
  { key, purpose }: Pick<Step, 'key' | 'purpose'>,
  credential: Credential | undefined,
): boolean {
  if (credential === undefined || purpose?.kind !== 'rotate') return false;
  const { kind, user = '' } = credential;
  return purpose.rotation.kind === kind && isSameName(key, user);
}

/** Whether the login in use is lost on a device: nothing more can be read or sent. */
export function losesLogin(
  { credential }: { readonly credential: Credential | undefined },
  step: Parameters<typeof isOwnRotation>[0],
  { verdict }: StepEnd,
): boolean {
  return verdict === 'unknown' && isOwnRotation(step, credential);
}

/** Whether the record may belong to an account with write access: unless its fields exclude that. */
function mayWrite(record: DeviceRecord): boolean {
  const rights = Object.keys(record).filter(showsRights);
  return (
    rights.length === 0 ||
    rights.some((field) => /level/i.test(field) || !isHarmless(valueAt(record, field)))
  );
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
 * Refuses a plan that would lock its user out or destroy protected data: a change that takes access from
 * the account in use or from a break-glass account, a delete of the last record or of a protected one.
 *
 * @param sessions the open sessions of the plan's devices
 */
export function guardPlan(
  plan: Plan,
  sessions: readonly (Guarded & Pick<DeviceSession, 'cached'>)[],
  allowed: Allowed,
): void {
  const guarded = new Map(
    sessions.map((session) => {
      const recordsOf = (resource: string) => session.cached(resource) ?? [];
      const access = new OwnAccess(session, recordsOf);
      return [session.ref.address, { session, access, recordsOf }];
    }),
  );
  for (const devicePlan of plan.devices) {
    const { device, steps } = devicePlan;
    const emptied = emptiedBy(devicePlan);
    for (const step of steps) {
      const { session, access, recordsOf } = guarded.get(device.address) ?? {};
      if (session) refuseBreakGlass(session, step, recordsOf?.(step.resource) ?? [], allowed);
      refuseOwnAccount(device, step, access?.objectionTo(step), allowed);
      refuse(device, allowed, 'loss', lossReason(step));
      refuse(device, allowed, 'protected', protectedReason(step) ?? lastOneReason(step, emptied));
    }
  }
}

/** Accounts that get a name which a device, or a person, may take for one that somebody needs. */
export function impostorTexts(
  plan: Plan,
  sessions: readonly (Guarded & Pick<DeviceSession, 'cached'>)[],
): string[] {
  return plan.devices.flatMap(({ device, steps }) => {
    const session = sessions.find(({ ref }) => ref.address === device.address);
    if (session === undefined) return [];
    const access = new OwnAccess(session, (resource) => session.cached(resource) ?? []);
    return steps.flatMap((step) => {
      const { key, keyField, before, after } = step;
      const next = valueText(valueAt(after, keyField));
      if (before === undefined || next === '' || next === key || !isAccount(step)) return [];
      const looks = isBreakGlass(next, session.entry.breakGlass ?? [])
        ? 'a break-glass account'
        : access.isImpostor(step) && 'the account in use';
      return looks === false ? [] : [`${device.name}: ${named(next)} will look like ${looks}`];
    });
  });
}

/** Refuses a step that would lock its user or a break-glass account out, by the records right before it is sent. */
export function guardStep(
  session: Guarded,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  refuseBreakGlass(session, step, records, allowed);
  const access = new OwnAccess(session, () => records);
  refuseOwnAccount(session.ref, step, access.objectionTo(step), allowed);
}

/** Refuses to delete the last record, by the records right before: others may have deleted some since the plan. */
export function refuseLastOne(
  { ref }: Guarded,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  const emptied = new Set(records.length === 1 ? [step.resource] : []);
  refuse(ref, allowed, 'protected', lastOneReason(step, emptied));
}

function refuseBreakGlass(
  { ref, entry, profile }: Guarded,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  const risk = breakGlassAtRisk(step, entry.breakGlass ?? [], records, profile);
  if (risk === undefined || permits(allowed, BREAK_GLASS, risk.account)) return;
  const reason = `${risk.reason}, a break-glass account`;
  throw new AccessError(ref, step, BREAK_GLASS, { ...risk, reason });
}

function refuseOwnAccount(
  device: DeviceRef,
  step: Step,
  objection: Objection | undefined,
  allowed: Allowed,
): void {
  if (objection === undefined || permits(allowed, OWN_ACCOUNT, objection.account)) return;
  throw new AccessError(device, step, OWN_ACCOUNT, objection);
}

function refuse(
  { name }: DeviceRef,
  allowed: Allowed,
  word: AllowWord,
  reason: string | undefined,
): void {
  if (reason === undefined || allowed.has(word)) return;
  throw new RefusedError(`${name}: ${reason}; ${allowHint(word)}`);
}

function protectedReason(step: Step): string | undefined {
  if (step.action !== 'delete') return undefined;
  const mark = Object.entries(PROTECTING).find(([field, value]) => {
    const held = valueAt(step.before, field);
    return held !== undefined && valueText(held).toLowerCase() === String(value);
  });
  return mark && `the device protects ${step.key} (${mark[0]}: ${String(mark[1])})`;
}

function emptiedBy({ steps, total }: DevicePlan): ReadonlySet<string> {
  const deletes = steps.filter(({ action }) => action === 'delete');
  const emptied = frequencies(deletes.map(({ resource }) => resource)).filter(
    ([resource, count]) => count >= (valueAt(total, resource) ?? Infinity),
  );
  return new Set(emptied.map(([resource]) => resource));
}

/** A lockout also ends the only session of a device, and an undo may take the first record back. */
function lastOneReason(
  { action, resource, key, purpose }: Step,
  emptied: ReadonlySet<string>,
): string | undefined {
  const isFree =
    (purpose?.kind === 'lockout' && purpose.endsAccess) ||
    (purpose?.kind === 'undo' && purpose.isFirst);
  return action === 'delete' && !isFree && emptied.has(resource)
    ? `deleting ${key} would leave no ${resource}`
    : undefined;
}
