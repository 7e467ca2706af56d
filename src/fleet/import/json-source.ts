import { JsonFailure, parseStrictJson } from '../../device/json.ts';
import type { Value } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';

export type JsonObject = Readonly<Record<string, Value>>;

/** A JSON text of the user's. Throws a UsageError that names the file. */
export function readJson(text: string, file: string): Value {
  try {
    return parseStrictJson(text.replace(/^\ufeff/, ''));
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    const { offset } = error;
    const place = offset === undefined ? '' : `:${text.slice(0, offset).split('\n').length}`;
    throw new UsageError(`${file}${place}: ${error.message}`, { cause: error });
  }
}

/** The same value as an object; undefined for anything else. */
export function asObject(value: Value | undefined): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : undefined;
}

export function asList(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : [];
}

/** A text, or a number as one; undefined for anything else and for nothing. */
export function asText(value: Value | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
