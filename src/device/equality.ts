import {
  ExactNumber,
  formText,
  isNested,
  isValueList,
  isValueObject,
  type Value,
} from './record.ts';

type Held = Value | undefined;

/** Equal at any depth: numbers by value, objects in any order. Null, absent and each kind of empty are different. */
export function isEqual(one: Held, other: Held): boolean {
  if (one === other) return true;
  if (isNested(one)) return haveEqualParts(one, other, isEqual);
  return isNumber(one) && isNumber(other) && decimal(one) === decimal(other);
}

/** Whether the device holds what was sent, perhaps spelled its way: `5` as `"5"`, `true` as `1` or `"on"`. */
export function isStored(sent: Held, held: Held): boolean {
  if (isEqual(sent, held)) return true;
  if (isNested(sent)) return haveEqualParts(sent, held, isStored);
  if (sent === undefined || held === undefined || isNested(held)) return false;
  if (sent === null || held === null || sent === '' || held === '') return false;
  if (typeof sent === 'boolean' || typeof held === 'boolean') {
    const [a, b] = [asBoolean(sent), asBoolean(held)];
    if (a !== undefined && b !== undefined) return a === b;
  }
  return formText(sent) === formText(held);
}

function haveEqualParts(
  one: Value,
  other: Held,
  areEqual: (part: Held, otherPart: Held) => boolean,
): boolean {
  if (isValueList(one)) {
    if (!isValueList(other) || one.length !== other.length) return false;
    return one.every((item, index) => areEqual(item, other[index]));
  }
  if (!isValueObject(one) || !isValueObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && areEqual(one[name], other[name]))
  );
}

type NumberValue = number | bigint | ExactNumber;

function isNumber(value: Held): value is NumberValue {
  return ['number', 'bigint'].includes(typeof value) || value instanceof ExactNumber;
}

/** One text for each number: `15e-1` for 1.5, 1.50 and 150e-2. */
function decimal(number: NumberValue): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(number)) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return '0';
  const places = BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - digits.length);
  return `${sign}${digits}e${places}`;
}

/** The boolean that a value stands for: `true`, `"True"`, `1`, `off`, `enabled`. */
export function asBoolean(value: Held): boolean | undefined {
  const word = isNested(value) ? '' : String(value).trim().toLowerCase();
  if (/^(?:true|yes|on|enabled?|1)$/.test(word)) return true;
  return /^(?:false|no|off|disabled?|0)$/.test(word) ? false : undefined;
}
