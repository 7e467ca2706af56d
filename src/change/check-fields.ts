import type { FieldDetails } from '../device/profile.ts';
import { type FieldShape, switchValue, typedValue } from '../device/typed-value.ts';
import {
  type DeviceRecord,
  isNested,
  isValueList,
  type Value,
  valueText,
} from '../device/record.ts';

export interface FieldLimits {
  /** As the device names it: string, integer, choice … */
  readonly type: string;
  readonly maxLength?: number | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly choices?: readonly { readonly value: string }[] | undefined;
  readonly nested?: FieldShape | undefined;
}

const MOST_NAMED = 6;
const NUMERIC = ['integer', 'float', 'decimal', 'number'];

/** Why a device with these limits would refuse the value; undefined if it would not. */
export function checkValue(limits: FieldLimits, value: Value): string | undefined {
  const text = valueText(value);
  if (text === '') return undefined;
  const { type, maxLength, min, max, choices } = limits;
  if (choices !== undefined && choices.length > 0) {
    if (isValueList(value)) {
      for (const item of value) {
        const problem = checkValue(limits, item);
        if (problem !== undefined) return `${valueText(item)}: ${problem}`;
      }
      return undefined;
    }
    const values = choices.map((choice) => choice.value);
    if (values.includes(text)) return undefined;
    const more = values.length > MOST_NAMED ? ' …' : '';
    return `not one of ${values.slice(0, MOST_NAMED).join(', ')}${more}`;
  }
  if (type === 'boolean' && switchValue(text) === undefined) return 'neither true nor false';
  if (type === 'integer' && !/^[+-]?\d+$/.test(text.trim())) return 'not a whole number';
  if (NUMERIC.includes(type)) {
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number)) return 'not a number';
    if (min !== undefined && number < min) return `less than ${min}`;
    if (max !== undefined && number > max) return `more than ${max}`;
  }
  const length = Array.from(text).length;
  if (maxLength !== undefined && !isNested(value) && length > maxLength) {
    return `${length} characters, ${maxLength} at most`;
  }
  return undefined;
}

/** A text that is no valid list or nested value is the first problem. */
export function checkText(limits: FieldLimits, text: string): string | undefined {
  const typed = typedValue(text, limits.nested ?? { kind: 'text' });
  return typed.problem ?? checkValue(limits, typed.value);
}

/** By field. A change, unlike a record that `isNew`, may omit required fields, but not empty them. */
export function checkFields(
  details: Readonly<Record<string, FieldDetails>>,
  fields: DeviceRecord,
  isNew: boolean,
): Readonly<Record<string, string>> {
  const problems = new Map<string, string>();
  for (const [name, facts] of Object.entries(details)) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const isGiven = value !== undefined;
    const problem =
      facts.readOnly && isGiven
        ? 'read-only'
        : facts.createOnly === true && isGiven && !isNew
          ? 'can be set for a new record only'
          : facts.nullable === false && value === null
            ? 'must not be null'
            : facts.required && !facts.readOnly && valueText(value) === '' && (isNew || isGiven)
              ? 'required'
              : isGiven
                ? checkValue(facts, value)
                : undefined;
    if (problem !== undefined) problems.set(name, problem);
  }
  return Object.fromEntries(problems);
}
