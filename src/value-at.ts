/** A field of a record; undefined when it has none. Objects inherit a `constructor`, which is no field. */
export function valueAt<T>(
  record: Readonly<Record<string, T>> | undefined,
  field: string,
): T | undefined {
  return record !== undefined && Object.hasOwn(record, field) ? record[field] : undefined;
}
