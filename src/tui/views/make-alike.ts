import { isNested, valueText } from '../../device/record.ts';
import type { DriftRow, FieldDrift } from '../../fleet/drift.ts';
import { majorityOf } from '../../fleet/majority.ts';
import { fieldText } from '../../output/cells.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import type { DriftOutput } from '../../shell/output.ts';
import { hasUnsafe, visible } from '../../text/visible.ts';
import { isAssignable, quoteAssignment, quoteWord } from '../../text/words.ts';
import { namesText } from './plan-lines.ts';

/** The line that makes the odd records like those of most devices, or why there is none. */
export type Alike =
  | {
      readonly line: string;
      /** What it sets, and where, also on many devices. */
      readonly summary: string;
      readonly reason?: undefined;
    }
  | { readonly line?: undefined; readonly reason: string };

/** `user set bob lang=de --on fw7`: where more than half agree, even if all unread devices had another value. */
export function makeAlike({ drift, resource }: DriftOutput, row: DriftRow): Alike {
  if (row.isSame) return { reason: 'it is the same on all devices that were read' };
  if (row.held.some(({ length }) => length > 1))
    return { reason: 'a device has this record more than once: change it by hand' };
  if (row.key === '' && drift.keyField !== '')
    return { reason: 'the record has no name by which a command can change it' };
  if (hasUnsafe(row.key)) return { reason: 'the name of the record cannot be written in a line' };
  if (row.fields.length === 0) {
    const without = drift.devices.filter((_, index) => row.held[index]?.length === 0);
    const names = namesText(without.map(({ name }) => name));
    return { reason: `its fields are the same; it is not on ${names}, where "=" adds nothing` };
  }
  const common = row.fields.flatMap((field) => commonOf(field, drift.unread.length));
  if (common.length === 0) {
    const beside = drift.unread.length === 0 ? '' : ', counting those not read';
    return { reason: `no majority: no value is on more than half of the devices${beside}` };
  }
  const settable = common.filter(isSettable);
  if (settable.length === 0) {
    const fields = common.map(({ field }) => visible(field)).join(', ');
    return { reason: `a line cannot set ${fields} to the value of the others: change it by hand` };
  }
  const odd = new Set(settable.flatMap(({ others }) => others));
  const on = drift.devices.map(({ name }) => name).filter((name) => odd.has(name));
  const values = settable.map(({ field, value }) => quoteAssignment(field, valueText(value)));
  const named = row.key === '' ? [] : [quoteWord(row.key)];
  const devices = `--on ${quoteWord(on.join(','))}`;
  // After `--` a key with a dash is no option.
  const words = row.key.startsWith('-')
    ? [devices, '--', ...named, ...values]
    : [...named, ...values, devices];
  return {
    line: [resourceWords(resource), 'set', ...words].join(' '),
    summary: `set ${visible([...named, ...values].join(' '))} on ${namesText(on)}`,
  };
}

/** The value of most devices, and the devices with another one. */
function commonOf({ field, values }: FieldDrift, unread: number) {
  const most = majorityOf(values, unread);
  if (most === undefined) return [];
  const others = values.filter((one) => one !== most).flatMap(({ devices }) => devices);
  return [{ field, value: most.value, others }];
}

/** Whether `field=value` sets exactly this value. */
function isSettable({ field, value }: ReturnType<typeof commonOf>[number]): boolean {
  if (value === undefined || value === null || isNested(value)) return false;
  // Secrets are not shown, and control characters cannot be typed.
  return isAssignable(field) && !hasUnsafe(field) && fieldText(field, value) === valueText(value);
}
