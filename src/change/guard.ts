import type { Credential } from '../device/credential.ts';
import {
  isPrivilegeField,
  isSecretField,
  isStatusField,
  permittingValue,
} from '../device/sensitive-fields.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  isValueList,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { lookOf } from '../text/visible.ts';
import { asBoolean, type ChangedPart, changedParts, isSameValue } from './compare.ts';
import { isHarmless, showsRights } from './doubts.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';
import { RefusedError } from '../errors.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { type Allowed, allowHint, type AllowWord } from './allow.ts';
import { eraseReason } from './data-loss.ts';

/** Resources whose records give access: `user`, `local-admins`, `api_token`. */
const ACCOUNTS = /user|account|admin|login|operator|principal|credential|token|apikey/;
/** Fields that name an account or the owner of a record. */
const NAMES = /^(?:user(?:name|id)?|login(?:name)?|account(?:name)?|owner|uid)$/;
const ADDRESSES = /^(?:e?mail(?:address)?|upn|principal(?:name)?)$/;
/** The account that devsh uses on a device, as far as the login and the records show it. */
export class OwnAccess {
  readonly #credential: Credential | undefined;
  readonly #recordsOf: (resource: string) => readonly DeviceRecord[];
  readonly #isOwnerKnown = new Map<string, boolean>();

  /** @param recordsOf the records last read; empty if the resource was not read */
  constructor(
    credential: Credential | undefined,
    recordsOf: (resource: string) => readonly DeviceRecord[],
  ) {
    this.#credential = credential;
    this.#recordsOf = recordsOf;
  }

  /** Why a step may lock out the user of devsh; undefined if it does not. */
  objectionTo(step: Step): string | undefined {
    if (this.#credential === undefined) return undefined;
    const { action, key, keyField, before } = step;
    const user = this.#credential.user ?? '';
    if (!isAccount(step)) {
      const field = user === '' ? undefined : fieldThatLoses(step, user);
      return field && `${field} of ${named(key)} would lose ${named(user)}, the account in use`;
    }
    const harm = harmOf(step, user);
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

/** Whether the records of a resource give access, judged by its name. */
export function opensAccess(resource: string): boolean {
  return ACCOUNTS.test(lettersOf(resource));
}

function isAccount({ resource, before, after }: Step): boolean {
  const fields = Object.keys({ ...before, ...after });
  return (
    opensAccess(resource) ||
    fields.some((field) => isSecretField(field) || /^(?:user|login)name$/.test(lettersOf(field)))
  );
}

/** How a step takes access away from its account. */
function harmOf(step: Step, user: string): string | undefined {
  if (step.action === 'delete') return 'deleting';
  // A device that trims and folds names may take the new name for the existing one.
  if (step.action === 'add') return step.key === user ? undefined : 'adding';
  const parts = partsOf(step);
  const renamed = parts.find(({ field, before }) => {
    const isName = field === step.keyField || NAMES.test(lettersOf(field));
    return isName || (ADDRESSES.test(lettersOf(field)) && isSameName(valueText(before), user));
  });
  if (renamed !== undefined) return 'renaming';
  const lost = parts.find((part) => isSecretPart(part) || isLoss(part));
  return lost && `changing ${lost.field} of`;
}

/** The fields that a step changes; the parts of nested ones. */
function partsOf({ before = {}, after = {} }: Step): ChangedPart[] {
  return Object.keys(after)
    .filter((field) => !isSameValue(valueAt(after, field) ?? null, valueAt(before, field)))
    .flatMap((field) => changedParts(field, valueAt(before, field), valueAt(after, field)));
}

function isSecretPart({ field }: ChangedPart): boolean {
  return field.split('.').some(isSecretField);
}

/** Whether a right or the access is taken away. Anything not clearly granted counts as taken. */
function isLoss({ field, before, after }: ChangedPart): boolean {
  const path = field.split('.');
  const last = path.at(-1) ?? '';
  if (!isStatusField(last) && !path.some(isPrivilegeField)) return false;
  if (isValueList(before) && isValueList(after)) {
    return !before.every((item) => after.some((other) => isSameValue(item, other)));
  }
  const opens = permittingValue(last) ?? (/admin|super|root|staff/i.test(last) ? true : undefined);
  return opens === undefined || asBoolean(after ?? null) !== opens;
}

/** Whether the record may belong to an account with write access: unless its fields exclude that. */
function mayWrite(record: DeviceRecord): boolean {
  const rights = Object.keys(record).filter(showsRights);
  return (
    rights.length === 0 ||
    rights.some((field) => /level/i.test(field) || !isHarmless(valueAt(record, field)))
  );
}

/** The field by which a group (or another list of members) would lose this user. */
function fieldThatLoses(step: Step, user: string): string | undefined {
  const holds = (value: Value | undefined): boolean =>
    isValueList(value) && value.some((item) => isSameName(valueText(item), user));
  if (step.action === 'delete') {
    return Object.keys(step.before ?? {}).find((field) => holds(valueAt(step.before, field)));
  }
  return partsOf(step).find(({ before, after }) => holds(before) && !holds(after))?.field;
}

/** Whether a field of a record names this account. */
function names(record: DeviceRecord, field: string, keyField: string, user: string): boolean {
  const text = valueText(valueAt(record, field));
  const letters = lettersOf(field);
  if (ADDRESSES.test(letters)) return isSame(text, user);
  return (field === keyField || NAMES.test(letters)) && isSameName(text, user);
}

/** Also if one of them includes its domain: `CORP\\admin`, `admin@corp`. */
function isSameName(name: string, user: string): boolean {
  return isSame(name, user) || isSame(bareName(name), bareName(user));
}

/** Whether a device may take one name for the other: trimmed, folded, or look-alike. */
function isSame(one: string, other: string): boolean {
  const look = foldedLook(one);
  return look !== '' && look === foldedLook(other);
}

function foldedLook(name: string): string {
  return lookOf(
    name
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cc}]/gu, '')
      .replaceAll('ı', 'i'),
  );
}

function bareName(name: string): string {
  return name.replace(/^.*\\/s, '').replace(/@.*$/s, '');
}

/** A name in a message; quoted if it contains characters that are easy to overlook. */
function named(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) ? name : `"${name}"`;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
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
 * the account in use, a delete of the last record or of a protected one.
 *
 * @param sessions the open sessions of the plan's devices
 */
export function guardPlan(
  plan: Plan,
  sessions: readonly Pick<DeviceSession, 'ref' | 'credential' | 'cached'>[],
  allowed: Allowed,
): void {
  const access = new Map(
    sessions.map((session) => [
      session.ref.address,
      new OwnAccess(session.credential, (resource) => session.cached(resource) ?? []),
    ]),
  );
  for (const devicePlan of plan.devices) {
    const { device, steps } = devicePlan;
    const emptied = emptiedBy(devicePlan);
    for (const step of steps) {
      refuse(device, allowed, 'own-account', access.get(device.address)?.objectionTo(step));
      refuse(device, allowed, 'loss', eraseReason(step));
      refuse(device, allowed, 'protected', protectedReason(step) ?? lastOneReason(step, emptied));
    }
  }
}

/** Refuses a step that would lock its user out, judged by the records right before it is sent. */
export function guardStep(
  { ref, credential }: Pick<DeviceSession, 'ref' | 'credential'>,
  step: Step,
  records: readonly DeviceRecord[],
  allowed: Allowed,
): void {
  const access = new OwnAccess(credential, () => records);
  refuse(ref, allowed, 'own-account', access.objectionTo(step));
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
  const deletes = new Map<string, number>();
  for (const { action, resource } of steps) {
    if (action === 'delete') deletes.set(resource, (deletes.get(resource) ?? 0) + 1);
  }
  const emptied = [...deletes].filter(([resource, count]) => {
    const held = valueAt(total, resource);
    return held !== undefined && count >= held;
  });
  return new Set(emptied.map(([resource]) => resource));
}

function lastOneReason(
  { action, resource, key }: Step,
  emptied: ReadonlySet<string>,
): string | undefined {
  return action === 'delete' && emptied.has(resource)
    ? `deleting ${key} would leave no ${resource}`
    : undefined;
}
