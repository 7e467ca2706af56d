import * as z from 'zod';
import { namesRecord, placeholdersIn } from './address.ts';
import { isSecretField, maskedPath } from './sensitive-fields.ts';
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
/** Fields of each such request, of the types that its JSON has. */
const constants = z.record(
  z.string(),
  z.union(
    [z.string(), z.number(), z.boolean(), z.null()],
    'must be a text, number, true, false or null',
  ),
);
const names = z.array(text, 'must be a list of names');

const fact = <Type extends z.ZodType>(type: Type, says: string): z.ZodExactOptional<Type> =>
  type.exactOptional().describe(says);

/** A path; its query has no secret, by the name of the parameter or of the field that is put in. */
function path(pattern: RegExp, message: string): z.ZodString {
  return text
    .regex(pattern, message)
    .refine(
      (value) =>
        maskedPath(value) === value &&
        !placeholdersIn(value.split('?', 2)[1] ?? '').some(isSecretField),
      'has a secret, and addresses end up in logs: state auth.header, and give the token with "login --token"',
    );
}

/** Headers of HTTP itself, of the way, and those that devsh sends anyway. */
const RESERVED =
  /^(?:host|connection|keep-alive|te|trailer|transfer-.*|upgrade|expect|content-.*|set-cookie2?|cookie2?|proxy-.*|accept.*|user-agent|if-.*|range|via|forwarded|x-forwarded-.*|origin|referer|date)$/i;

const headerName = text
  .regex(/^[A-Za-z][\w-]{0,63}$/, 'must be the name of a header, as X-API-Key')
  .refine((name) => !RESERVED.test(name), 'is a header of HTTP that cannot take a secret');

const ownPath = path(
  /^\/(?!.*(?:\.|%2e){2})(?![^?]*[%\\#])[!-~]*$/i,
  'must begin with /, without blanks and dots, and without % and #',
);

const loginSchema = z.strictObject({
  path: ownPath.describe('Where a user and a password open a session'),
  encoding: z
    .enum(['json', 'form', 'basic'])
    .default('json')
    .describe('basic: the login goes to the Authorization header of this request'),
  user_field: text.default('username').describe('The field with the user'),
  password_field: text.default('password').describe('The field with the password'),
  constants: fact(constants, 'Further fields, as in grant_type=password'),
  token_in: fact(
    text.regex(/^(?:header:[\w-]+|[^:\s]+)$/, 'must be a place, such as data.token or header:NAME'),
    'Where the response has the token: data.token, header:NAME, or body for all of it',
  ),
  cookie: fact(
    text.regex(/^[\w!#$%&'*+.^`|~-]{1,64}$/, 'must be the name of a cookie'),
    'The cookie that carries the session; token_in is where its value is, if not in Set-Cookie',
  ),
  lifetime: fact(
    text.regex(/^[1-9]\d{0,4}[smh]$/, 'must be a time, as 30m'),
    'After this time devsh logs in again, as 30m',
  ),
  logout: fact(
    z.strictObject({
      method: z.enum(['POST', 'DELETE', 'GET']).default('POST').describe('The HTTP method'),
      path: z
        .union([z.literal('{location}'), ownPath])
        .describe('The path, or {location}: as the Location header of the login says'),
    }),
    'How the session is ended',
  ),
});

const authSchema = z.strictObject({
  header: fact(headerName, 'The header of a token, if not Authorization'),
  prefix: fact(
    z.string().regex(/^[!-~]{0,64}$/, 'must be one word, or empty'),
    'What precedes the token there, as Bearer; a space follows unless it ends with = or :. ' +
      'Usually Token in Authorization (Bearer for a session), nothing in another header',
  ),
  login: fact(loginSchema, 'A session for a user and a password, instead of Basic'),
});

const writeSchema = z.strictObject({
  method: fact(z.enum(['POST', 'PUT', 'PATCH', 'DELETE']), 'The HTTP method'),
  path: fact(
    path(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}'),
    'The path, with {collection}, {item}, {id}, {key}, {resource} and any {field} of the record',
  ),
  encoding: fact(z.enum(['form', 'json']), 'The encoding of the body'),
  constants: fact(
    constants,
    'Fields in each such write, as in action=delete; in JSON with their types in YAML',
  ),
  wrapper: fact(text, 'The name that wraps a JSON body, as in {resource}'),
  attributes: fact(text, 'The name that wraps the fields in the body; id and key stay beside it'),
  content_type: fact(
    text.regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be a media type, such as application/json'),
    'The media type of a JSON body, if not application/json',
  ),
  selector: fact(
    z.enum(['id', 'key', 'none']),
    'How the body identifies the record: by id, by natural key, or not',
  ),
  record: fact(z.enum(['whole', 'changes', 'none']), 'The part of the record in the body'),
  left_out: fact(z.enum(['kept', 'erased']), 'What happens to fields that a change leaves out'),
  lists: fact(z.enum(['repeated']), 'repeated: a form has the field of a list once for each item'),
  null_as: fact(
    z.enum(['null', 'empty', 'left_out']),
    'What says null in a form: the text null, an empty text, or leaving the field out',
  ),
});

const count = text.regex(/^[1-9]\d{0,3}$/, 'must be a number from 1 to 9999').transform(Number);

/** An action that sets a password; without a path it is the ordinary change of the record. */
const rotateSchema = z.strictObject({
  ...writeSchema.pick({ method: true, path: true, selector: true }).shape,
  field: fact(text, 'The field for the new password, if not password'),
  repeat: fact(text, 'The field that repeats the new password'),
  old: fact(text, 'The field for the old password'),
  min: fact(count, 'The least length of a password'),
  max: fact(count, 'The greatest length of a password'),
  classes: fact(
    z.array(z.enum(['lower', 'upper', 'digit', 'symbol'])),
    'The characters that a password must have: lower, upper, digit, symbol',
  ),
  forbidden: fact(text, 'Characters that a password must not have'),
});

const tokenSchema = z.strictObject({
  path: path(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
    .refine((path) => namesRecord(path), 'must name one record, as {item}, {id} or {key}')
    .describe('The path of the POST that makes a new token, as {item}token/'),
  answer: fact(text, 'Where the response has the token, if not in token; as data.key'),
  constants: fact(constants, 'Fields of the request'),
});

const listSchema = z.strictObject({
  path: fact(
    path(/^(?:\/|\{collection\})/, 'must begin with / or {collection}'),
    'The path, with {collection} and {resource}',
  ),
  items: fact(text, 'Where the records are in the response, as in data.items'),
  attributes: fact(text, 'The name that wraps the fields of each record, as in JSON:API'),
  paging: fact(
    z.enum(['auto', 'none', 'next', 'page', 'offset']),
    'auto: by the next link, else by the numbers in the response',
  ),
  parameter: fact(text, 'The query parameter for the page, or for the offset'),
  size_parameter: fact(text, 'The query parameter for the number of records per page'),
  summary: fact(flag, 'The list leaves out fields that a record has at its own path'),
  detail: fact(
    path(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}').refine(
      (path) => namesRecord(path),
      'must name one record, as {item}, {id} or {key}',
    ),
    'The path of one complete record, if not {item}',
  ),
  group_field: fact(text, 'For lines as in admin="root,joe": the field of a record for its groups'),
});

const fieldSchema = z.strictObject({
  type: fact(
    z.enum(['string', 'boolean', 'integer', 'number', 'list', 'object']),
    'The type that is sent, whatever the records show',
  ),
  choices: fact(names, 'The only values that it takes'),
  nullable: fact(flag, 'true: null is a value of its own; false: null is refused'),
  read_only: fact(flag, 'Set by the device alone: refused, and never sent back'),
  create_only: fact(flag, 'Given to a new record and refused in a change'),
  write_only: fact(flag, 'Taken and not shown as it is: never compared, never sent back'),
  secret: fact(flag, 'Masked everywhere, as a password is'),
  harmless: fact(
    flag,
    'Of an account: neither gives nor takes access, so a change of the own one is free',
  ),
  rights: fact(flag, 'Of an account: may give or take access; never filled in'),
});

const resourceSchema = z.strictObject({
  path: fact(
    path(/^\//, 'must begin with /'),
    'The path of the records, if not below the base path',
  ),
  parent: fact(text, 'The resource whose records have these below them; path has {parent}'),
  removes: fact(
    z.record(z.string(), z.string()),
    'The resources that a delete also deletes, with the field that names the deleted record',
  ),
  single: fact(flag, 'One object instead of a list, as /api/system/; it has no key'),
  named_by: fact(
    z.enum(['id', 'key']),
    'key: the path of a record ends with its natural key, even if it has an id',
  ),
  key_field: fact(text, 'The natural key: the field that people know a record by'),
  fields: fact(names, 'The fields that a new record must have'),
  field_facts: fact(
    z.record(
      text,
      fieldSchema,
      'must have the facts of each field: field_facts.pin.write_only=true; in a file, field_facts: {pin: {write_only: true}}',
    ),
    'By field, what it takes and when it is sent; more exact than the lists of names',
  ),
  volatile: fact(
    names,
    'Fields that change by themselves (counters, uptimes): shown, never compared',
  ),
  bookkeeping: fact(names, 'Fields as _links and etag: shown, never compared or sent back'),
  hidden: fact(
    names,
    'Fields that the device takes and never shows: devsh sends no whole record without them',
  ),
  sent_back: fact(
    names,
    'Secrets that the device shows in clear text: sent back unchanged with a whole record',
  ),
  account_field: fact(
    text,
    'Of sessions and tokens: the field that names their account; "lockout" deletes these records',
  ),
  disabled_as: fact(
    z.record(z.string(), z.string()),
    'The fields of a disabled account and their values, such as status: suspended',
  ),
  rotate: fact(rotateSchema, 'How the password of an account is set: "rotate password"'),
  rotate_token: fact(tokenSchema, 'How the device makes a new token: "rotate token"'),
  update: fact(writeSchema, 'How this resource is changed; missing facts are those of update'),
});

const fieldsSchema = z.strictObject({
  public: fact(
    z.union([names, text.transform((name) => [name])], 'must be a list of names'),
    'Fields that are no secrets, although their names or values look like it',
  ),
});

const revisionSchema = z.strictObject({
  field: text.describe('The field of a record with its revision, as _rev'),
  in: z
    .enum(['query', 'header', 'body'])
    .describe('Where a change and a delete name it; header: as If-Match'),
  parameter: fact(text, 'Its name there, if not that of the field'),
});

/** The content of a profile file; omitted facts come from `extends`. */
export const profileSchema = z.strictObject({
  extends: fact(text, 'The built-in profile for everything left out'),
  base_path: fact(
    path(/^\/(?:.*\/)?$/, 'must begin and end with /'),
    'The path before the name of a resource, as /api/',
  ),
  ends_with_slash: fact(flag, 'Whether paths end with a slash: /api/user/ or /api/user'),
  accept: fact(
    text.regex(/^[\w!#$&^.+*/;=, "-]+$/, 'must be media types, such as application/json'),
    'The media types in the Accept header, if not JSON',
  ),
  auth: fact(authSchema, 'How a login is sent'),
  connections: fact(
    z.enum(['one', 'several']),
    'one: the device accepts only one connection at a time',
  ),
  id_fields: fact(
    names,
    'Fields that may be the id, most likely first; []: the natural key identifies records',
  ),
  ids: fact(
    z.enum(['stable', 'positional']),
    'positional: an id is the position in the list and changes if other records are deleted',
  ),
  success_if: fact(
    z.record(z.string(), z.string()),
    'Values without which a response means a failure whatever its status, as in code: 0',
  ),
  no_id: fact(z.string(), 'The id of a new record, such as null'),
  accounts: fact(
    text,
    'The resource of the accounts: "lockout" and "rotate" work on it; user without it',
  ),
  resources: fact(z.record(z.string(), resourceSchema), 'By name, the facts of one resource'),
  fields: fact(fieldsSchema, 'Of fields in all resources'),
  revision: fact(revisionSchema, 'The device refuses a write of a record that has changed since'),
  list: fact(listSchema, 'How all records of a resource are read'),
  create: fact(writeSchema, 'How a record is added'),
  update: fact(writeSchema, 'How a record is changed'),
  remove: fact(writeSchema, 'How a record is deleted'),
});

export type ProfileContent = z.infer<typeof profileSchema>;
type Facts<Schema extends z.ZodType> = NamedInCode<z.infer<Schema>>;
export type ConfiguredLogin = Facts<typeof loginSchema>;
export type ConfiguredAuth = Omit<Facts<typeof authSchema>, 'login'> & {
  readonly login?: ConfiguredLogin;
};
export type ConfiguredWrite = Facts<typeof writeSchema>;
export type ConfiguredList = Facts<typeof listSchema>;
export type ConfiguredField = Facts<typeof fieldSchema>;
export type ConfiguredResource = Omit<Facts<typeof resourceSchema>, 'update' | 'fieldFacts'>;
export type ConfiguredProfile = Omit<Facts<typeof profileSchema>, 'auth'> & {
  readonly auth?: ConfiguredAuth;
};

/** An editor takes `true` and `5` for more than text; devsh takes them as they are written. */
export function profileJsonSchema(): unknown {
  return z.toJSONSchema(profileSchema, {
    io: 'input',
    override({ jsonSchema: schema }) {
      const { type, pattern = '', enum: values } = schema;
      const fits = (one: unknown): boolean =>
        values?.includes(String(one)) ?? new RegExp(pattern).test(String(one));
      const plain = [true, false, null, 1].filter(fits);
      if (type !== 'string' || plain.length === 0) return;
      schema.type = ['string', 'boolean', 'null', 'number'];
      if (values) schema.enum = [...values, ...plain.filter((one) => one !== 1)];
    },
  });
}
