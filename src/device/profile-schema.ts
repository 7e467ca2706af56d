import * as z from 'zod';
import { namesRecord } from './path-template.ts';
import { suggest } from '../text/suggest.ts';
import type { NamedInCode } from '../text/yaml-names.ts';

/*
 * Every fact of a profile: its name in a file, its type and its description. The types in the code come
 * from here, with names in camel case: `key_field` is `keyField`. A start without a profile file does not
 * load zod.
 */

const text = z.string('must be text').min(1, 'must not be empty');
const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true');
const names = z.array(text, 'must be a list of names');

/** An optional fact. */
const fact = <Type extends z.ZodType>(type: Type, says: string): z.ZodExactOptional<Type> =>
  type.exactOptional().describe(says);

const writeSchema = z.strictObject({
  method: fact(z.enum(['POST', 'PUT', 'PATCH', 'DELETE']), 'The HTTP method'),
  path: fact(
    text.regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}'),
    '{collection}, {item}, {id}, {key}, {resource} and any {field} of the record are replaced',
  ),
  encoding: fact(z.enum(['form', 'json']), 'How the body is written'),
  constants: fact(
    z.record(z.string(), z.string()),
    'Fields that each such write has, as in action=delete',
  ),
  wrapper: fact(text, 'A JSON body is put under this name, as in {resource}'),
  attributes: fact(
    text,
    'In the body the fields are under this name, and what names the record beside them',
  ),
  content_type: fact(
    text.regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be a media type, as application/json'),
    'The media type of a JSON body, when that is not application/json',
  ),
  selector: fact(
    z.enum(['id', 'key', 'none']),
    'By what the body names the record: its id, its natural key, or nothing',
  ),
  record: fact(z.enum(['whole', 'changes', 'none']), 'What of the record the body holds'),
  left_out: fact(
    z.enum(['kept', 'erased']),
    'What becomes of the fields of a record that a change leaves out',
  ),
  lists: fact(z.enum(['repeated']), 'How a form has a list: its field once for each item'),
});

const listSchema = z.strictObject({
  path: fact(
    text.regex(/^(?:\/|\{collection\})/, 'must begin with / or {collection}'),
    '{collection} and {resource} are replaced',
  ),
  items: fact(text, 'Where the records are in the answer, as in data.items'),
  attributes: fact(text, 'Each record has its fields under this name, as in JSON:API'),
  paging: fact(
    z.enum(['auto', 'none', 'next', 'page', 'offset']),
    'auto: by the next link, else by the numbers that the answer shows',
  ),
  parameter: fact(text, 'The query parameter for the page, or for the offset'),
  size_parameter: fact(text, 'The query parameter for the records on a page'),
  summary: fact(flag, 'The list leaves fields out; a record has all of them at its own path'),
  detail: fact(
    text
      .regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
      .refine((path) => namesRecord(path), 'must name one record, as {item}, {id} or {key}'),
    'Where one record is read in full, when that is not {item}',
  ),
  group_field: fact(
    text,
    'Lines as in admin="root,joe": the field of a record that holds its groups',
  ),
});

const resourceSchema = z.strictObject({
  path: fact(
    text.regex(/^\//, 'must begin with /'),
    'Where the records are, when that is not below the base path',
  ),
  single: fact(flag, 'One object without a list, as /api/system/; it has no key'),
  named_by: fact(
    z.enum(['id', 'key']),
    'key: the path of a record ends with its natural key, although it has an id',
  ),
  key_field: fact(text, 'The field that people call a record by'),
  fields: fact(names, 'The fields that a new record must fill'),
  choice_fields: fact(
    names,
    'Fields that take certain values only, and are refused when they are empty',
  ),
  volatile: fact(
    names,
    'Fields that change by themselves (counters, uptimes): shown, and never compared',
  ),
  bookkeeping: fact(names, 'Fields as _links and etag: shown, neither compared nor sent back'),
  hidden: fact(
    names,
    'Fields that are taken and never shown: a whole record without them is not sent',
  ),
  sent_back: fact(
    names,
    'Secrets that are shown as they are: sent back as held with a whole record',
  ),
  update: fact(writeSchema, 'How this resource is changed; what is left out is as in update'),
});

/** The content of a profile file; omitted facts come from `extends`. */
export const profileSchema = z.strictObject({
  extends: fact(text, 'The built-in profile that gives all that is left out'),
  base_path: fact(
    text.regex(/^\/(?:.*\/)?$/, 'must begin and end with /'),
    'In front of the name of a resource, as /api/',
  ),
  ends_with_slash: fact(flag, 'Whether paths end with a slash: /api/user/ or /api/user'),
  accept: fact(
    text.regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be media types, as application/json'),
    'The media types that requests ask for (the header Accept), when not JSON',
  ),
  connections: fact(
    z.enum(['one', 'several']),
    'one: the device takes one connection at a time, so a read makes room for a write',
  ),
  id_fields: fact(
    names,
    'Fields that may hold the id, most likely first; []: records go by their natural key',
  ),
  ids: fact(
    z.enum(['stable', 'positional']),
    'positional: an id is the place in the list, and moves when other records go',
  ),
  errors_in: fact(text, 'Where a good answer to a write says what was wrong, as in results.status'),
  no_id: fact(z.string(), 'What a new record says for its id, as null'),
  resources: fact(z.record(z.string(), resourceSchema), 'By name, what is known of one resource'),
  list: fact(listSchema, 'How all records of a resource are read'),
  create: fact(writeSchema, 'How a record is added'),
  update: fact(writeSchema, 'How a record is changed'),
  remove: fact(writeSchema, 'How a record is deleted'),
});

export type ProfileContent = z.infer<typeof profileSchema>;
type Facts<Schema extends z.ZodType> = NamedInCode<z.infer<Schema>>;
export type ConfiguredWrite = Facts<typeof writeSchema>;
export type ConfiguredList = Facts<typeof listSchema>;
export type ConfiguredResource = Omit<Facts<typeof resourceSchema>, 'update'>;
export type ConfiguredProfile = Facts<typeof profileSchema>;

export function profileJsonSchema(): unknown {
  return z.toJSONSchema(profileSchema, { io: 'input' });
}

/** Suggests a fact for an unknown key at this path of a profile file. */
export function suggestFact(key: string, path: readonly PropertyKey[]): string {
  const [first] = path;
  const below =
    first === 'resources' && path.length === 2
      ? resourceSchema
      : first === 'list'
        ? listSchema
        : writeSchema;
  const known = Object.keys((path.length === 0 ? profileSchema : below).shape);
  const [best] = suggest(key, known);
  return best === undefined ? `, known are ${known.join(', ')}` : `, did you mean "${best}"?`;
}
