import * as z from 'zod';
import { fieldFactsSchema } from './field-facts.ts';
import type { Origin, Profile, ResourceProfile, WriteFacts } from './profile.ts';

const resourceSchema = z.object({
  /** What OPTIONS said of the fields for a new record; absent when it did not say. */
  fields: z.record(z.string(), fieldFactsSchema).optional(),
  /** Methods that the collection and one record allow, upper case; absent when not said. */
  collectionAllows: z.array(z.string()).optional(),
  itemAllows: z.array(z.string()).optional(),
  /** What its records come wrapped in, and how further pages are reached, in words. */
  envelope: z.string().optional(),
  paging: z.string().optional(),
  /** Content types that writes may have. */
  parses: z.array(z.string()).optional(),
});

/** What was seen of one device without writing. It is kept, so it is plain data. */
export const learnedSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** What `GET /api/` lists: names of resources. */
  resources: z.array(z.string()).optional(),
  byResource: z.record(z.string(), resourceSchema),
});

export type LearnedResource = Readonly<z.infer<typeof resourceSchema>>;
export type Learned = Readonly<z.infer<typeof learnedSchema>>;

/**
 * A profile with what was observed put in. How a record is changed is taken from what the path of one
 * record allows; what the user has configured is never overruled.
 */
export function withLearned(profile: Profile, resource: string, learned: Learned): Profile {
  const offers = learned.resources === undefined ? {} : { offers: learned.resources };
  const seen = learned.byResource[resource];
  if (seen === undefined) return { ...profile, ...offers };
  const origins: Record<string, Origin> = {};
  let { update, remove } = profile;
  const { itemAllows, parses } = seen;
  const isOpen = (fact: string): boolean => profile.origins[fact] !== 'configured';
  const method = ['PATCH', 'PUT'].find((name) => itemAllows?.includes(name) === true);
  if ((method === 'PATCH' || method === 'PUT') && isOpen('update')) {
    const encoding = parses === undefined || parses.includes('application/json') ? 'json' : 'form';
    update = {
      method,
      path: '{item}',
      encoding,
      constants: {},
      selector: 'none',
      // A form on PUT or PATCH stores a missing boolean as false: all of the record goes along.
      record: method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole',
    } satisfies WriteFacts;
    origins['update'] = 'observed';
    origins['update.method'] = 'observed';
  }
  if (itemAllows?.includes('DELETE') === true && isOpen('remove') && remove.path === '{item}') {
    remove = { ...remove, method: 'DELETE' };
    origins['remove'] = 'observed';
  }
  const known = profile.resources[resource];
  const resources = {
    ...profile.resources,
    [resource]: resourceWith(known, resource, seen),
  };
  if (seen.fields !== undefined) origins[`resources.${resource}.fields`] = 'observed';
  return {
    ...profile,
    ...offers,
    update,
    remove,
    resources,
    origins: { ...profile.origins, ...origins },
  };
}

function resourceWith(
  known: ResourceProfile | undefined,
  resource: string,
  { fields, envelope, paging }: LearnedResource,
): ResourceProfile {
  const base = {
    keyField: resource === 'user' ? 'username' : 'name',
    fields: [],
    choiceFields: [],
    ...known,
    ...(envelope !== undefined && { envelope }),
    ...(paging !== undefined && { paging }),
  };
  if (fields === undefined) return base;
  const writable = Object.entries(fields).filter(([, field]) => !field.readOnly);
  const choices = writable.filter(([, { type, choices: list }]) => type === 'choice' && list);
  return {
    ...base,
    choiceFields: [...new Set([...base.choiceFields, ...choices.map(([name]) => name)])],
    details: fields,
  };
}
