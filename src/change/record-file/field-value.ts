import { type FieldShape, switchValue, type Typed, typedValue } from '../../device/typed-value.ts';
import { JsonFailure, parseJson } from '../../device/json.ts';
import type { Value } from '../../device/record.ts';
import { isValueList, valueText } from '../../device/value-text.ts';
import { isSameValue } from '../compare.ts';
import { decodeCell, encodeCell, type Cell } from './csv-cell.ts';

/** Whether a cell of CSV says what a record holds, in whatever kind of value. */
export function isSameCell(cell: string, held: Value | undefined): boolean {
  if (cell === encodeCell(held)) return true;
  const read = decodeCell(cell);
  if (isSameValue(read.text, held)) return true;
  const isNested = typeof held === 'object' && held !== null;
  const nested = isNested ? nestedIn(read) : undefined;
  return nested !== undefined && isSameValue(nested, held);
}

/** What a field of a file means in a field of this kind, or why it means nothing there. */
export function fieldValue(said: Value, shape: FieldShape, isCell: boolean): Typed {
  if (!isCell || typeof said !== 'string') return ofKind(said, shape);
  const cell = decodeCell(said);
  const nested = shape.kind === 'text' ? undefined : nestedIn(cell);
  return ofKind(nested ?? cell.text, shape);
}

function ofKind(said: Value, shape: FieldShape): Typed {
  if (said === null || shape.kind === 'unknown') return { value: said };
  const typed = typeof said === 'string' ? typedValue(said, shape) : { value: said };
  return typed.problem === undefined ? checked(typed.value, shape) : typed;
}

function checked(value: Value, { kind }: FieldShape): Typed {
  if (value === null) return { value };
  const isNested = typeof value === 'object';
  switch (kind) {
    case 'text':
      return isNested ? { problem: 'not a text' } : { value: valueText(value) };
    case 'boolean': {
      const said = isNested ? undefined : switchValue(String(value));
      return said === undefined ? { problem: 'neither true nor false' } : { value: said };
    }
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
        ? { value }
        : { problem: 'not a number' };
    case 'list':
      return isValueList(value) ? { value } : { problem: 'not a list' };
    case 'object':
      return isNested && !isValueList(value) ? { value } : { problem: 'not an object' };
    case 'unknown':
      return { value };
  }
}

/** A list or object that is written as JSON; undefined for what is text. */
function nestedIn({ text, isText }: Cell): Value | undefined {
  if (isText || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    return undefined;
  }
}
