import { keysAt } from '../text/schema-keys.ts';
import { nearOrAll } from '../text/suggest.ts';
import { namesRecord } from './address.ts';
import { parseDocument } from 'yaml';
import { SettingsError, UsageError } from '../errors.ts';
import { YamlSource } from '../text/yaml-source.ts';
import { partsOf } from './json.ts';
import { inTodaysWords } from './old-profile.ts';
import { BUILT_IN_PROFILES, builtIn } from './built-in-profiles.ts';
import { declareSecrets, openFields } from './secret-names.ts';
import { type ConfiguredLogin, type ProfileContent, profileSchema } from './profile-schema.ts';
import {
  collectionPath,
  type Fact,
  factsOf,
  listRequest,
  logoutParts,
  type Origin,
  type Profile,
  profileWith,
  resourceOf,
  updateFacts,
  type WriteFacts,
  WRITES,
} from './profile.ts';
import type { Note } from '../output/sentences.ts';

/** Throws a SettingsError with `file:line:column`. `name` is that of the file. */
export function parseProfile(source: string, file: string, name: string): Profile {
  const yaml = new YamlSource(source, file, SettingsError);
  const { facts, ignored } = inTodaysWords(
    partsOf(yaml.data({ readsScalars: ['constants', 'post'] })),
  );
  const result = profileSchema.safeParse(facts);
  if (!result.success) {
    const { issues } = result.error;
    const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
    const path = issue?.path ?? [];
    if (issue?.code === 'unrecognized_keys') {
      const key = issue.keys[0] ?? '';
      const hint = nearOrAll(key, keysAt(profileSchema, path), 'facts');
      throw yaml.error([...path, key], { code: 'bad-profile', is: 'unknown', key, hint }, 'key');
    }
    const { message = '' } =
      issue?.code === 'invalid_key' ? (issue.issues[0] ?? issue) : (issue ?? {});
    throw yaml.error(
      path,
      `${path.findLast((part) => typeof part === 'string') ?? 'the profile'}: ${message}`,
    );
  }
  const { extends: from = 'documented', ...content } = result.data;
  const base = builtIn(from);
  if (base === undefined) {
    const known = BUILT_IN_PROFILES.map((profile) => profile.name).join(', ');
    throw yaml.error(['extends'], { code: 'bad-profile', is: 'extends', from, known });
  }
  const profile = { ...merged(base, content, name), ...(ignored.length > 0 && { ignored }) };
  for (const [path, problem] of problemsOf(profile))
    throw yaml.error(path, { code: 'bad-profile', ...problem });
  return profile;
}

type FileContent = Omit<ProfileContent, 'extends'>;

function merged(base: Profile, content: FileContent, name: string): Profile {
  openFields(content.public ?? []);
  declareSecretFields(content);
  const origins = { ...base.origins, ...unchangedOrigins(base, content) };
  const usual = profileWith({ ...base, name, origins }, conventions(base, content));
  return profileWith(usual, factsOf(content), 'configured');
}

/** What a device takes and does not show is a secret, unless the profile says that it is none. */
function declareSecretFields({ resources = {} }: FileContent): void {
  const fields = Object.values(resources).flatMap((facts) => Object.entries(facts.fields ?? {}));
  for (const [field, { secret, writeOnly }] of fields) {
    const isSecret = secret ?? (writeOnly || undefined);
    if (isSecret === undefined) continue;
    // A record has a nested field, as snmp.community, by its last name.
    declareSecrets(isSecret ? [field, field.replace(/.*\./, '')] : [field], isSecret);
  }
}

/** What follows from the facts of a file, as long as it states nothing else. */
function* conventions(base: Profile, content: FileContent): Generator<Fact> {
  const { create, update: stated, resources = {} } = content;
  const update = { ...base.update, ...usualUpdate(base.update, stated), ...stated };
  yield* factsOf({ update: usualUpdate(base.update, stated) });
  // What wraps a new record wraps a changed one, too.
  const isWrapped = create?.wrapper !== undefined && update.encoding === 'json';
  if (isWrapped) yield ['update.wrapper', create.wrapper];
  for (const [resource, facts] of Object.entries(resources)) {
    const { fields = {}, key_field: key, parent, update: own } = facts;
    const { single } = { ...base.resources[resource], ...facts };
    const group = `resources.${resource}`;
    if (single === undefined && (key ?? parent) !== undefined) yield [`${group}.single`, false];
    // A profile that names the fields of a new record does so in place of the document.
    if (Object.values(fields).some(({ needed }) => needed)) yield [`${group}.fields`, {}];
    if (own !== undefined && single !== true) {
      yield* factsOf({ resources: { [resource]: { update: usualUpdate(update, own) } } });
    }
  }
}

/** PATCH and PUT go to one record: facts that are not configured follow REST conventions. */
function usualUpdate(base: WriteFacts, own: FileContent['update'] = {}): Partial<WriteFacts> {
  const isOfRecord = own.method === 'PATCH' || own.method === 'PUT';
  if (!isOfRecord || own.path !== undefined || namesRecord(base.path)) return {};
  const record = own.method === 'PATCH' ? 'changes' : 'whole';
  return { path: '{item}', encoding: 'json', selector: 'none', record };
}

/** Origins of the facts that a file leaves unchanged in a write that it configures. */
function unchangedOrigins(
  { origins, ...base }: Profile,
  content: FileContent,
): Record<string, Origin> {
  const names = WRITES.filter((write) => content[write] !== undefined).flatMap((write) =>
    Object.keys(base[write]).map((fact) => [write, `${write}.${fact}`] as const),
  );
  return Object.fromEntries(
    names.map(([write, name]) => [name, origins[name] ?? origins[write] ?? 'assumed']),
  );
}

type Problem = Without<Note & { readonly code: 'bad-profile' }, 'code'>;
type Without<Each, Key extends PropertyKey> = Each extends unknown ? Omit<Each, Key> : never;

/** Violations of the rules that no profile can disable, most important first. */
function* problemsOf(profile: Profile): Generator<[path: string[], Problem]> {
  const { auth, create, idFields, remove, resources, update } = profile;
  const namesOne = ({ path, selector }: WriteFacts): boolean =>
    namesRecord(path) || selector !== 'none';
  const key = idFields.find((field) =>
    Object.values(resources).some((facts) => facts?.keyField === field),
  );
  if (key !== undefined) {
    yield [['id_fields'], { is: 'natural-key', key }];
  }
  if (remove.method === 'DELETE' && !namesRecord(remove.path)) {
    yield [['remove', 'path'], { is: 'delete-path' }];
  }
  const { method: read, path: list } = listRequest(profile, 'user');
  if (read === 'POST' && list === collectionPath(profile, 'user')) {
    yield [['list', 'post'], { is: 'list-post' }];
  }
  const problem = auth?.login && loginProblem(auth.login, profile);
  if (problem !== undefined) yield [['auth', 'login'], problem];
  for (const [write, facts] of Object.entries({ create, update, remove })) {
    const problem = contradiction(write, facts);
    if (problem !== undefined) yield [[write], problem];
    else if (write !== 'create' && !namesOne(facts)) yield [[write], { is: 'nameless', write }];
  }
  for (const [resource, facts = resourceOf(profile, '')] of Object.entries(resources)) {
    const { parent, path = '', single = false, update: stated } = facts;
    const above = parent === undefined ? undefined : resources[parent];
    const isNamed = /^[^?#]*\/\{parent\}\/[^{}?#]+$/.test(path);
    if (isNamed !== (parent !== undefined)) yield [['resources', resource], { is: 'parent-path' }];
    if (above?.parent !== undefined || above?.single === true)
      yield [['resources', resource], { is: 'parent-list' }];
    const own = updateFacts(profile, resource);
    const unnamed = { is: 'nameless-update' } as const;
    const problem = contradiction('update', own) ?? (single || namesOne(own) ? undefined : unnamed);
    if (stated !== undefined && problem !== undefined)
      yield [['resources', resource, 'update'], problem];
  }
}

/** Why a login contradicts itself, or would write to records. */
function loginProblem(login: ConfiguredLogin, profile: Profile): Problem | undefined {
  const { logout } = login;
  const plain = (path: string): string => path.replace(/[?#].*$|\/+$/g, '');
  const path = plain(login.path);
  if (login.encoding !== 'basic' && !Object.values(login.fields).includes('{password}'))
    return { is: 'login-password' };
  const collections = Object.keys(profile.resources).map((name) => collectionPath(profile, name));
  if (collections.map(plain).includes(path)) return { is: 'login-path', path };
  const { method, path: stated } = logoutParts(logout ?? '{location}');
  const end = plain(stated);
  const isOwn = [path, '{location}'].includes(end) || end.startsWith(`${path}/`);
  return method !== 'DELETE' || isOwn ? undefined : { is: 'logout-path' };
}

/** Why the facts of a write (`create`, `update` or `remove`) contradict each other, if they do. */
function contradiction(write: string, facts: WriteFacts): Problem | undefined {
  const { method, encoding, record } = facts;
  if (write !== 'remove' && method === 'DELETE') return { is: 'delete-only' };
  if (write === 'update' && record === 'none') return { is: 'no-change' };
  return encoding === 'form' && facts.wrapper !== undefined ? { is: 'wrapper' } : undefined;
}

/** Sets facts in the text of a profile, comments kept. `facts` by names such as `update.method`. */
export function withFacts(text: string, facts: Readonly<Record<string, string>>): string {
  const document = parseDocument(text, { schema: 'failsafe' });
  for (const [fact, value] of Object.entries(facts)) {
    // A list or map has YAML form: [a, b], {action: add}; but {item} is a path.
    const isNested = /^\[.*\]$|^\{[^{}]*:.*\}$/s.test(value);
    document.setIn(fact.split('.'), isNested ? nodeOf(fact, value) : value);
  }
  return document.toString();
}

/** A list or map in YAML. Throws a UsageError, also for `{a:x}`, a name without a value in YAML. */
function nodeOf(fact: string, value: string): unknown {
  const document = parseDocument(value, { schema: 'failsafe' });
  let isWhole = document.errors.length === 0;
  JSON.stringify(document.toJS(), (_name, one: unknown) => {
    isWhole &&= one !== null;
    return one;
  });
  if (isWhole) return document.contents;
  throw new UsageError({ code: 'bad-profile', is: 'list', fact, value });
}
