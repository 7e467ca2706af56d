import { encodeForm, type WriteRequest } from './encode.ts';
import { formText, jsonText } from './value-text.ts';
import type { HttpRequest } from './exchange.ts';
import type { Profile } from './profile.ts';
import type { DeviceRecord, Value } from './record.ts';
import { isSecretField } from './secret-fields.ts';

export type Body = Pick<WriteRequest, 'form' | 'json' | 'contentType'>;

const FORM_TYPE = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

/** The fields of the record in a request, without what the profile wraps them in. */
export function fieldsSent({ create, update }: Profile, { form = [], json = {} }: Body): string[] {
  const wrappers = [create.wrapper, update.wrapper].filter((name) => name !== undefined);
  const [[name, inner] = ['', null], ...others] = Object.entries(json);
  const isWrapped =
    others.length === 0 &&
    typeof inner === 'object' &&
    inner !== null &&
    wrappers.some((wrapper) => wrapper === name || wrapper.includes('{resource}'));
  const body = isWrapped ? (inner as DeviceRecord) : json;
  const apart = [create.attributes, update.attributes].map((part) => part && body[part]);
  const fields = apart.find((held) => typeof held === 'object' && held !== null) ?? body;
  return [...form.map(([field]) => field), ...Object.keys(fields)];
}

/** What was sent in secret fields: a device may repeat it in what it objects to. */
export function secretsOf({ form = [], json = {} }: Body): string[] {
  return [
    ...form.flatMap(([field, text]) => (isSecretField(field) ? [text] : [])),
    ...secretsIn(json),
  ];
}

function secretsIn(value: Value): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]: [string, Value]) =>
    isSecretField(field) ? [formText(inner)] : secretsIn(inner),
  );
}

/** A body in the encoding that it has; undefined for none. */
export function bodyOf({ form, json, contentType }: Body): HttpRequest['body'] {
  if (form !== undefined) return { type: FORM_TYPE, text: encodeForm(form) };
  return json && { type: contentType ?? JSON_TYPE, text: jsonText(json) };
}
