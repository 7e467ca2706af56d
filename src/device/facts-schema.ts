import * as z from 'zod';
import { partsOf } from './json.ts';

/*
 * Every observable fact of a device, with its type. The types in the code and the check of the cache file
 * come from here. A start with nothing to check does not load zod.
 */

const names = z.array(z.string());

const fieldFactsSchema = z.object({
  /** In the words of the device: string, boolean, choice, integer, email … */
  type: z.string(),
  required: z.boolean(),
  readOnly: z.boolean(),
  label: z.string().optional(),
  maxLength: z.number().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  choices: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
});

const spelling = z.enum(['answers', 'redirects', 'not found']);

/** How the device answers other requests for the same list. */
const listResponsesSchema = z.object({
  /** With and without the trailing slash. */
  withSlash: spelling.exactOptional(),
  withoutSlash: spelling.exactOptional(),
  /** The format without an Accept header, as curl sends; `refused`: 406. */
  withoutAccept: z.enum(['JSON', 'HTML', 'text', 'refused']).exactOptional(),
});

/** How to ask for further pages without links. */
const stepSchema = z.object({
  kind: z.enum(['page', 'offset']),
  /** The query parameter for the page number, or for the index of the first record. */
  parameter: z.string(),
  /** The query parameter for the number of records per page. */
  size: z.string().exactOptional(),
});

const waySchema = z.object({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  encoding: z.enum(['form', 'json']),
});

const deviceFacts = {
  /** The resource names that `GET /api/` lists. */
  offers: names,
  answers: listResponsesSchema,
  /** Ids moved when other records were added or removed. */
  ids: z.literal('positional'),
  /** Reads showed the effect of a write late once, or come from a cache; or a write was ignored. */
  effects: z.enum(['late', 'ignored']),
  /** A write succeeded only when no other connection was open. */
  connections: z.literal('one'),
  /** Ways to write that a read-back confirmed; each way needs its own proof. */
  'proven.create': waySchema,
  'proven.update': waySchema,
  'proven.remove': waySchema,
};

const resourceFacts = {
  /** What the facts are based on: an empty list says nothing about later records. */
  asked: z.enum(['fields', 'empty list', 'records']),
  /** The fields of a new record, from OPTIONS. */
  details: z.record(z.string(), fieldFactsSchema),
  /** Methods that the list and one record allow, in upper case. */
  collectionAllows: names,
  itemAllows: names,
  /** Content types that writes may have. */
  parses: names,
  /** The envelope of the records, and how pages are reached, in words. */
  envelope: z.string(),
  paging: z.string(),
  /** How further pages were reached without links. */
  pageStep: stepSchema,
  /** A record has fields that its list leaves out. */
  summary: z.boolean(),
  /** Its list leaves out records that their own paths show. */
  hides: z.literal(true),
  /** Whether own paths show the records of the list, so that a 404 says that one is absent. */
  ownPaths: z.enum(['answer', 'no']),
  /** The path of a record ends with its natural key, not with its id. */
  namedBy: z.literal('key'),
  /** The response was one object, not a list. */
  single: z.boolean(),
  /** The path where it was found, if it differs from the profile's. */
  path: z.string().startsWith('/'),
  /** Fields managed by the device. */
  bookkeeping: names,
  /** Fields that the device refused to take: only it sets them. */
  refused: names,
  /** Fields that change without a write. */
  volatile: names,
  /** Fields that were sent but never shown. */
  hidden: names,
  /** Fields that were accepted and never shown, so that nobody knows whether the device has them. */
  untold: names,
  /** Fields that every record had. */
  shown: names,
  leftOut: z.enum(['kept', 'erased', 'not seen']),
  lists: z.literal('repeated'),
  /** What said null in a form. */
  nullAs: z.enum(['empty', 'left_out']),
};

type Values<Table extends Readonly<Record<string, z.ZodType>>> = {
  readonly [Fact in keyof Table]: Readonly<z.infer<Table[Fact]>>;
};
type DeviceFact = Values<typeof deviceFacts>;
type ResourceFact = Values<typeof resourceFacts>;

export type ResourceFacts = Partial<ResourceFact>;
/** Names a fact of the device, or of a resource as in `resources.user.volatile`. */
export type FactName = keyof DeviceFact | `resources.${string}.${keyof ResourceFact}`;
export type FactValue<Name extends FactName> = Name extends keyof DeviceFact
  ? DeviceFact[Name]
  : Name extends `resources.${string}.${infer Fact extends keyof ResourceFact}`
    ? ResourceFact[Fact]
    : never;
export type Facts = { readonly [Name in FactName]?: FactValue<Name> };

export type FieldFacts = ResourceFact['details'][string];
export type PageStep = ResourceFact['pageStep'];
export type ListResponses = DeviceFact['answers'];
export type WriteName = 'create' | 'update' | 'remove';

/** Reads the facts of a cache file; drops invalid ones, which can be observed again. */
export function parseFacts(data: unknown): Facts {
  const valid = Object.entries(partsOf(partsOf(data)['facts'])).flatMap(([name, value]) => {
    const fact = schemaOf(name)?.safeParse(value);
    return fact?.success === true ? [[name, fact.data]] : [];
  });
  return Object.fromEntries(valid) as Facts;
}

function schemaOf(name: string): z.ZodType | undefined {
  const [, fact] = /^resources\.[^.]+\.(\w+)$/.exec(name) ?? [];
  const table: Readonly<Record<string, z.ZodType>> =
    fact === undefined ? deviceFacts : resourceFacts;
  return Object.hasOwn(table, fact ?? name) ? table[fact ?? name] : undefined;
}
