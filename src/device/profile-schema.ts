import * as z from 'zod';
import { namesRecord } from './path-template.ts';
import { suggest } from '../text/suggest.ts';
import type { NamedInCode } from '../text/yaml-names.ts';

/*
 * Every fact of a profile: its name in a file, its type and what it says. The types of the code come from
 * here, the names with them: `key_field` is `keyField` there. A start that reads no file does without zod.
 */

const text = z.string('must be text').min(1, 'must not be empty');
const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true');
const names = z.array(text, 'must be a list of names');

const writeSchema = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).exactOptional().describe('The HTTP method'),
  path: text
    .regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
    .exactOptional()
    .describe(
      '{collection}, {item}, {id}, {key}, {resource} and any {field} of the record are replaced',
    ),
  encoding: z.enum(['form', 'json']).exactOptional().describe('How the body is written'),
  constants: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe('Fields that each such write has, as in action=delete'),
  wrapper: text.exactOptional().describe('A JSON body is put under this name, as in {resource}'),
  attributes: text
    .exactOptional()
    .describe('In the body the fields are under this name, and what names the record beside them'),
  content_type: text
    .regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be a media type, as application/json')
    .exactOptional()
    .describe('The media type of a JSON body, when that is not application/json'),
  selector: z
    .enum(['id', 'key', 'none'])
    .exactOptional()
    .describe('By what the body names the record: its id, its natural key, or nothing'),
  record: z
    .enum(['whole', 'changes', 'none'])
    .exactOptional()
    .describe('What of the record the body holds'),
  left_out: z
    .enum(['kept', 'erased'])
    .exactOptional()
    .describe('What becomes of the fields of a record that a change leaves out'),
  lists: z
    .enum(['repeated'])
    .exactOptional()
    .describe('How a form has a list: its field once for each item'),
});

const listSchema = z.strictObject({
  path: text
    .regex(/^(?:\/|\{collection\})/, 'must begin with / or {collection}')
    .exactOptional()
    .describe('{collection} and {resource} are replaced'),
  items: text.exactOptional().describe('Where the records are in the answer, as in data.items'),
  attributes: text
    .exactOptional()
    .describe('Each record has its fields under this name, as in JSON:API'),
  paging: z
    .enum(['auto', 'none', 'next', 'page', 'offset'])
    .exactOptional()
    .describe('auto: by the next link, else by the numbers that the answer shows'),
  parameter: text.exactOptional().describe('The query parameter for the page, or for the offset'),
  size_parameter: text.exactOptional().describe('The query parameter for the records on a page'),
  summary: flag
    .exactOptional()
    .describe('The list leaves fields out; a record has all of them at its own path'),
  detail: text
    .regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
    .refine((path) => namesRecord(path), 'must name one record, as {item}, {id} or {key}')
    .exactOptional()
    .describe('Where one record is read in full, when that is not {item}'),
  group_field: text
    .exactOptional()
    .describe('Lines as in admin="root,joe": the field of a record that holds its groups'),
});

const resourceSchema = z.strictObject({
  path: text
    .regex(/^\//, 'must begin with /')
    .exactOptional()
    .describe('Where the records are, when that is not below the base path'),
  single: flag
    .exactOptional()
    .describe('One object without a list, as /api/system/; it has no key'),
  named_by: z
    .enum(['id', 'key'])
    .exactOptional()
    .describe('key: the path of a record ends with its natural key, although it has an id'),
  key_field: text.exactOptional().describe('The field that people call a record by'),
  fields: names.exactOptional().describe('The fields that a new record must fill'),
  choice_fields: names
    .exactOptional()
    .describe('Fields that take certain values only, and are refused when they are empty'),
  volatile: names
    .exactOptional()
    .describe('Fields that change by themselves (counters, uptimes): shown, and never compared'),
  bookkeeping: names
    .exactOptional()
    .describe('Fields as _links and etag: shown, neither compared nor sent back'),
  hidden: names
    .exactOptional()
    .describe('Fields that are taken and never shown: a whole record without them is not sent'),
  sent_back: names
    .exactOptional()
    .describe('Secrets that are shown as they are: sent back as held with a whole record'),
  update: writeSchema
    .exactOptional()
    .describe('How this resource is changed; what is left out is as in update'),
});

/** What may be written in a profile file; every fact that is left out comes from `extends`. */
export const profileSchema = z.strictObject({
  extends: text.exactOptional().describe('The built-in profile that gives all that is left out'),
  base_path: text
    .regex(/^\/(?:.*\/)?$/, 'must begin and end with /')
    .exactOptional()
    .describe('In front of the name of a resource, as /api/'),
  ends_with_slash: flag
    .exactOptional()
    .describe('Whether paths end with a slash: /api/user/ or /api/user'),
  accept: text
    .regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be media types, as application/json')
    .exactOptional()
    .describe('The media types that requests ask for (the header Accept), when not JSON'),
  connections: z
    .enum(['one', 'several'])
    .exactOptional()
    .describe('one: the device takes one connection at a time, so a read makes room for a write'),
  id_fields: names
    .exactOptional()
    .describe(
      'Fields that may hold the id, most likely first; []: records go by their natural key',
    ),
  ids: z
    .enum(['stable', 'positional'])
    .exactOptional()
    .describe('positional: an id is the place in the list, and moves when other records go'),
  errors_in: text
    .exactOptional()
    .describe('Where a good answer to a write says what was wrong, as in results.status'),
  no_id: z.string().exactOptional().describe('What a new record says for its id, as null'),
  resources: z
    .record(z.string(), resourceSchema)
    .exactOptional()
    .describe('By name, what is known of one resource'),
  list: listSchema.exactOptional().describe('How all records of a resource are read'),
  create: writeSchema.exactOptional().describe('How a record is added'),
  update: writeSchema.exactOptional().describe('How a record is changed'),
  remove: writeSchema.exactOptional().describe('How a record is deleted'),
});

export type ProfileContent = z.infer<typeof profileSchema>;
type Facts<Schema extends z.ZodType> = NamedInCode<z.infer<Schema>>;
export type SaidOfWrite = Facts<typeof writeSchema>;
export type SaidOfList = Facts<typeof listSchema>;
export type SaidOfResource = Omit<Facts<typeof resourceSchema>, 'update'>;
export type SaidOfProfile = Facts<typeof profileSchema>;

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
