import * as z from 'zod';

/** What a device says of one field. */
export const fieldFactsSchema = z.object({
  /** As the device names it: string, boolean, choice, integer, email … */
  type: z.string(),
  required: z.boolean(),
  readOnly: z.boolean(),
  label: z.string().optional(),
  maxLength: z.number().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  choices: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
});

export type FieldFacts = Readonly<z.infer<typeof fieldFactsSchema>>;
