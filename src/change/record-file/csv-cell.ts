import {
  type DeviceRecord,
  ExactNumber,
  formText,
  isNested,
  isValueList,
  isValueObject,
  type Value,
  valueAt,
  valueText,
} from '../../device/record.ts';
import { hasUnsafe, jsonEscape, replaceUnsafe, replaceUnsafeInJson } from '../../text/visible.ts';
import { type FieldShape, type Typed, typedValue } from '../../device/typed-value.ts';
import { jsonIn } from '../../device/json.ts';
import { asBoolean, isStored } from '../../device/equality.ts';
import { attempt } from '../../errors.ts';

/**
 * How a value is written in a cell of CSV, so that it survives a round trip and is harmless in between:
 *
 * - What a spreadsheet would run as a formula (`=1+1`, `+49…`, `@x`, `-x`), and text that this reader would
 *   take for something else (`[…`, `{…`, `"…`), gets a leading apostrophe, also if it has some already;
 *   other text (`'s-Gravenhage`) is unchanged.
 * - Text with invisible characters, line breaks too, is a JSON string: `"a\u001b[31m"`.
 * - Lists and nested values are JSON. `null`, no value and the empty text are an empty cell.
 */
export function encodeCell(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return encodeText(value);
  return replaceUnsafeInJson(formText(value));
}

/** Formulas also after blanks, and with the full-width signs of Asian keyboards. */
const NEEDS_MARK = /^'*(?:\s*[=+\-@＝＋－＠]|[[{"])/;
const HAS_MARK = /^'+(?:\s*[=+\-@＝＋－＠]|[[{"])/;

function encodeText(text: string): string {
  if (hasUnsafe(text)) {
    return `"${replaceUnsafe(text.replace(/["\\]/g, '\\$&'), jsonEscape)}"`;
  }
  return NEEDS_MARK.test(text) ? `'${text}` : text;
}

interface Cell {
  readonly text: string;
  /** The cell is marked as text, whatever it looks like. */
  readonly isText: boolean;
}

/** The text of a cell, written by `encodeCell` or typed by hand. */
export function decodeCell(cell: string): Cell {
  if (HAS_MARK.test(cell)) return { text: cell.slice(1), isText: true };
  const isString = cell.startsWith('"') && cell.endsWith('"') && cell.includes('\\u');
  const text = isString ? stringIn(cell) : undefined;
  return text === undefined ? { text: cell, isText: false } : { text, isText: true };
}

/** The value of a cell whose type is not known. */
export function cellValue(given: Value): Value {
  if (typeof given !== 'string') return given;
  const cell = decodeCell(given);
  return nestedIn(cell) ?? cell.text;
}

/** The text that identifies the record of a row. */
export function keyOfRow(
  { fields }: { readonly fields: DeviceRecord },
  keyField: string,
  isCells: boolean,
): string {
  const given = valueAt(fields, keyField);
  return isCells && typeof given === 'string' ? decodeCell(given).text : valueText(given);
}

function stringIn(json: string): string | undefined {
  // Not JSON if it was typed by hand.
  const value = attempt(SyntaxError, () => JSON.parse(json) as unknown);
  return typeof value === 'string' ? value : undefined;
}

/** Whether a field of a file, perhaps a cell, equals a stored value of any type. */
export function isSame(given: Value, held: Value | undefined, isCell: boolean): boolean {
  if (!isCell || typeof given !== 'string') return isStored(given, held);
  if (given === encodeCell(held)) return true;
  const read = decodeCell(given);
  if (isStored(read.text, held)) return true;
  const nested = isNested(held) ? nestedIn(read) : undefined;
  return nested !== undefined && isStored(nested, held);
}

/** Converts a field of a file to the type of the device's field, or explains why that is not possible. */
export function fieldValue(given: Value, shape: FieldShape, isCell: boolean): Typed {
  if (!isCell || typeof given !== 'string') return ofKind(given, shape);
  const cell = decodeCell(given);
  const nested = shape.kind === 'text' ? undefined : nestedIn(cell);
  return ofKind(nested ?? cell.text, shape);
}

function ofKind(given: Value, shape: FieldShape): Typed {
  if (given === null || shape.kind === 'unknown') return { value: given };
  const typed = typeof given === 'string' ? typedValue(given, shape) : { value: given };
  return typed.problem === undefined ? checked(typed.value, shape) : typed;
}

function checked(value: Value, { kind }: FieldShape): Typed {
  if (value === null || kind === 'unknown') return { value };
  if (!FITS[kind](value)) return { problem: { code: 'bad-value', is: kind } };
  if (kind === 'text') return { value: valueText(value) };
  return { value: kind === 'boolean' ? (asBoolean(value) ?? value) : value };
}

const FITS: Readonly<Record<Exclude<FieldShape['kind'], 'unknown'>, (value: Value) => boolean>> = {
  text: (value) => !isNested(value),
  boolean: (value) => asBoolean(value) !== undefined,
  number: (value) => /^(?:number|bigint)$/.test(typeof value) || value instanceof ExactNumber,
  list: isValueList,
  object: isValueObject,
};

/** A list or an object that is written as JSON; undefined for text. */
function nestedIn({ text, isText }: Cell): Value | undefined {
  return isText || !/^\s*[[{]/.test(text) ? undefined : jsonIn(text);
}
