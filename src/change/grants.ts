import { isPrivilegeField, isStatusField } from '../device/privilege-fields.ts';
import { type Value, valueAt } from '../device/record.ts';
import { isValueList, valueText } from '../device/value-text.ts';
import { asBoolean, type ChangedPart, changedParts, isSameValue } from './compare.ts';
import type { Step } from './plan.ts';

/** Fields of privilege whose values give rights; `is_verified` and its like are none. */
const RIGHTS = /admin|super|root|sudo|staff|role|group|perm|priv|right|scope|level|capab|grant/i;
const ADMIN = /admin|super(?:user)?|root|sudo|wheel|^\*$/i;
const HARMLESS =
  /^(?:no(?:ne)?|false|0|off|guests?|users?|view(?:er)?s?|read(?:[-_ ]?only|ers?)?|monitor(?:ing)?|audit(?:ors?)?)?$/i;

/** A privilege that a record has after a step and had not before. */
export interface Grant {
  readonly field: string;
  readonly value: Value;
  /** It makes an administrator. */
  readonly isAdmin: boolean;
}

/** What a step gives to its record; nothing for a delete. */
export function grantsOf({ action, before = {}, after = {} }: Step): readonly Grant[] {
  if (action === 'delete') return [];
  return Object.keys(after)
    .flatMap((field) => changedParts(field, valueAt(before, field), valueAt(after, field)))
    .flatMap(grantOf);
}

/** Whether a field tells what a record may do. */
export function showsRights(path: string): boolean {
  const names = path.split('.');
  return names.some((name) => isPrivilegeField(name) && RIGHTS.test(name)) && !isStatusField(path);
}

/** Whether a value of such a field gives no right to change anything. */
export function isHarmless(value: Value | undefined): boolean {
  if (isValueList(value)) return value.every(isHarmless);
  return HARMLESS.test(valueText(value).trim());
}

function grantOf({ field, before, after = null }: ChangedPart): Grant[] {
  if (!showsRights(field) || isSameValue(after, before)) return [];
  const held = isValueList(before) ? before : [before];
  const given = (isValueList(after) ? after : [after]).filter(
    (value) => !isHarmless(value) && !held.some((other) => isSameValue(value, other)),
  );
  if (given.length === 0 || Number(after) < Number(before)) return [];
  const isAdmin = given.some((value) => ADMIN.test(asBoolean(value) ? field : valueText(value)));
  return [{ field, value: after, isAdmin }];
}

/** "2 of these become administrators", "1 of these gets more privileges". */
export function grantCounts(steps: readonly Step[]): string[] {
  const granted = steps.map(grantsOf).filter((grants) => grants.length > 0);
  const admins = granted.filter((grants) => grants.some(({ isAdmin }) => isAdmin)).length;
  const others = granted.length - admins;
  return [
    ...(admins === 1 ? ['1 of these becomes an administrator'] : []),
    ...(admins > 1 ? [`${admins} of these become administrators`] : []),
    ...(others > 0 ? [`${others} of these get${others === 1 ? 's' : ''} more privileges`] : []),
  ];
}
