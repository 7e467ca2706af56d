import * as z from 'zod';

/*
 * Every fact that using a device may show, with its type. What the code calls them comes from here, and
 * so does the check of the file that they are kept in. A start that has nothing to check does without zod.
 */

const names = z.array(z.string());

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

const spelling = z.enum(['answers', 'redirects', 'not found']);

/** How one and the same list is answered when it is asked for in other ways. */
const listResponsesSchema = z.object({
  /** With the slash at the end of its path, and without it. */
  withSlash: spelling.exactOptional(),
  withoutSlash: spelling.exactOptional(),
  /** What comes when no format is asked for, as curl does; `refused`: nothing (406). */
  withoutAccept: z.enum(['JSON', 'HTML', 'text', 'refused']).exactOptional(),
});

/** How further pages are asked for where no link leads to them. */
const stepSchema = z.object({
  kind: z.enum(['page', 'offset']),
  /** The query parameter with the number of the page, or of the first record. */
  parameter: z.string(),
  /** The query parameter with the number of records on a page. */
  size: z.string().exactOptional(),
});

const waySchema = z.object({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  encoding: z.enum(['form', 'json']),
});

const ofDevice = {
  /** What `GET /api/` lists: names of resources. */
  offers: names,
  answers: listResponsesSchema,
  /** Ids were seen to move when other records came or went. */
  ids: z.literal('positional'),
  /** A write was taken only when no other connection was open. */
  connections: z.literal('one'),
  /** Ways to write that a read-back has proved; another way needs another proof. */
  'proven.create': waySchema,
  'proven.update': waySchema,
  'proven.remove': waySchema,
};

const ofResource = {
  /** How much the device was asked: of an empty list it says nothing of records that come later. */
  asked: z.enum(['fields', 'empty list', 'records']),
  /** What OPTIONS said of the fields for a new record. */
  details: z.record(z.string(), fieldFactsSchema),
  /** Methods that the list and one record allow, upper case. */
  collectionAllows: names,
  itemAllows: names,
  /** Content types that writes may have. */
  parses: names,
  /** What its records come wrapped in, and how further pages are reached, in words. */
  envelope: z.string(),
  paging: z.string(),
  /** How the pages after the first were asked for, where no link led to them. */
  pageStep: stepSchema,
  /** One record has fields that its list leaves out. */
  summary: z.boolean(),
  /** The path of a record ends with its natural key, and not with its id. */
  namedBy: z.literal('key'),
  /** The answer was one object and no list. */
  single: z.boolean(),
  /** Where it was found, when that is not where the profile says. */
  path: z.string().startsWith('/'),
  /** Fields in which the device keeps book of a record. */
  bookkeeping: names,
  /** Fields that change while nobody writes. */
  volatile: names,
  /** Fields that were sent and never shown. */
  hidden: names,
  /** Fields that each record had. */
  shown: names,
  leftOut: z.enum(['kept', 'erased', 'not seen']),
  lists: z.literal('repeated'),
};

type Values<Table extends Readonly<Record<string, z.ZodType>>> = {
  readonly [Fact in keyof Table]: Readonly<z.infer<Table[Fact]>>;
};
type DeviceFact = Values<typeof ofDevice>;
type ResourceFact = Values<typeof ofResource>;

/** What was seen of one resource. */
export type SeenOfResource = Partial<ResourceFact>;
/** What is said of a device as a whole by its name, of a resource as in `resources.user.volatile`. */
export type FactName = keyof DeviceFact | `resources.${string}.${keyof ResourceFact}`;
export type FactValue<Name extends FactName> = Name extends keyof DeviceFact
  ? DeviceFact[Name]
  : Name extends `resources.${string}.${infer Fact extends keyof ResourceFact}`
    ? ResourceFact[Fact]
    : never;
/** What was seen of a device, as it is kept. */
export type Facts = { readonly [Name in FactName]?: FactValue<Name> };

export type FieldFacts = ResourceFact['details'][string];
export type PageStep = ResourceFact['pageStep'];
export type ListResponses = DeviceFact['answers'];
/** The kinds of writes. */
export type WriteName = 'create' | 'update' | 'remove';

/** The facts in a file of the cache; what is not understood is left out: it can be had again. */
export function parseFacts(data: unknown): Facts {
  const { facts = older(partsOf(data)) } = partsOf(data);
  const understood = Object.entries(partsOf(facts)).flatMap(([name, value]) => {
    const fact = schemaOf(name)?.safeParse(value);
    return fact?.success === true ? [[name, fact.data]] : [];
  });
  return Object.fromEntries(understood) as Facts;
}

function schemaOf(name: string): z.ZodType | undefined {
  const [, fact] = /^resources\.[^.]+\.(\w+)$/.exec(name) ?? [];
  const table: Readonly<Record<string, z.ZodType>> = fact === undefined ? ofDevice : ofResource;
  return Object.hasOwn(table, fact ?? name) ? table[fact ?? name] : undefined;
}

const RENAMED: Readonly<Record<string, string>> = { step: 'pageStep', fields: 'details' };

/** The facts of a file of the version before, which had them grouped by how they were seen. */
function older(data: Parts): Parts {
  const { resources: offers, answers, ids, connections, proven, volatile, byResource } = data;
  const facts: Record<string, unknown> = { offers, answers, ids, connections };
  for (const [write, way] of Object.entries(partsOf(proven))) facts[`proven.${write}`] = way;
  for (const [resource, fields] of Object.entries(partsOf(volatile))) {
    facts[`resources.${resource}.volatile`] = fields;
  }
  for (const group of [data['listings'], byResource, data['writing']]) {
    for (const [resource, seen] of Object.entries(partsOf(group))) {
      for (const [name, value] of Object.entries(partsOf(seen))) {
        facts[`resources.${resource}.${RENAMED[name] ?? name}`] = value;
      }
    }
  }
  for (const [resource, seen] of Object.entries(partsOf(byResource))) {
    const { sawRecords, fields, envelope } = partsOf(seen);
    const isPart = fields !== undefined && envelope === undefined;
    facts[`resources.${resource}.asked`] =
      sawRecords === true ? 'records' : isPart ? 'fields' : 'empty list';
  }
  return facts;
}

type Parts = Readonly<Partial<Record<string, unknown>>>;

/** The parts of an object; none of anything else. */
function partsOf(data: unknown): Parts {
  const hasParts = typeof data === 'object' && data !== null && !Array.isArray(data);
  return hasParts ? (data as Parts) : {};
}
