import type { FieldFacts } from './profile-schema.ts';
import {
  exactNumber,
  isNested,
  isValueList,
  isValueObject,
  jsonText,
  sorted,
  type Value,
  valueText,
} from './record.ts';
import { asBoolean } from './equality.ts';
import { JsonFailure, parseStrictJson } from './json.ts';
import { attempt } from '../errors.ts';
import type { Note } from '../output/sentences.ts';

/** The kind of a field's values; `unknown` if neither the device nor a record shows it. */
export type FieldShape =
  | { readonly kind: 'text' | 'boolean' | 'number' | 'unknown' }
  | { readonly kind: 'list'; readonly item: FieldShape; readonly isSet?: boolean }
  | { readonly kind: 'object' };

/** Type names of Django REST Framework and common schemas. */
const KINDS: readonly (readonly [kind: FieldShape['kind'], types: RegExp])[] = [
  ['text', /^(?:string|str|text|email|url|uri|regex|slug|uuid|date|time|datetime|date-time)$/i],
  ['boolean', /^bool(?:ean)?$/i],
  ['number', /^(?:integer|int|long|float|double|number)$/i],
  ['list', /^(?:list|array|set|multiple choice)$/i],
  ['object', /^(?:nested object|object|dict|map)$/i],
];

/** The type that the device reports, else the common kind of `values`; shown texts, lists and objects win. */
export function fieldShape(
  facts: Pick<FieldFacts, 'type' | 'isStated'> | undefined,
  values: readonly (Value | undefined)[],
): FieldShape {
  const counted = facts?.isStated === true ? [] : values;
  const present = counted.flatMap((value) =>
    value === undefined || value === null ? [] : [value],
  );
  const shown = commonShape(present);
  const [reported] = KINDS.find(([, types]) => types.test(facts?.type ?? '')) ?? [];
  const isSet = facts?.type === 'set';
  if (shown.kind === 'list' && isSet) return { ...shown, isSet };
  if (reported === undefined || shown.kind === 'list' || shown.kind === 'object') return shown;
  if (shown.kind === 'text' && present.some((value) => value !== '')) return shown;
  return reported === 'list'
    ? { kind: reported, item: { kind: 'unknown' }, isSet }
    : { kind: reported };
}

function commonShape(values: readonly Value[]): FieldShape {
  const kinds = new Set(values.map(kindOf));
  const [kind = 'unknown'] = kinds;
  if (kinds.size !== 1) return { kind: 'unknown' };
  return kind === 'list'
    ? { kind, item: commonShape(values.flatMap((value) => (isValueList(value) ? value : []))) }
    : { kind };
}

function kindOf(value: Value): FieldShape['kind'] {
  if (isValueList(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return isValueObject(value) ? 'object' : 'number';
}

/** The value of a typed text, or why it has none. */
export type Typed =
  { readonly value: Value; readonly problem?: undefined } | { readonly problem: Note | string };

/** Reads typed text as the kind of the field: a list as JSON or by commas, an object as JSON. Other text stays. */
export function typedValue(text: string, shape: FieldShape): Typed {
  switch (shape.kind) {
    case 'text':
    case 'unknown':
      return { value: text };
    case 'boolean':
      return { value: isNothing(text) ? null : (asBoolean(text) ?? text) };
    case 'number':
      return { value: isNothing(text) ? null : (numberIn(text.trim()) ?? text) };
    case 'object':
      return isNothing(text.trim()) ? { value: null } : jsonTyped(text, 'object');
    case 'list':
      return asSet(
        text.trimStart().startsWith('[') ? jsonTyped(text, 'list') : plainList(text, shape.item),
        shape,
      );
  }
}

function isNothing(text: string): boolean {
  return text === '' || text === 'null';
}

/** The text to edit a value with; reading it again gives the same value. */
export function editText(value: Value | undefined, shape: FieldShape): string {
  if (!isNested(value)) return valueText(value);
  const plain = valueText(value);
  const { value: reread } = { value: undefined, ...typedValue(plain, shape) };
  const json = jsonText(value);
  return reread !== undefined && jsonText(reread) === json ? plain : json;
}

function asSet(typed: Typed, { isSet = false }: { readonly isSet?: boolean }): Typed {
  return isSet && typed.problem === undefined ? { value: sorted(typed.value) } : typed;
}

function plainList(text: string, item: FieldShape): Typed {
  if (text.trim() === '') return { value: [] };
  const values: Value[] = [];
  for (const part of text.split(',')) {
    const typed = typedValue(part.trim(), item);
    if (typed.problem !== undefined) return typed;
    values.push(typed.value);
  }
  return { value: values };
}

function jsonTyped(text: string, is: 'list' | 'object'): Typed {
  const value = jsonIn(text);
  const isFit = is === 'list' ? isValueList(value) : isValueObject(value);
  return value !== undefined && isFit ? { value } : { problem: { code: 'bad-value', is } };
}

/** The list or object in a JSON text; undefined for other text. */
export function nestedIn(text: string): Value | undefined {
  const value = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined;
  return isNested(value) ? value : undefined;
}

function jsonIn(text: string): Value | undefined {
  return attempt(JsonFailure, () => parseStrictJson(text));
}

/** `007` in a number field is 7; integers too long for a number become `bigint`. */
function numberIn(text: string): Value | undefined {
  const [, sign = '', digits] = /^[+]?(-?)0*(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  return digits === undefined ? undefined : exactNumber(sign + digits);
}
