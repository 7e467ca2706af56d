import { CONTENT_TYPES, refusal, type ApiRequest, type Outcome } from '../view.ts';
import type { Dialect } from './dialect.ts';
import type { Field } from './fields.ts';
import { isObject, typeName, type Input } from './read-value.ts';

/** What a request asks to store, or why it cannot be read. */
export type Body = { readonly input: Input } | { readonly refused: Outcome };

/**
 * Reads JSON or a form, whatever the dialect takes. In a form a boolean that is missing is false and
 * a list that is missing is empty, unless only changes are sent: browsers leave out what is not ticked.
 */
export function readBody(
  { traits }: Dialect,
  request: ApiRequest,
  fields: readonly Field[],
  isPartial: boolean,
): Body {
  const type = request.contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (request.body === '' && type === '') return { input: {} };
  const encoding = traits.encodings.find((known) => CONTENT_TYPES[known] === type);
  switch (encoding) {
    case undefined: {
      const sent = request.contentType ?? '';
      return { refused: refusal(415, `Unsupported media type "${sent}" in request.`) };
    }
    case 'form':
      return { input: formInput(new URLSearchParams(request.body), fields, isPartial) };
    case 'json':
      return jsonInput(request.body);
  }
}

function jsonInput(body: string): Body {
  let sent: unknown;
  try {
    sent = JSON.parse(body);
  } catch {
    return {
      refused: refusal(400, 'JSON parse error - Expecting value: line 1 column 1 (char 0)'),
    };
  }
  if (isObject(sent)) return { input: sent };
  const text = `Invalid data. Expected a dictionary, but got ${typeName(sent)}.`;
  return { refused: { status: 400, value: { non_field_errors: [text] } } };
}

/** Nested fields are written `ipv4.mode`; of a repeated one the last counts, except in lists. */
function formInput(
  form: URLSearchParams,
  fields: readonly Field[],
  isPartial: boolean,
  prefix = '',
): Input {
  const input: Record<string, unknown> = {};
  // A field that no resource knows may still be the action or the id.
  if (prefix === '') for (const [name, text] of form) input[name] = text;
  for (const field of fields) {
    const name = `${prefix}${field.name}`;
    const texts = form.getAll(name);
    if (field.type === 'nested object') {
      const nested = [...form.keys()].some((key) => key.startsWith(`${name}.`));
      if (nested) input[field.name] = formInput(form, field.children, isPartial, `${name}.`);
      continue;
    }
    const missing = field.type === 'boolean' ? false : field.type === 'list' ? [] : undefined;
    if (texts.length > 0) {
      // `addresses=` is how a form says "none".
      const items = texts.length === 1 && texts[0] === '' ? [] : texts;
      input[field.name] = field.type === 'list' ? items : texts.at(-1);
    } else if (!isPartial && missing !== undefined) {
      input[field.name] = missing;
    }
  }
  return input;
}
