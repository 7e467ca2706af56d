import * as z from 'zod';

type Schema = z.core.JSONSchema.BaseSchema;

/** The keys that an object may have at this path of what the schema describes. */
export function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const whole: Schema = z.toJSONSchema(schema, { io: 'input' });
  const object = path.reduce<Schema | undefined>(
    (above, key) => above && partOf(above, String(key)),
    whole,
  );
  return Object.keys(object?.properties ?? {});
}

function partOf({ properties, additionalProperties, items }: Schema, key: string) {
  const part = properties?.[key] ?? additionalProperties ?? items;
  return typeof part === 'object' && !Array.isArray(part) ? part : undefined;
}
