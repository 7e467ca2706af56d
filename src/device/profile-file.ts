import { SettingsError } from '../errors.ts';
import { YamlSource } from '../yaml-source.ts';
import { BUILT_IN_PROFILES, builtIn, documentedProfile } from './built-in-profiles.ts';
import { namesRecord } from './record-path.ts';
import { meant, profileSchema, type ProfileContent } from './profile-schema.ts';
import type { ListFacts, Origin, Profile, ResourceProfile, WriteFacts } from './profile.ts';

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

function merged(base: Profile, content: ProfileContent, name: string): Profile {
  const resources: Record<string, ResourceProfile> = {
    ...(base.resources as Record<string, ResourceProfile>),
  };
  const update = mergedUpdate(base.update, content.update);
  for (const [resource, facts] of Object.entries(content.resources ?? {})) {
    const known = resources[resource];
    const path = facts.path ?? known?.path;
    const volatile = facts.volatile ?? known?.volatile;
    const namedBy = facts.named_by ?? known?.namedBy;
    const bookkeeping = facts.bookkeeping ?? known?.bookkeeping;
    const hidden = facts.hidden ?? known?.hidden;
    const sentBack = facts.sent_back ?? known?.sentBack;
    const isKeyed = facts.key_field !== undefined ? false : undefined;
    const single = facts.single ?? known?.single ?? isKeyed;
    const collection = { ...update, path: '{collection}', selector: 'none' } as const;
    const own =
      facts.update &&
      (single === true
        ? mergedWrite(collection, facts.update)
        : mergedUpdate(update, facts.update));
    resources[resource] = {
      ...(path !== undefined && { path }),
      ...(single !== undefined && { single }),
      ...(volatile !== undefined && { volatile }),
      ...(own !== undefined && { update: own }),
      ...(bookkeeping !== undefined && { bookkeeping }),
      ...(namedBy !== undefined && { namedBy }),
      ...(hidden !== undefined && { hidden }),
      ...(sentBack !== undefined && { sentBack }),
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
    ...(content.accept !== undefined && { accept: content.accept }),
    ...(content.connections !== undefined && { connections: content.connections }),
    idFields: content.id_fields ?? base.idFields,
    ...(content.ids !== undefined && { ids: content.ids }),
    ...(content.errors_in !== undefined && { errorsIn: content.errors_in }),
    noId: content.no_id ?? base.noId,
    resources,
    list: mergedList(base.list, content.list),
    create: mergedWrite(base.create, content.create),
    update,
    remove: mergedWrite(base.remove, content.remove),
    origins: { ...base.origins, ...kept(base, content), ...configured(content) },
  };
}

function mergedWrite(base: WriteFacts, own: ProfileContent['create']): WriteFacts {
  const wrapper = own?.wrapper ?? base.wrapper;
  const attributes = own?.attributes ?? base.attributes;
  const contentType = own?.content_type ?? base.contentType;
  const leftOut = own?.left_out ?? base.leftOut;
  const lists = own?.lists ?? base.lists;
  return {
    method: own?.method ?? base.method,
    path: own?.path ?? base.path,
    encoding: own?.encoding ?? base.encoding,
    constants: own?.constants ?? base.constants,
    ...(wrapper !== undefined && { wrapper }),
    ...(attributes !== undefined && { attributes }),
    ...(contentType !== undefined && { contentType }),
    selector: own?.selector ?? base.selector,
    record: own?.record ?? base.record,
    ...(leftOut !== undefined && { leftOut }),
    ...(lists !== undefined && { lists }),
  };
}

/**
 * A PATCH or PUT goes to the path of one record: what is not said of it is no more that of a write to the
 * collection, but as REST has it.
 */
function mergedUpdate(base: WriteFacts, own: ProfileContent['update']): WriteFacts {
  const isOfRecord = own?.method === 'PATCH' || own?.method === 'PUT';
  if (!isOfRecord || own.path !== undefined || namesRecord(base.path)) {
    return mergedWrite(base, own);
  }
  const record = own.method === 'PATCH' ? 'changes' : 'whole';
  return mergedWrite({ ...base, path: '{item}', encoding: 'json', selector: 'none', record }, own);
}

function mergedList(base: ListFacts, own: ProfileContent['list'] = {}): ListFacts {
  const { items, attributes, parameter, summary, detail } = own;
  const { size_parameter: sizeParameter, group_field: groupField } = own;
  return {
    ...base,
    path: own.path ?? base.path,
    paging: own.paging ?? base.paging,
    ...(items !== undefined && { items }),
    ...(attributes !== undefined && { attributes }),
    ...(parameter !== undefined && { parameter }),
    ...(sizeParameter !== undefined && { sizeParameter }),
    ...(summary !== undefined && { summary }),
    ...(detail !== undefined && { detail }),
    ...(groupField !== undefined && { groupField }),
  };
}

/** What a file does not say of a write that it speaks of is as it was before, and so is its origin. */
function kept(base: Profile, content: ProfileContent): Record<string, Origin> {
  const origins: Record<string, Origin> = {};
  for (const write of ['create', 'update', 'remove'] as const) {
    if (content[write] === undefined) continue;
    for (const fact of Object.keys(base[write])) {
      const name = `${write}.${fact}`;
      origins[name] = base.origins[name] ?? base.origins[write] ?? 'assumed';
    }
  }
  return origins;
}

/** `left_out` of a file is `leftOut` of a profile. */
function inProfile(fact: string): string {
  return fact.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase());
}

/** Every fact that the file states is the user's word. */
function configured(content: ProfileContent): Record<string, Origin> {
  const origins: Record<string, Origin> = {};
  const facts = {
    basePath: content.base_path,
    endsWithSlash: content.ends_with_slash,
    accept: content.accept,
    connections: content.connections,
    idFields: content.id_fields,
    ids: content.ids,
    errorsIn: content.errors_in,
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
      origins[`${write}.${inProfile(fact)}`] = 'configured';
  }
  for (const fact of Object.keys(content.list ?? {})) {
    origins[`list.${inProfile(fact)}`] = 'configured';
  }
  for (const [resource, facts] of Object.entries(content.resources ?? {})) {
    if (facts.path !== undefined) origins[`resources.${resource}.path`] = 'configured';
    if (facts.single !== undefined) origins[`resources.${resource}.single`] = 'configured';
    for (const fact of ['volatile', 'bookkeeping', 'hidden', 'update'] as const) {
      if (facts[fact] !== undefined) origins[`resources.${resource}.${fact}`] = 'configured';
    }
    if (facts.sent_back !== undefined) origins[`resources.${resource}.sentBack`] = 'configured';
    if (facts.named_by !== undefined) origins[`resources.${resource}.namedBy`] = 'configured';
    origins[`resources.${resource}.fields`] = 'configured';
    origins[`resources.${resource}.keyField`] = 'configured';
  }
  return origins;
}

/** Rules that no profile can switch off. */
function problemOf({
  create,
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
  for (const [write, facts] of Object.entries({ create, update, remove })) {
    const message = misfit(write, facts);
    if (message !== undefined) return { path: [write], message };
  }
  if (!namesOne(remove)) {
    return { path: ['remove'], message: 'remove must name one record: by its path or a selector' };
  }
  if (!namesOne(update)) {
    return { path: ['update'], message: 'update must name one record: by its path or a selector' };
  }
  for (const [resource, facts] of Object.entries(resources)) {
    if (facts?.update === undefined) continue;
    const own = misfit('update', facts.update);
    if (own !== undefined) return { path: ['resources', resource, 'update'], message: own };
    if (facts.single === true || namesOne(facts.update)) continue;
    const message = 'update must name one record, or the resource be single';
    return { path: ['resources', resource, 'update'], message };
  }
  return undefined;
}

/**
 * Why facts of one kind of write cannot go together; undefined when they can.
 *
 * @param write `create`, `update` or `remove`
 */
function misfit(write: string, facts: WriteFacts): string | undefined {
  const { method, encoding, record } = facts;
  if (write !== 'remove' && method === 'DELETE')
    return 'a DELETE neither adds nor changes anything';
  if (write === 'update' && record === 'none') return 'a change without the record changes nothing';
  const ofJson = (['wrapper', 'attributes', 'contentType'] as const).find(
    (fact) => facts[fact] !== undefined,
  );
  return encoding === 'form' && ofJson !== undefined
    ? `${ofJson === 'contentType' ? 'content_type' : ofJson} goes with the encoding json only`
    : undefined;
}
