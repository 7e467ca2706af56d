import type { FieldFacts } from './facts-schema.ts';
import { isValueList, isValueObject, jsonText, type Value, valueText } from './record.ts';
import { JsonFailure, parseStrictJson } from './json.ts';

/** What kind of value a field holds; `unknown`: nobody has told, and no record shows it. */
export type FieldShape =
  | { readonly kind: 'text' | 'boolean' | 'number' | 'unknown' }
  | { readonly kind: 'list'; readonly item: FieldShape }
  | { readonly kind: 'object' };

/** As devices name them: those of Django REST Framework, and the usual ones of schemas. */
const KINDS: readonly (readonly [kind: FieldShape['kind'], types: RegExp])[] = [
  ['text', /^(?:string|str|text|email|url|uri|regex|slug|uuid|date|time|datetime|date-time)$/i],
  ['boolean', /^bool(?:ean)?$/i],
  ['number', /^(?:integer|int|long|float|double|number)$/i],
  ['list', /^(?:list|array|multiple choice)$/i],
  ['object', /^(?:nested object|object|dict|map)$/i],
];

/**
 * What kind of value a field holds: as the device told, otherwise as all the `values` that records hold
 * in it are. Where the device shows texts for numbers, lists and booleans, they are texts; where it
 * shows what nests, no type makes a text of it.
 */
export function fieldShape(
  facts: Pick<FieldFacts, 'type'> | undefined,
  values: readonly (Value | undefined)[],
): FieldShape {
  const held = values.flatMap((value) => (value === undefined || value === null ? [] : [value]));
  const shown = heldShape(held);
  const [told] = KINDS.find(([, types]) => types.test(facts?.type ?? '')) ?? [];
  if (told === undefined || shown.kind === 'list' || shown.kind === 'object') return shown;
  if (shown.kind === 'text' && held.some((value) => value !== '')) return shown;
  return told === 'list' ? { kind: 'list', item: { kind: 'unknown' } } : { kind: told };
}

/** The kind that all values share. */
function heldShape(values: readonly Value[]): FieldShape {
  const kinds = new Set(values.map(kindOf));
  const [kind = 'unknown'] = kinds;
  if (kinds.size !== 1) return { kind: 'unknown' };
  return kind === 'list'
    ? { kind, item: heldShape(values.flatMap((value) => (isValueList(value) ? value : []))) }
    : { kind };
}

function kindOf(value: Value): FieldShape['kind'] {
  if (isValueList(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'object' ? 'object' : 'number';
}

/** What a typed text means, or why it means nothing. */
export type Typed =
  { readonly value: Value; readonly problem?: undefined } | { readonly problem: string };

/** What a word says of a switch; undefined when it says nothing. */
export function switchValue(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (/^(?:true|yes|on|enabled?|1)$/.test(word)) return true;
  return /^(?:false|no|off|disabled?|0)$/.test(word) ? false : undefined;
}

/**
 * What a user typed, as a value of the field's kind. A list is JSON when it starts with `[`, otherwise
 * its items stand between commas; an object is JSON. Text stays as it was typed: `007`, `true`.
 * What is no number or boolean stays text, too: whether the device takes it, is checked elsewhere. Where
 * no text is held, `null` is nothing.
 */
export function typedValue(text: string, shape: FieldShape): Typed {
  switch (shape.kind) {
    case 'text':
    case 'unknown':
      return { value: text };
    case 'boolean':
      return { value: isNothing(text) ? null : (switchValue(text) ?? text) };
    case 'number':
      return { value: isNothing(text) ? null : (numberIn(text.trim()) ?? text) };
    case 'object':
      return isNothing(text.trim()) ? { value: null } : objectIn(text);
    case 'list':
      return text.trimStart().startsWith('[') ? jsonList(text) : plainList(text, shape.item);
  }
}

function isNothing(text: string): boolean {
  return text === '' || text === 'null';
}

/** The text that stands for a value where it is edited: read again, it is the very same value. */
export function editText(value: Value | undefined, shape: FieldShape): string {
  if (typeof value !== 'object' || value === null) return valueText(value);
  const plain = valueText(value);
  const { value: again } = { value: undefined, ...typedValue(plain, shape) };
  const json = jsonText(value);
  return again !== undefined && jsonText(again) === json ? plain : json;
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

function jsonList(text: string): Typed {
  const value = jsonIn(text);
  return isValueList(value) ? { value } : { problem: 'no JSON list, as in ["a", "b"]' };
}

function objectIn(text: string): Typed {
  const value = jsonIn(text);
  return isValueObject(value) ? { value } : { problem: 'no JSON object, as in {"city": "Berlin"}' };
}

/** The list or the object that a text is in JSON; undefined for any other text. */
export function nestedIn(text: string): Value | undefined {
  const value = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined;
  return typeof value === 'object' ? value : undefined;
}

function jsonIn(text: string): Value | undefined {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    return undefined;
  }
}

/** `007` in a field of numbers is 7; whole numbers that are too long for a number keep their digits. */
function numberIn(text: string): number | bigint | undefined {
  if (/^[+-]?\d+$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : BigInt(text.replace('+', ''));
  }
  return /^[+-]?\d+\.\d+$/.test(text) ? Number(text) : undefined;
}
