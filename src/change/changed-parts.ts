import { isValueObject, jsonText } from '../device/value-text.ts';
import type { Value } from '../device/record.ts';

/** One thing that is different, as small as it can be named: `address.city`. */
export interface ChangedPart {
  readonly field: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}

/** What is different between two values of a field: of nested ones only the parts that are; a list is one. */
export function changedParts(
  field: string,
  before: Value | undefined,
  after: Value | undefined,
): ChangedPart[] {
  if (!isValueObject(before) || !isValueObject(after)) return [{ field, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((part) => {
    const [old, next] = [ownOf(before, part), ownOf(after, part)];
    const isSame = jsonText(old ?? null) === jsonText(next ?? null);
    return isSame ? [] : changedParts(`${field}.${part}`, old, next);
  });
}

type ValueObject = Readonly<Record<string, Value>>;

function ownOf(object: ValueObject, part: string): Value | undefined {
  return Object.hasOwn(object, part) ? object[part] : undefined;
}
