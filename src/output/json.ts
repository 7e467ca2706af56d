import { jsonText, type JsonValue } from '../device/value-text.ts';
import { replaceUnsafe } from '../text/visible.ts';

/** The version of every JSON document; changes only when a reader could break. */
export const SCHEMA = 'devsh/1';

/** A JSON object under construction; what is `undefined` is not written. */
export type JsonObject = Readonly<Record<string, JsonValue>>;

/**
 * JSON that keeps every value exact and is harmless in a terminal: control, bidi and invisible
 * characters and half surrogates are written as `\uXXXX`.
 */
export function toJson(value: JsonValue, options: { readonly indent?: number } = {}): string {
  return replaceUnsafe(nativeText(value, options.indent) ?? jsonText(value, options), escaped);
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

function escaped(character: string): string {
  // Inside strings it is escaped already; what is left belongs to the layout.
  if (character === '\n') return character;
  let result = '';
  for (let index = 0; index < character.length; index += 1) {
    result += '\\u' + character.charCodeAt(index).toString(16).padStart(4, '0');
  }
  return result;
}
