import * as z from 'zod';
import { SettingsError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import { YamlSource } from '../yaml-source.ts';
import { BUILT_IN_PROFILES, documentedProfile } from './built-in-profiles.ts';
import { namesRecord } from './record-path.ts';
import type { ListFacts, Origin, Profile, ResourceProfile, WriteFacts } from './profile.ts';

const text = z.string('must be text').min(1, 'must not be empty');
const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true');
const names = z.array(text, 'must be a list of names');

const writeSchema = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  path: text
    .regex(/^(?:\/|\{collection\}|\{item\})/, 'must begin with /, {collection} or {item}')
    .optional()
    .describe(
      '{collection}, {item}, {id}, {key}, {resource} and any {field} of the record are replaced',
    ),
  encoding: z.enum(['form', 'json']).optional(),
  constants: z
    .record(z.string(), z.string())
    .optional()
    .describe('Fields that each such write has, as in action=delete'),
  wrapper: text.optional().describe('A JSON body is put under this name, as in {resource}'),
  selector: z
    .enum(['id', 'key', 'none'])
    .optional()
    .describe('By what the body names the record: its id, its natural key, or nothing'),
  record: z
    .enum(['whole', 'changes', 'none'])
    .optional()
    .describe('What of the record the body holds'),
});

const listSchema = z.strictObject({
  path: text
    .regex(/^(?:\/|\{collection\})/, 'must begin with / or {collection}')
    .optional()
    .describe('{collection} and {resource} are replaced'),
  items: text.optional().describe('Where the records are in the answer, as in data.items'),
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
  key_field: text.optional().describe('What people call a record by'),
  fields: names.optional(),
  choice_fields: names.optional(),
  volatile: names
    .optional()
    .describe('Fields that change by themselves (counters, uptimes): shown, and never compared'),
});

/** What may be written in a profile file; every fact that is left out comes from `extends`. */
const profileSchema = z.strictObject({
  extends: text.optional(),
  base_path: text.regex(/^\/(?:.*\/)?$/, 'must begin and end with /').optional(),
  ends_with_slash: flag.optional(),
  id_fields: names
    .optional()
    .describe(
      'Fields that may hold the id, most likely first; []: records go by their natural key',
    ),
  ids: z
    .enum(['stable', 'positional'])
    .optional()
    .describe('positional: an id is the place in the list, and moves when other records go'),
  no_id: z.string().optional(),
  resources: z.record(z.string(), resourceSchema).optional(),
  list: listSchema.optional(),
  create: writeSchema.optional(),
  update: writeSchema.optional(),
  remove: writeSchema.optional(),
});

type ProfileContent = z.infer<typeof profileSchema>;

/** The JSON schema of profile files, for editors. */
export function profileJsonSchema(): unknown {
  return z.toJSONSchema(profileSchema, { io: 'input' });
}

/**
 * Reads a profile that a user wrote (YAML or JSON). Throws a SettingsError with `file:line:column`.
 *
 * @param name what the profile is called: the name of its file
 */
export function parseProfile(source: string, file: string, name: string): Profile {
  const yaml = new YamlSource(source, file, (message) => new SettingsError(message));
  const result = profileSchema.safeParse(yaml.data() ?? {});
  if (!result.success) {
    const { issues } = result.error;
    const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
    const path = issue?.path ?? [];
    if (issue?.code === 'unrecognized_keys') {
      const key = issue.keys[0] ?? '';
      throw yaml.error([...path, key], `unknown fact "${key}"${meant(key, path)}`, 'key');
    }
    throw yaml.error(path, `${String(path.at(-1) ?? 'the profile')}: ${issue?.message ?? ''}`);
  }
  const content = result.data;
  const base = content.extends === undefined ? documentedProfile : builtIn(content.extends);
  if (base === undefined) {
    const known = BUILT_IN_PROFILES.map((profile) => profile.name).join(', ');
    throw yaml.error(
      ['extends'],
      `no built-in profile "${content.extends ?? ''}"; there are ${known}`,
    );
  }
  const profile = merged(base, content, name);
  const problem = problemOf(profile);
  if (problem !== undefined) throw yaml.error(problem.path, problem.message);
  return profile;
}

/** A built-in profile by name. */
export function builtIn(name: string): Profile | undefined {
  return BUILT_IN_PROFILES.find((profile) => profile.name === name);
}

function merged(base: Profile, content: ProfileContent, name: string): Profile {
  const resources: Record<string, ResourceProfile> = {
    ...(base.resources as Record<string, ResourceProfile>),
  };
  for (const [resource, facts] of Object.entries(content.resources ?? {})) {
    const known = resources[resource];
    const path = facts.path ?? known?.path;
    const volatile = facts.volatile ?? known?.volatile;
    const isKeyed = facts.key_field !== undefined ? false : undefined;
    const single = facts.single ?? known?.single ?? isKeyed;
    resources[resource] = {
      ...(path !== undefined && { path }),
      ...(single !== undefined && { single }),
      ...(volatile !== undefined && { volatile }),
      keyField: facts.key_field ?? known?.keyField ?? 'name',
      fields: facts.fields ?? known?.fields ?? [],
      choiceFields: facts.choice_fields ?? known?.choiceFields ?? [],
    };
  }
  return {
    ...base,
    name,
    basePath: content.base_path ?? base.basePath,
    endsWithSlash: content.ends_with_slash ?? base.endsWithSlash,
    idFields: content.id_fields ?? base.idFields,
    ...(content.ids !== undefined && { ids: content.ids }),
    noId: content.no_id ?? base.noId,
    resources,
    list: mergedList(base.list, content.list),
    create: mergedWrite(base.create, content.create),
    update: mergedWrite(base.update, content.update),
    remove: mergedWrite(base.remove, content.remove),
    origins: { ...base.origins, ...configured(content) },
  };
}

function mergedWrite(base: WriteFacts, own: ProfileContent['create']): WriteFacts {
  const wrapper = own?.wrapper ?? base.wrapper;
  return {
    method: own?.method ?? base.method,
    path: own?.path ?? base.path,
    encoding: own?.encoding ?? base.encoding,
    constants: own?.constants ?? base.constants,
    ...(wrapper !== undefined && { wrapper }),
    selector: own?.selector ?? base.selector,
    record: own?.record ?? base.record,
  };
}

function mergedList(base: ListFacts, own: ProfileContent['list'] = {}): ListFacts {
  const { items, parameter, summary, detail } = own;
  const { size_parameter: sizeParameter, group_field: groupField } = own;
  return {
    ...base,
    path: own.path ?? base.path,
    paging: own.paging ?? base.paging,
    ...(items !== undefined && { items }),
    ...(parameter !== undefined && { parameter }),
    ...(sizeParameter !== undefined && { sizeParameter }),
    ...(summary !== undefined && { summary }),
    ...(detail !== undefined && { detail }),
    ...(groupField !== undefined && { groupField }),
  };
}

/** Every fact that the file states is the user's word. */
function configured(content: ProfileContent): Record<string, Origin> {
  const origins: Record<string, Origin> = {};
  const facts = {
    basePath: content.base_path,
    endsWithSlash: content.ends_with_slash,
    idFields: content.id_fields,
    ids: content.ids,
    noId: content.no_id,
    list: content.list,
    create: content.create,
    update: content.update,
    remove: content.remove,
  };
  for (const [fact, value] of Object.entries(facts)) {
    if (value !== undefined) origins[fact] = 'configured';
  }
  for (const write of ['create', 'update', 'remove'] as const) {
    for (const fact of Object.keys(content[write] ?? {}))
      origins[`${write}.${fact}`] = 'configured';
  }
  for (const fact of Object.keys(content.list ?? {})) {
    origins[`list.${fact.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase())}`] =
      'configured';
  }
  for (const [resource, facts] of Object.entries(content.resources ?? {})) {
    if (facts.path !== undefined) origins[`resources.${resource}.path`] = 'configured';
    if (facts.single !== undefined) origins[`resources.${resource}.single`] = 'configured';
    if (facts.volatile !== undefined) origins[`resources.${resource}.volatile`] = 'configured';
    origins[`resources.${resource}.fields`] = 'configured';
    origins[`resources.${resource}.keyField`] = 'configured';
  }
  return origins;
}

/** Rules that no profile can switch off. */
function problemOf({
  idFields,
  list,
  remove,
  resources,
  update,
}: Profile): { path: readonly string[]; message: string } | undefined {
  const namesOne = (facts: WriteFacts): boolean =>
    namesRecord(facts.path) || facts.selector !== 'none';
  const keyFields = Object.values(resources).map((facts) => facts?.keyField);
  const key = idFields.find((field) => keyFields.includes(field));
  if (key !== undefined) {
    const message = `"${key}" is the natural key: leave it out, and with [] {item} names a record by it`;
    return { path: ['id_fields'], message };
  }
  if (list.parameter !== undefined && list.paging !== 'page' && list.paging !== 'offset') {
    const message = 'a parameter goes with the paging "page" or "offset" only';
    return { path: ['list', 'parameter'], message };
  }
  if (remove.method === 'DELETE' && !namesRecord(remove.path)) {
    const message = 'a DELETE must go to the path of one record: {item}, {id} or {key} is missing';
    return { path: ['remove', 'path'], message };
  }
  if (!namesOne(remove)) {
    return { path: ['remove'], message: 'remove must name one record: by its path or a selector' };
  }
  if (!namesOne(update)) {
    return { path: ['update'], message: 'update must name one record: by its path or a selector' };
  }
  return undefined;
}

function meant(key: string, path: readonly PropertyKey[]): string {
  const [first] = path;
  const known =
    path.length === 0
      ? Object.keys(profileSchema.shape)
      : Object.keys(
          first === 'resources'
            ? resourceSchema.shape
            : first === 'list'
              ? listSchema.shape
              : writeSchema.shape,
        );
  const [best] = suggest(key, known);
  return best === undefined ? `, known are ${known.join(', ')}` : `, did you mean "${best}"?`;
}
