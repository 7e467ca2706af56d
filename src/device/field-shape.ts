import type { FieldFacts } from './field-facts.ts';
import type { Value } from './record.ts';
import { isValueList } from './value-text.ts';

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
