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
import { fieldThatLoses, harmOf, isAccount, named, names } from './account-harm.ts';
import { type Allowed, allowHint, type AllowWord, BREAK_GLASS } from './allow.ts';
import { breakGlassAtRisk } from './break-glass.ts';
import { quoteWord } from '../text/words.ts';
import { lossReason } from './data-loss.ts';
import { isHarmless, showsRights } from './doubts.ts';
import type { DevicePlan, Plan } from './plan.ts';
import { isOwnRotation } from './rotation.ts';
import type { Step } from './step.ts';

type Guarded = Pick<DeviceSession, 'ref' | 'entry' | 'credential' | 'profile'>;

/** The account that devsh uses on a device, as far as the login and the records show it. */
export class OwnAccess {
  readonly #credential: Credential | undefined;
  readonly #recordsOf: (resource: string) => readonly DeviceRecord[];
  readonly #profile: Profile | undefined;
  readonly #isOwnerKnown = new Map<string, boolean>();

  /** @param recordsOf the records last read; empty if the resource was not read */
  constructor(
    credential: Credential | undefined,
    recordsOf: (resource: string) => readonly DeviceRecord[],
    profile?: Profile,
  ) {
    this.#profile = profile;
    this.#credential = credential;
    this.#recordsOf = recordsOf;
  }

  /** Why a step may lock out the user of devsh; undefined if it does not. */
  objectionTo(step: Step): string | undefined {
    if (this.#credential === undefined) return undefined;
    // A rotation of the login in use proves the new secret before it gives up the old one.
    if (isOwnRotation(step, this.#credential)) return undefined;
    const { action, key, keyField, before } = step;
    const user = this.#credential.user ?? '';
    const field = user === '' ? undefined : fieldThatLoses(step, user);
    if (field !== undefined || !isAccount(step)) {
      return field && `${field} of ${named(key)} would lose ${named(user)}, the account in use`;
    }
    const harm = harmOf(step, user, this.#profile?.resources[step.resource]?.disabledAs);
    if (harm === undefined) return undefined;
    const record = before ?? { [keyField]: key };
    if (this.#isOwn(record, keyField)) {
      const isSure = key === user || this.#holdsToken(record);
      const own = isSure ? 'it is the account in use' : `it may be the account in use, ${user}`;
      return `${harm} ${named(key)} would lock you out: ${own}`;
    }
    if (action === 'add' || this.#knowsOwner(step) || !mayWrite(record)) return undefined;
    return `${harm} ${named(key)} may lock you out: the owner of the token in use is unknown (set --user or DEVSH_USER)`;
  }

  #isOwn(record: DeviceRecord, keyField: string): boolean {
    const { user = '' } = this.#credential ?? {};
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
      const isUnread = records.length === 0 && Boolean(this.#credential?.user);
      isKnown = isUnread || records.some((record) => this.#isOwn(record, keyField));
      this.#isOwnerKnown.set(resource, isKnown);
    }
    return isKnown;
  }
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
      const access = new OwnAccess(session.credential, recordsOf, session.profile);
      return [session.ref.address, { session, access, recordsOf }];
    }),
  );
  for (const devicePlan of plan.devices) {
    const { device, steps } = devicePlan;
    const emptied = emptiedBy(devicePlan);
    for (const step of steps) {
      const { session, access, recordsOf } = guarded.get(device.address) ?? {};
      refuseBreakGlass(device, session, step, recordsOf?.(step.resource) ?? [], allowed);
      refuse(device, allowed, 'own-account', access?.objectionTo(step));
      refuse(device, allowed, 'loss', lossReason(step));
      refuse(device, allowed, 'protected', protectedReason(step) ?? lastOneReason(step, emptied));
    }
  }
}

/** Refuses a step that would lock its user or a break-glass account out, by the records right before it is sent. */
export function guardStep(
  session: Guarded,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  refuseBreakGlass(session.ref, session, step, records, allowed);
  const access = new OwnAccess(session.credential, () => records, session.profile);
  refuse(session.ref, allowed, 'own-account', access.objectionTo(step));
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

/** The allowed name must be the whole name: a pattern or another spelling may be a mistake. */
function refuseBreakGlass(
  { name }: DeviceRef,
  session: Pick<Guarded, 'entry' | 'profile'> | undefined,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  const { breakGlass = [] } = session?.entry ?? {};
  const disabledAs = session?.profile.resources[step.resource]?.disabledAs;
  const risk = breakGlassAtRisk(step, breakGlass, records, disabledAs);
  if (risk === undefined || allowed.has(`${BREAK_GLASS}=${risk.account}`)) return;
  const word = quoteWord(`${BREAK_GLASS}=${risk.account}`);
  throw new RefusedError(
    `${name}: ${risk.reason}, a break-glass account; name it in full to override: --allow ${word}`,
  );
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

/** A lockout also ends the only session of a device. */
function lastOneReason(
  { action, resource, key, endsAccess }: Step,
  emptied: ReadonlySet<string>,
): string | undefined {
  return action === 'delete' && !endsAccess && emptied.has(resource)
    ? `deleting ${key} would leave no ${resource}`
    : undefined;
}
