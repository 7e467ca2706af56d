import type { Value } from '../../device/record.ts';
import { editText, switchValue, typedValue } from '../../device/typed-value.ts';
import { isValueList, valueText } from '../../device/value-text.ts';
import type { FieldChoice, FormField } from './form-fields.ts';

/** Whether the text of a boolean says yes, however it is spelt; undefined when it says neither. */
export function isOn({ type }: FormField, text: string): boolean | undefined {
  return type === 'boolean' ? switchValue(text) : undefined;
}

/** The items that the text of a list stands for. */
export function itemsOf({ nested }: FormField, text: string): readonly string[] {
  return valuesIn(nested, text).map((value) => valueText(value));
}

/** The text of the list with a choice put in, or taken out; in the order of the choices. */
export function toggledText(field: FormField, text: string, choice: string): string {
  const { nested, choices = [] } = field;
  if (nested?.kind !== 'list') return text;
  const held = valuesIn(nested, text);
  const isHeld = held.some((value) => valueText(value) === choice);
  const kept = held.filter((value) => valueText(value) !== choice);
  const { value: typed = choice } = { value: undefined, ...typedValue(choice, nested.item) };
  const added = isHeld ? [] : [typed];
  const rank = (value: Value): number =>
    choices.findIndex((known) => known.value === valueText(value));
  const values = [...kept, ...added].sort((one, other) => rank(one) - rank(other));
  return values.length === 0 ? '' : editText(values, nested);
}

/** The first choice that begins with these letters, by value or name; -1 when none does. */
export function soughtIndex(choices: readonly FieldChoice[], letters: string): number {
  const wanted = letters.toLowerCase();
  return choices.findIndex(({ value, label }) =>
    [value, label].some((text) => text.toLowerCase().startsWith(wanted)),
  );
}

function valuesIn(nested: FormField['nested'], text: string): readonly Value[] {
  const { value } = { value: undefined, ...typedValue(text, nested ?? { kind: 'text' }) };
  return isValueList(value) ? value : [];
}
