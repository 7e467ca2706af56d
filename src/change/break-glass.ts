import { type DeviceRecord, isValueList, valueText } from '../device/record.ts';
import type { Profile } from '../device/profile.ts';
import { matchesGlob } from '../text/glob.ts';
import {
  accountNames,
  bareName,
  fieldThatLoses,
  foldedLook,
  harmOf,
  isAccount,
  named,
} from './account-harm.ts';
import type { Step } from './step.ts';

/** Whether a name is one of the break-glass accounts: names or patterns, in any spelling that a device may fold. */
export function isBreakGlass(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    [name, bareName(name)].some(
      (one) =>
        matchesGlob(one.toLowerCase(), pattern.toLowerCase()) ||
        matchesGlob(foldedLook(one), foldedLook(pattern)),
    ),
  );
}

/** The break-glass account that a step takes access from, and how; undefined if none. */
export function breakGlassAtRisk(
  step: Step,
  patterns: readonly string[],
  records: readonly DeviceRecord[],
  profile?: Profile,
): { readonly account: string; readonly reason: string } | undefined {
  if (patterns.length === 0) return undefined;
  const isListed = (name: string): boolean => isBreakGlass(name, patterns);
  const { action, key, keyField, before } = step;
  const items = Object.values(before ?? {})
    .filter(isValueList)
    .flat()
    .map(valueText);
  for (const account of items.filter(isListed)) {
    const field = fieldThatLoses(step, account);
    if (field === undefined) continue;
    return { account, reason: `${field} of ${named(key)} would lose ${named(account)}` };
  }
  if (!isAccount(step)) return undefined;
  // A device that folds names may store an added account over the existing one.
  const isSameLook = (name: string): boolean => foldedLook(name) === foldedLook(key);
  const touched = action === 'add' ? records.filter((one) => namesOf(one).some(isSameLook)) : [];
  const own = action === 'add' ? touched : [before ?? { [keyField]: key }];
  function namesOf(record: DeviceRecord): readonly string[] {
    return accountNames(record, keyField);
  }
  const account = own.flatMap(namesOf).find(isListed);
  const harm = account && harmOf(step, action === 'add' ? '' : account, profile);
  if (account === undefined || harm === undefined) return undefined;
  return { account, reason: `${harm} ${named(key)} may take away access from ${named(account)}` };
}
