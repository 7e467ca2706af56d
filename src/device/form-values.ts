import { type Profile, updateFacts, type WriteFacts } from './profile.ts';
import {
  type DeviceRecord,
  formText,
  isValueList,
  isValueObject,
  type Value,
  valueAt,
} from './record.ts';
import { textOf } from '../output/sentences.ts';

/** What says null in a form: the text `null`, an empty text, or leaving the field out. */
export type NullWord = 'null' | 'empty' | 'left_out';

/** The word for null in the forms of this resource, stated or seen; undefined if nobody knows. */
export function nullWord(
  profile: Profile,
  resource: string,
  { nullAs }: Pick<WriteFacts, 'nullAs'>,
): NullWord | undefined {
  return nullAs ?? updateFacts(profile, resource).nullAs;
}

/** What happens to the fields that a change leaves out; undefined if nobody knows. */
export function omission(
  profile: Profile,
  resource: string,
  facts: WriteFacts,
): WriteFacts['leftOut'] {
  const isPartial = facts.record !== 'whole' || facts.method === 'PATCH';
  const isSeen = profile.origins[`resources.${resource}.update.leftOut`] === 'observed';
  return isSeen && isPartial ? 'kept' : (facts.leftOut ?? (isPartial ? 'kept' : undefined));
}

/** The pairs of one field: a list repeats the field, a nested value uses dotted names; null without a word is empty. */
export function pairsOf(
  field: string,
  value: Value,
  word: NullWord = 'empty',
): [field: string, text: string][] {
  if (value === null && word !== 'empty') return word === 'null' ? [[field, 'null']] : [];
  if (isValueObject(value)) {
    return Object.entries(value).flatMap(([part, inner]) =>
      pairsOf(`${field}.${part}`, inner, word),
    );
  }
  if (!isValueList(value)) return [[field, formText(value)]];
  return value.map((item) => [field, formText(item)]);
}

interface Words {
  readonly null: NullWord | undefined;
  /** A list or object is emptied, and a part removed, by leaving it out. */
  readonly isErased: boolean;
}

/** What a form cannot say: `null of memo`, `the empty list of roles`, `the absence of zone`. JSON says all. */
export function unsayable(
  profile: Profile,
  resource: string,
  facts: WriteFacts,
  { before, fields }: { readonly before?: DeviceRecord | undefined; readonly fields: DeviceRecord },
): string[] {
  if (facts.encoding !== 'form') return [];
  const words: Words = {
    null: nullWord(profile, resource, facts),
    // What a new record does not name is not there yet.
    isErased: before === undefined || omission(profile, resource, facts) === 'erased',
  };
  return Object.entries(fields).flatMap(([field, value]) =>
    unsaidOf(field, value, valueAt(before, field), words),
  );
}

function unsaidOf(field: string, value: Value, held: Value | undefined, words: Words): string[] {
  if (value === null) {
    // Left out, a value stays unless the device erases it.
    const isSaid = words.null === 'left_out' ? words.isErased || held === null : words.null;
    return isSaid ? [] : [unsaid('null', field)];
  }
  if (isValueList(value)) {
    if (value.includes(null)) return [unsaid('null', field)];
    return value.length === 0 && !words.isErased ? [unsaid('list', field)] : [];
  }
  if (!isValueObject(value)) return [];
  const names = Object.keys(value);
  if (names.length === 0 && !words.isErased) return [unsaid('object', field)];
  const parts = isValueObject(held) ? held : {};
  const others = words.isErased ? [] : Object.keys(parts);
  return [
    ...names.flatMap((name) =>
      unsaidOf(`${field}.${name}`, value[name] ?? null, valueAt(parts, name), words),
    ),
    ...others
      .filter((name) => !Object.hasOwn(value, name))
      .map((name) => unsaid('absence', `${field}.${name}`)),
  ];
}

function unsaid(is: 'null' | 'list' | 'object' | 'absence', field: string): string {
  return textOf({ code: 'cannot-say', is, field });
}
