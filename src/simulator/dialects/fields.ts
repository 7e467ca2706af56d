import type { Value } from '../../device/record.ts';

interface AnyField {
  readonly name: string;
  /** Of a new record that does not say; a field without one is required. */
  readonly fallback?: Value;
  /** What is sent for it is ignored. */
  readonly readOnly?: true;
  /** It is stored and never shown. */
  readonly writeOnly?: true;
  /** Records that were never told have no such field. */
  readonly mayLack?: true;
}

export interface StringField extends AnyField {
  readonly type: 'string';
  readonly maxLength: number;
  readonly mayBeBlank?: true;
  readonly pattern?: RegExp;
  /** What is said when the pattern does not fit. */
  readonly complaint?: string;
}

export interface ChoiceField extends AnyField {
  readonly type: 'choice';
  readonly choices: readonly (readonly [value: string, displayName: string])[];
}

export interface IntegerField extends AnyField {
  readonly type: 'integer';
  readonly min: number;
  readonly max: number;
}

/** Of texts. */
export interface ListField extends AnyField {
  readonly type: 'list';
  readonly maxLength: number;
}

export interface NestedField extends AnyField {
  readonly type: 'nested object';
  readonly children: readonly Field[];
}

/** One field of a resource; the types are called as Django REST Framework calls them. */
export type Field =
  | StringField
  | ChoiceField
  | IntegerField
  | ListField
  | NestedField
  | (AnyField & { readonly type: 'boolean' })
  | (AnyField & { readonly type: 'datetime'; readonly readOnly: true });

export function isRequired({ fallback, readOnly, mayLack }: Field): boolean {
  return fallback === undefined && readOnly !== true && mayLack !== true;
}

export interface Resource {
  /** As in paths. */
  readonly name: string;
  /** The field that people call a record by, no two the same; absent for a single object. */
  readonly key?: string;
  readonly fields: readonly Field[];
}
