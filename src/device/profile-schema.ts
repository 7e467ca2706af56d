import * as z from 'zod';
import { namesRecord, placeholdersIn } from './address.ts';
import { isSecretField, maskedPath } from './sensitive-fields.ts';
import { nearOrAll } from '../text/suggest.ts';
import { type InCode, inCode, type NamedInCode } from '../text/yaml-names.ts';

/*
 * The one list of facts: the name of each in a file, its type and its description. A file states them, devsh
 * observes some; "profile show", the schema for editors and the docs come from here. In the code the names are in
 * camel case: `key_field` is `keyField`. A start without a profile file does not load zod.
 */

const text = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be text') })
  .min(1, 'must not be empty');
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
const texts = z.record(z.string(), z.string());

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

const HEADER = /^[A-Za-z][\w-]{0,63}$/;
const headerName = text
  .regex(HEADER, 'must be the name of a header, as X-API-Key')
  .refine((name) => !RESERVED.test(name), 'is a header of HTTP that cannot take a secret');

/** Headers with the same value in each request: no secret, as a profile is no place for one. */
const headers = z.record(
  text
    .regex(HEADER, 'must be the name of a header, as X-Tenant')
    .refine(
      (name) => /^(?:accept|content-type)$/i.test(name) || !RESERVED.test(name),
      'is a header that devsh sets itself',
    )
    .refine(
      (name) => !isSecretField(name) && !/^authorization$/i.test(name),
      'takes a secret: state auth.header, and give the token with "login --token"',
    ),
  text.regex(/^[ -~]{1,200}$/, 'must be one line of plain text'),
);

const PATH = '\\/(?!.*(?:\\.|%2e){2})(?![^?]*[%\\\\#])[!-~]*';
const ownPath = path(
  new RegExp(`^${PATH}$`, 'i'),
  'must begin with /, without blanks and dots, and without % and #',
);
const recordPath = path(
  /^(?:\/|\{collection\}|\{item\})/,
  'must begin with /, {collection} or {item}',
);
const onePath = recordPath.refine(
  (value) => namesRecord(value),
  'must name one record, as {item}, {id} or {key}',
);

const COOKIE = "cookie:[\\w!#$%&'*+.^`|~-]{1,64}";
const tokenPlace = text.regex(
  new RegExp(`^(?:${COOKIE}|(?:header:[\\w-]+|[^:\\s]+)(?: ${COOKIE})?)$`),
  'must be a place, such as data.token, header:NAME or cookie:NAME',
);
const logout = path(
  new RegExp(`^(?:(?:POST|DELETE|GET) )?(?:\\{location\\}|${PATH})$`, 'i'),
  'must be a path without blanks and dots, perhaps after a method, as DELETE /api/login',
);

const loginSchema = z.strictObject({
  path: ownPath.describe('Where a user and a password open a session'),
  encoding: z
    .enum(['json', 'form', 'basic'])
    .default('json')
    .describe('basic: the login goes to the Authorization header of this request'),
  fields: constants
    .default({ username: '{user}', password: '{password}' })
    .describe('What is sent; {user} and {password} are the login'),
  token_in: tokenPlace.describe(
    'Where the token is: data.token, header:X, cookie:X, body; a second cookie:X sends it',
  ),
  logout: fact(logout, 'As DELETE /api/login; {location} is the Location header of the login'),
});

const prefix = z.string().regex(/^[!-~]{0,64}$/, 'must be one word, or empty');

const authSchema = z.strictObject({
  header: fact(headerName, 'The header of a token, if not Authorization'),
  prefix: fact(prefix, 'What precedes the token, as Bearer; no space follows = and :'),
  login: fact(loginSchema, 'A session for a user and a password, instead of Basic'),
});

const writeSchema = z.strictObject({
  method: fact(z.enum(['POST', 'PUT', 'PATCH', 'DELETE']), 'The HTTP method'),
  path: fact(recordPath, 'With {collection}, {item}, {id}, {key}, {resource}, or any {field}'),
  encoding: fact(z.enum(['form', 'json']), 'The encoding of the body'),
  constants: fact(constants, 'Fields in each such write, as in action=delete'),
  wrapper: fact(text, 'What wraps a JSON body: {resource}; body and fields: data.attributes'),
  selector: fact(z.enum(['id', 'key', 'none']), 'How the body names the record'),
  record: fact(z.enum(['whole', 'changes', 'none']), 'The part of the record in the body'),
  left_out: fact(z.enum(['kept', 'erased', 'not seen']), 'What a change does to other fields'),
  lists: fact(z.enum(['repeated']), 'A form has the field of a list once for each item'),
  null_as: fact(z.enum(['null', 'empty', 'left_out']), 'What says null in a form'),
});

const actionPath = path(
  /^(?:(?:POST|PUT|PATCH) )?(?:\/|\{collection\}|\{item\})/,
  'must be a path, or a method and a path, as PUT {item}/password',
);

/** An action that sets a password; without a path it is the ordinary change of the record. */
const rotateSchema = z.strictObject({
  path: fact(actionPath, 'Where a new password goes, if not by a change; as PUT {item}/password'),
  fields: fact(texts, 'What is sent, if not {password: "{new}"}; as {new1: "{new}", was: "{old}"}'),
});

const tokenSchema = z.strictObject({
  path: onePath.describe('The path of the POST that makes a new token, as {item}token/'),
  answer: fact(text, 'Where the response has the token, if not in token; as data.key'),
  constants: fact(constants, 'Fields of the request'),
});

const listPath = path(/^(?:\/|\{collection\})/, 'must begin with / or {collection}');
const paging = text.regex(
  /^(?:auto|none|next|(?:page|offset)(?: [\w$.-]+){0,2})$/,
  'must be auto, none, next, page or offset, and then the names of its parameters',
);

const detailPath = z.union([z.literal('none'), onePath]);

const listSchema = z.strictObject({
  path: fact(listPath, 'The path, with {collection} and {resource}'),
  post: fact(constants, 'The list is read by a POST with these fields; path must be its own'),
  items: fact(
    text,
    'Where the records are, of several lists: data.items; members:FIELD for a="x,y"',
  ),
  attributes: fact(text, 'The name that wraps the fields of each record, as in JSON:API'),
  paging: fact(paging, 'auto, none, next; page or offset with parameters: "page current rowCount"'),
  summary: fact(flag, 'The list leaves out fields that a record has at its own path'),
  hides: fact(flag, 'The list leaves out records that their own paths show'),
  detail: fact(detailPath, 'The path of one complete record; none: it has none'),
});

export interface FieldFacts extends Readonly<
  Partial<Record<InCode<keyof typeof FIELD_WORDS>, boolean>>
> {
  /** In the words of the device (string, choice, email …) or of the profile. */
  readonly type?: string;
  /** The type is configured: values that records show do not change it. */
  readonly isStated?: boolean;
  readonly label?: string;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** The resource whose records it names by their ids. */
  readonly refers?: string;
  /** It has certain values, none of them empty, although no device has told which. */
  readonly choice?: boolean;
  /** The device wants it in a new record. */
  readonly required?: boolean;
  /** Every record had it. */
  readonly shown?: boolean;
  /** It was accepted and never shown, so that nobody knows whether the device has it. */
  readonly untold?: boolean;
}

const TYPES = ['string', 'boolean', 'integer', 'number', 'list', 'set', 'object'] as const;

/** What a profile says of a field: each word, and its negation as in `not_secret`. */
export const FIELD_WORDS = {
  needed: 'A new record must have it',
  nullable: 'null is a value of its own; not_nullable: null is refused',
  read_only: 'Set by the device alone: refused, and never sent back',
  create_only: 'Given to a new record and refused in a change',
  write_only: 'Taken and not shown as it is: never compared, never sent back',
  hidden: 'Taken and never shown: devsh sends no whole record without it',
  sent_back: 'A secret that is shown in clear text: sent back unchanged with a whole record',
  secret: 'Masked everywhere, as a password is; not_secret: never masked',
  harmless: 'Of an account: neither gives nor takes access, so a change of the own one is free',
  rights: 'Of an account: may give or take access; never filled in',
  volatile: 'Changes by itself (counters, uptimes): shown, never compared',
  bookkeeping: 'As _links and etag: shown, never compared or sent back',
} as const;

const WORDS = [...TYPES, ...Object.keys(FIELD_WORDS)];
const NEGATIONS = Object.keys(FIELD_WORDS).map((word) => `not_${word}`);

const fieldWord = z.union([
  text.refine((word) => [...WORDS, ...NEGATIONS].includes(word), {
    error: ({ input }) =>
      `unknown word "${String(input)}", ${nearOrAll(String(input), WORDS, 'words')}`,
  }),
  z.strictObject({ choices: names }),
  z.strictObject({ refers: text }),
]);

const fieldSchema = z
  .union([fieldWord, z.array(fieldWord)])
  .transform((words) =>
    [words].flat().reduce<FieldFacts>((all, word) => ({ ...all, ...factsOfWord(word) }), {}),
  );

function factsOfWord(word: z.infer<typeof fieldWord>): FieldFacts {
  if (typeof word !== 'string') {
    if ('refers' in word) return word;
    return { choices: word.choices.map((value) => ({ value, label: value })) };
  }
  if ((TYPES as readonly string[]).includes(word)) return { type: word, isStated: true };
  return { [inCode(word.replace(/^not_/, ''))]: !word.startsWith('not_') };
}

const optionsSchema = z.strictObject({
  of: text,
  list: names.exactOptional(),
  record: names.exactOptional(),
  takes: names.exactOptional(),
});
const fields = z.record(text, fieldSchema, 'needs the words of each field, as {pin: [write_only]}');

const resourceSchema = z.strictObject({
  path: fact(path(/^\//, 'must begin with /'), 'The path, if not below the base path'),
  parent: fact(text, 'The resource whose records have these below them; path has {parent}'),
  removes: fact(texts, 'What else a delete deletes: resources, with the field of its key'),
  single: fact(flag, 'One object instead of a list, as /api/system/; it has no key'),
  named_by: fact(z.enum(['id', 'key']), 'Whether the path of a record ends with its id or its key'),
  key_field: fact(text, 'The natural key: the field that people know a record by'),
  fields: fact(fields, 'By field: a type, {choices: [a, b]}, {refers: RESOURCE}, words'),
  account_field: fact(text, 'Of sessions and tokens: the field that names their account'),
  disabled_as: fact(texts, 'The fields of a disabled account, such as status: suspended'),
  deleted_as: fact(texts, 'What a deleted record has that stays in the list, as status: deleted'),
  rotate: fact(rotateSchema, 'How the password of an account is set: "rotate password"'),
  rotate_token: fact(tokenSchema, 'How the device makes a new token: "rotate token"'),
  options: fact(optionsSchema, 'What OPTIONS said: methods of the list and a record, media types'),
  list: fact(listSchema, 'How this resource is read; missing facts are those of list'),
  update: fact(writeSchema, 'How this resource is changed; missing facts are those of update'),
});

const revisionIn = text.regex(
  /^(?:header|(?:query|body)(?::[^:\s]+)?)$/,
  'must be query, header or body',
);
const revisionSchema = z.strictObject({
  field: text.describe('The field of a record with its revision, as _rev'),
  in: revisionIn.describe('Where a write names it: header (If-Match), body, query; as query:rev'),
});

const basePath = path(/^\/(?:.*\/)?$/, 'must begin and end with /');
const nameOrNames = z.union([names, text.transform((name) => [name])], 'must be a list of names');

/** The content of a profile file; omitted facts come from `extends`. */
export const profileSchema = z.strictObject({
  extends: fact(text, 'The built-in profile for everything left out'),
  base_path: fact(basePath, 'The path before the name of a resource, as /api/'),
  ends_with_slash: fact(flag, 'Whether paths end with a slash: /api/user/ or /api/user'),
  headers: fact(headers, 'Headers of each request, as Accept; Content-Type of JSON bodies'),
  auth: fact(authSchema, 'How a login is sent'),
  id_fields: fact(names, 'Fields that may be the id, most likely first; []: the key is the id'),
  ids: fact(z.enum(['stable', 'positional']), 'positional: ids are places in the list, and change'),
  success_if: fact(texts, 'Values without which any response is a failure, as in code: 0'),
  accounts: fact(text, 'The resource that "lockout" and "rotate" work on, if not user'),
  public: fact(nameOrNames, 'Fields that are no secrets, although they look like it'),
  offers: fact(names, 'The resources that the device has'),
  effects: fact(z.enum(['late', 'ignored']), 'Lists show a write late; writes had no effect'),
  resources: fact(z.record(z.string(), resourceSchema), 'By name, the facts of one resource'),
  revision: fact(revisionSchema, 'The device refuses a write of a record that has changed since'),
  list: fact(listSchema, 'How all records of a resource are read'),
  create: fact(writeSchema, 'How a record is added'),
  update: fact(writeSchema, 'How a record is changed'),
  remove: fact(writeSchema, 'How a record is deleted'),
});

export type ProfileContent = z.infer<typeof profileSchema>;
export type ConfiguredProfile = NamedInCode<ProfileContent>;
export type ConfiguredAuth = NonNullable<ConfiguredProfile['auth']>;
export type ConfiguredLogin = NonNullable<ConfiguredAuth['login']>;
export type ConfiguredWrite = NonNullable<ConfiguredProfile['create']>;
export type ConfiguredList = NonNullable<ConfiguredProfile['list']>;
export type ConfiguredResource = NonNullable<ConfiguredProfile['resources']>[string];

type Schema = z.core.JSONSchema.BaseSchema;

/** Every fact as a line states it, and what it means: those of these resources, too. */
export function* statedFacts(
  resources: readonly string[],
  { properties = {} } = z.toJSONSchema(profileSchema, { io: 'input' }) as Schema,
  above = '',
): Generator<{ readonly text: string; readonly summary: string | undefined }> {
  for (const [name, fact] of Object.entries(properties)) {
    const { properties: parts, additionalProperties: each, description: summary } = fact as Schema;
    const own = above + name;
    if (own === 'resources') {
      for (const one of resources) yield* statedFacts(resources, each as Schema, `${own}.${one}.`);
    } else if (parts === undefined) yield { text: `${own}=`, summary };
    else if (name !== 'options') yield* statedFacts(resources, fact as Schema, `${own}.`);
  }
}

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
