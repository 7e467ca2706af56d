import * as z from 'zod';

/** What a device says of one field. */
const fieldFactsSchema = z.object({
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

// Apart from what uses the facts: a start that has nothing to check does without zod.

const spelling = z.enum(['answers', 'redirects', 'not found']);

/** How one and the same list is answered when it is asked for in other ways. */
const listAnswersSchema = z.object({
  /** With the slash at the end of its path, and without it. */
  withSlash: spelling.exactOptional(),
  withoutSlash: spelling.exactOptional(),
  /** What comes when no format is asked for, as curl does; `refused`: nothing (406). */
  withoutAccept: z.enum(['JSON', 'HTML', 'text', 'refused']).exactOptional(),
});

/** The kinds of writes. */
const writeName = z.enum(['create', 'update', 'remove']);

const wayShape = {
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  encoding: z.enum(['form', 'json']),
};

/** What writing to a resource showed. */
const writingSchema = z.object({
  leftOut: z.enum(['kept', 'erased', 'not seen']).exactOptional(),
  lists: z.literal('repeated').exactOptional(),
  /** Fields that were sent and never shown. */
  hidden: z.array(z.string()).exactOptional(),
  /** Fields that each record had. */
  shown: z.array(z.string()).exactOptional(),
});

/** What is kept of observations, by device. */
const observedShape = {
  /** Ways to write that a read-back has proved; another way needs another proof. */
  proven: z.partialRecord(writeName, z.object(wayShape)).optional(),
  /** Ids were seen to move when other records came or went. */
  ids: z.literal('positional').optional(),
  /** A write was taken only when no other connection was open. */
  connections: z.literal('one').optional(),
  /** By resource: fields that change while nobody writes. */
  volatile: z.record(z.string(), z.array(z.string())).optional(),
  writing: z.record(z.string(), writingSchema).optional(),
};

const resourceSchema = z.object({
  /** There were records to look at; what an empty list shows says nothing of records that come later. */
  sawRecords: z.literal(true).optional(),
  /** What OPTIONS said of the fields for a new record; absent when it did not say. */
  fields: z.record(z.string(), fieldFactsSchema).optional(),
  /** Methods that the collection and one record allow, upper case; absent when not said. */
  collectionAllows: z.array(z.string()).optional(),
  itemAllows: z.array(z.string()).optional(),
  /** What its records come wrapped in, and how further pages are reached, in words. */
  envelope: z.string().optional(),
  paging: z.string().optional(),
  /** One record has fields that its list leaves out. */
  summary: z.boolean().optional(),
  /** The path of a record ends with its natural key, and not with its id. */
  namedBy: z.literal('key').optional(),
  /** Content types that writes may have. */
  parses: z.array(z.string()).optional(),
});

/** How further pages are asked for where no link leads to them. */
const stepSchema = z.object({
  kind: z.enum(['page', 'offset']),
  /** The query parameter with the number of the page, or of the first record. */
  parameter: z.string(),
  /** The query parameter with the number of records on a page. */
  size: z.string().exactOptional(),
});

const listingSchema = z.object({
  /** How the pages after the first were asked for, where no link led to them. */
  step: stepSchema.optional(),
  /** The answer was one object and no list. */
  single: z.boolean().optional(),
  /** Where it was found, when that is not where the profile says. */
  path: z.string().startsWith('/').optional(),
  /** Fields in which the device keeps book of a record. */
  bookkeeping: z.array(z.string()).optional(),
  /** A record that was written to has fields that the list leaves out. */
  summary: z.boolean().optional(),
});

/** What was seen of one device without writing. It is kept, so it is plain data. */
export const learnedSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** What `GET /api/` lists: names of resources. */
  resources: z.array(z.string()).optional(),
  byResource: z.record(z.string(), resourceSchema),
  answers: listAnswersSchema.optional(),
  /** What reading showed by itself, by resource: nobody asked for it. */
  listings: z.record(z.string(), listingSchema).optional(),
  ...observedShape,
});

export type WriteName = z.infer<typeof writeName>;
export type PageStep = Readonly<z.infer<typeof stepSchema>>;
export type ListAnswers = Readonly<z.infer<typeof listAnswersSchema>>;
export type SeenWriting = Readonly<z.infer<typeof writingSchema>>;
export type Observed = Readonly<z.infer<z.ZodObject<typeof observedShape>>>;
export type LearnedResource = Readonly<z.infer<typeof resourceSchema>>;
export type LearnedListing = Readonly<z.infer<typeof listingSchema>>;
export type Learned = Readonly<z.infer<typeof learnedSchema>>;
