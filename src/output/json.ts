import { jsonText, type JsonValue } from '../device/value-text.ts';
import { replaceUnsafeInJson } from '../text/visible.ts';

/** The version of every JSON document; changes only when a reader could break. */
export const SCHEMA = 'devsh/1';

/** A JSON object under construction; what is `undefined` is not written. */
export type JsonObject = Readonly<Record<string, JsonValue>>;

/**
 * JSON that keeps every value exact and is harmless in a terminal: control, bidi and invisible
 * characters and half surrogates are written as `\uXXXX`.
 */
export function toJson(value: JsonValue, options: { readonly indent?: number } = {}): string {
  const text = nativeText(value, options.indent) ?? jsonText(value, options);
  // Line breaks inside strings are escaped already; those left belong to the layout.
  return text.split('\n').map(replaceUnsafeInJson).join('\n');
}

/** Three times faster, but it knows no `bigint` and is recursive: undefined where it gives up. */
function nativeText(value: JsonValue, indent: number | undefined): string | undefined {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}
