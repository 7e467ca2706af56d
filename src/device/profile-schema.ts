import * as z from 'zod';
import { suggest } from '../suggest.ts';
import { namesRecord } from './record-path.ts';

const text = z.string('must be text').min(1, 'must not be empty');
const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true');
const names = z.array(text, 'must be a list of names');

const writeSchema = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional().describe('The HTTP method'),
  path: text
    .regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
    .optional()
    .describe(
      '{collection}, {item}, {id}, {key}, {resource} and any {field} of the record are replaced',
    ),
  encoding: z.enum(['form', 'json']).optional().describe('How the body is written'),
  constants: z
    .record(z.string(), z.string())
    .optional()
    .describe('Fields that each such write has, as in action=delete'),
  wrapper: text.optional().describe('A JSON body is put under this name, as in {resource}'),
  attributes: text
    .optional()
    .describe('In the body the fields are under this name, and what names the record beside them'),
  content_type: text
    .regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be a media type, as application/json')
    .optional()
    .describe('The media type of a JSON body, when that is not application/json'),
  selector: z
    .enum(['id', 'key', 'none'])
    .optional()
    .describe('By what the body names the record: its id, its natural key, or nothing'),
  record: z
    .enum(['whole', 'changes', 'none'])
    .optional()
    .describe('What of the record the body holds'),
  left_out: z
    .enum(['kept', 'erased'])
    .optional()
    .describe('What becomes of the fields of a record that a change leaves out'),
  lists: z
    .enum(['repeated'])
    .optional()
    .describe('How a form has a list: its field once for each item'),
});

const listSchema = z.strictObject({
  path: text
    .regex(/^(?:\/|\{collection\})/, 'must begin with / or {collection}')
    .optional()
    .describe('{collection} and {resource} are replaced'),
  items: text.optional().describe('Where the records are in the answer, as in data.items'),
  attributes: text
    .optional()
    .describe('Each record has its fields under this name, as in JSON:API'),
  paging: z
    .enum(['auto', 'none', 'next', 'page', 'offset'])
    .optional()
    .describe('auto: by the next link, else by the numbers that the answer shows'),
  parameter: text.optional().describe('The query parameter for the page, or for the offset'),
  size_parameter: text.optional().describe('The query parameter for the records on a page'),
  summary: flag
    .optional()
    .describe('The list leaves fields out; a record has all of them at its own path'),
  detail: text
    .regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
    .refine((path) => namesRecord(path), 'must name one record, as {item}, {id} or {key}')
    .optional()
    .describe('Where one record is read in full, when that is not {item}'),
  group_field: text
    .optional()
    .describe('Lines as in admin="root,joe": the field of a record that holds its groups'),
});

const resourceSchema = z.strictObject({
  path: text
    .regex(/^\//, 'must begin with /')
    .optional()
    .describe('Where the records are, when that is not below the base path'),
  single: flag.optional().describe('One object without a list, as /api/system/; it has no key'),
  named_by: z
    .enum(['id', 'key'])
    .optional()
    .describe('key: the path of a record ends with its natural key, although it has an id'),
  key_field: text.optional().describe('The field that people call a record by'),
  fields: names.optional().describe('The fields that a new record must fill'),
  choice_fields: names
    .optional()
    .describe('Fields that take certain values only, and are refused when they are empty'),
  volatile: names
    .optional()
    .describe('Fields that change by themselves (counters, uptimes): shown, and never compared'),
  bookkeeping: names
    .optional()
    .describe('Fields as _links and etag: shown, neither compared nor sent back'),
  hidden: names
    .optional()
    .describe('Fields that are taken and never shown: a whole record without them is not sent'),
  sent_back: names
    .optional()
    .describe('Secrets that are shown as they are: sent back as held with a whole record'),
  update: writeSchema
    .optional()
    .describe('How this resource is changed; what is left out is as in update'),
});

/** What may be written in a profile file; every fact that is left out comes from `extends`. */
export const profileSchema = z.strictObject({
  extends: text.optional().describe('The built-in profile that gives all that is left out'),
  base_path: text
    .regex(/^\/(?:.*\/)?$/, 'must begin and end with /')
    .optional()
    .describe('In front of the name of a resource, as /api/'),
  ends_with_slash: flag
    .optional()
    .describe('Whether paths end with a slash: /api/user/ or /api/user'),
  accept: text
    .regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be media types, as application/json')
    .optional()
    .describe('The media types that requests ask for (the header Accept), when not JSON'),
  connections: z
    .enum(['one', 'several'])
    .optional()
    .describe('one: the device takes one connection at a time, so a read makes room for a write'),
  id_fields: names
    .optional()
    .describe(
      'Fields that may hold the id, most likely first; []: records go by their natural key',
    ),
  ids: z
    .enum(['stable', 'positional'])
    .optional()
    .describe('positional: an id is the place in the list, and moves when other records go'),
  errors_in: text
    .optional()
    .describe('Where a good answer to a write says what was wrong, as in results.status'),
  no_id: z.string().optional().describe('What a new record says for its id, as null'),
  resources: z
    .record(z.string(), resourceSchema)
    .optional()
    .describe('By name, what is known of one resource'),
  list: listSchema.optional().describe('How all records of a resource are read'),
  create: writeSchema.optional().describe('How a record is added'),
  update: writeSchema.optional().describe('How a record is changed'),
  remove: writeSchema.optional().describe('How a record is deleted'),
});

export type ProfileContent = z.infer<typeof profileSchema>;

/** The JSON schema of profile files, for editors. */
export function profileJsonSchema(): unknown {
  return z.toJSONSchema(profileSchema, { io: 'input' });
}

/** What was meant by a fact that there is not, at this path of a profile file. */
export function meant(key: string, path: readonly PropertyKey[]): string {
  const [first] = path;
  const known =
    path.length === 0
      ? Object.keys(profileSchema.shape)
      : Object.keys(
          first === 'resources' && path.length === 2
            ? resourceSchema.shape
            : first === 'list'
              ? listSchema.shape
              : writeSchema.shape,
        );
  const [best] = suggest(key, known);
  return best === undefined ? `, known are ${known.join(', ')}` : `, did you mean "${best}"?`;
}
