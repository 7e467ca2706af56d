import { isDeepStrictEqual } from 'node:util';

import { documentedProfile } from './built-in-profiles.ts';
import { FORM_TYPE, JSON_TYPE } from './encode.ts';
import { partsOf } from './json.ts';
import { type ReadPages, pagingText } from './pages.ts';
import {
  configuredSingle,
  isSingle,
  listRequest,
  type Profile,
  resourceOf,
  type ResourceProfile,
  withResource,
  type WriteFacts,
  type WriteName,
  WRITES,
} from './profile.ts';
import type {
  ConfiguredList,
  ConfiguredResource,
  ConfiguredWrite,
  FieldFacts,
} from './profile-schema.ts';
import { bookkeepingIn, otherPaths } from './record-path.ts';
import { maskedPath } from './sensitive-fields.ts';

type Way = Pick<WriteFacts, 'method' | 'path' | 'encoding'>;
type Fact<Facts, Name> = Name extends keyof Facts ? Exclude<Facts[Name], undefined> : never;

/**
 * The value of an observed fact, by its name in the code: `ids`, `resources.user.list.hides`. A way to write that a
 * read-back has confirmed is named as the write.
 */
export type FactValue<Name extends string> = Name extends `resources.${string}.fields.${string}`
  ? FieldFacts
  : Name extends `resources.${string}.list.${infer Own}`
    ? Fact<ConfiguredList, Own>
    : Name extends `resources.${string}.update.${infer Own}`
      ? Fact<ConfiguredWrite, Own>
      : Name extends `resources.${string}.${infer Own}`
        ? Fact<ConfiguredResource, Own>
        : Name extends WriteName
          ? Way
          : Fact<Profile, Name>;

/** Observed facts by their names; what another version observed may be among them. */
export type Facts = Readonly<Record<string, unknown>>;

/** A newly observed fact; `why` describes the evidence. */
export interface NewFact {
  readonly fact: string;
  readonly value: unknown;
  readonly why: string | undefined;
  /** What showed it: a request, without the record in its path, or a run. */
  readonly source: string | undefined;
}

type Listener = (news: readonly NewFact[]) => Promise<void> | void;

/** A fact of a field: each reading may show more of it. */
const FIELD = /^resources\.([^.]+)\.fields\.(.+)$/;

/** Its base profile and the observed facts. Precedence: configured, observed, documented, assumed. */
export class DeviceFacts {
  #base: Profile;
  #observed: Facts;
  #profile: Profile | undefined;
  #news: NewFact[] = [];
  #notified: Promise<void> = Promise.resolve();
  /** What shows the facts that name no other source: the run under way. */
  source: string | undefined;
  readonly #listeners = new Set<Listener>();

  constructor(base: Profile = documentedProfile, stored: Facts = {}) {
    this.#base = base;
    this.#observed = stored;
  }

  /** Replaces the base profile and adds the stored facts. */
  load(base: Profile, stored: Facts): void {
    this.#base = base;
    this.#observed = mergedFacts(this.#observed, stored);
    this.#profile = undefined;
  }

  get profile(): Profile {
    return (this.#profile ??= withObservedFacts(this.#base, this.#observed));
  }

  get<Name extends string>(fact: Name): FactValue<Name> | undefined {
    return this.#observed[fact] as FactValue<Name> | undefined;
  }

  /** Adds an observed fact, unless it is undefined. Returns whether it is new. */
  set<Name extends string>(
    fact: Name,
    value: FactValue<Name> | undefined,
    source = this.source,
    why?: string,
  ): boolean {
    if (value === undefined || isConfigured(this.#base, fact)) return false;
    const seen = mergedFacts(this.#observed, { [fact]: value });
    if (isDeepStrictEqual(seen[fact], this.#observed[fact])) return false;
    this.#observed = seen;
    this.#profile = undefined;
    this.#news.push({ fact, value, why, source });
    if (this.#news.length === 1) this.#notified = this.#notified.then(() => this.#notify());
    return true;
  }

  /** The same of several fields. */
  setFields(
    resource: string,
    fields: readonly string[],
    known: FieldFacts,
    source = this.source,
  ): void {
    for (const field of fields) this.set(`resources.${resource}.fields.${field}`, known, source);
  }

  /** Calls `listener` with new facts; facts set in the same turn come together. */
  onNew(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when all listeners have processed (and so stored) the new facts. */
  get notified(): Promise<void> {
    return this.#notified;
  }

  async #notify(): Promise<void> {
    const news = this.#news;
    this.#news = [];
    for (const listener of this.#listeners) await listener(news);
  }
}

/** Merges facts; the later value wins. */
export function mergedFacts(first: Facts, more: Facts): Facts {
  const all: Record<string, unknown> = { ...first };
  for (const [fact, value] of Object.entries(more)) {
    const known = all[fact];
    all[fact] = FIELD.test(fact) ? { ...(known as FieldFacts), ...(value as FieldFacts) } : value;
  }
  return all;
}

/** Names and shapes of what is observed. */
const OBSERVED: readonly (readonly [name: RegExp, isValue: (value: unknown) => boolean])[] = [
  [/^offers$/, (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')],
  [
    /^(?:create|update|remove|resources\.[^.]+\.(?:options|fields\..+))$/,
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ],
  [
    /^(?:ids|effects|resources\.[^.]+\.(?:path|single|namedBy|(?:list|update)\.\w+))$/,
    (value) => typeof value === 'string' || typeof value === 'boolean',
  ],
];

/** Returns the facts of a file of another version that this one observes; others can be observed again. */
export function knownFacts(data: unknown): Facts {
  const all = Object.entries(partsOf(data));
  return Object.fromEntries(
    all.filter(([name, value]) =>
      OBSERVED.some(([own, isValue]) => own.test(name) && isValue(value)),
    ),
  );
}

/** Records the facts that reading a list showed. */
export function noteListing(facts: DeviceFacts, resource: string, listing: ReadPages): void {
  const { paging, path, records, single = false } = listing;
  const group = `resources.${resource}` as const;
  const { method, path: place } = listRequest(facts.profile, resource, path);
  const source = `${method} ${maskedPath(place)}`;
  const step = paging === undefined || paging === 'next' ? undefined : pagingText(paging);
  facts.set(`${group}.list.paging`, step, source);
  if (single !== isSingle(facts.profile, resource)) facts.set(`${group}.single`, single, source);
  facts.set(`${group}.path`, path, source);
  const bookkeeping = bookkeepingIn(records, facts.profile.basePath);
  facts.setFields(resource, bookkeeping, { bookkeeping: true }, source);
}

/** The one rule of precedence: a configured fact is never overridden by an observed one. */
function isConfigured({ origins, ...profile }: Profile, fact: string): boolean {
  // The qualities of a field are added one by one.
  if (FIELD.test(fact)) return false;
  const [, resource = '', own = ''] = /^resources\.([^.]+)\.(.+)$/.exec(fact) ?? [];
  // A resource with a configured natural key is a list, whatever one response looks like.
  if (own === 'single') return configuredSingle({ ...profile, origins }, resource) !== undefined;
  return origins[fact] === 'configured' || origins[own] === 'configured';
}

/** A profile with the observed facts applied. */
function withObservedFacts(base: Profile, seen: Facts): Profile {
  const drafts = new Map<string, Draft>();
  const top: Record<string, unknown> = {};
  const names: string[] = [];
  for (const [fact, value] of Object.entries(seen)) {
    if (isConfigured(base, fact)) continue;
    const write = WRITES.find((one) => one === fact);
    const [, resource = '', group, own = ''] = RESOURCE_FACT.exec(fact) ?? [];
    if (own === 'path' && !otherPaths(base, resource).includes(value as string)) continue;
    if (write !== undefined && !isProven(base, write, value)) continue;
    if (base.origins[fact] !== 'configured') names.push(fact);
    if (resource === '') {
      if (write === undefined) top[fact] = value;
      continue;
    }
    const draft = drafts.get(resource) ?? draftOf(resourceOf(base, resource));
    drafts.set(resource, draft);
    if (group === undefined) draft[own] = value;
    // What is configured wins, quality by quality.
    else if (group === 'fields')
      draft.fields[own] = { ...(value as FieldFacts), ...draft.fields[own] };
    else draft[group as 'list' | 'update'][own] = value;
  }
  const resources = { ...base.resources, ...Object.fromEntries(drafts) };
  const known = observed(base, { ...top, resources }, names);
  return Object.entries(resources).reduce(
    (profile, [resource, { options } = {}]) =>
      options === undefined ? profile : withOptions(profile, base, resource, options),
    known,
  );
}

const RESOURCE_FACT = /^resources\.([^.]+)\.(?:(fields|list|update)\.)?(.+)$/;

type Draft = ResourceProfile & {
  readonly fields: Record<string, FieldFacts>;
  readonly list: Record<string, unknown>;
  readonly update: Record<string, unknown>;
  [fact: string]: unknown;
};

function draftOf(known: ResourceProfile): Draft {
  const { fields, list, update } = known;
  return { ...known, fields: { ...fields }, list: { ...list }, update: { ...update } };
}

/** A way that was proved is no longer assumed, as long as it is the same. */
function isProven({ origins, ...ways }: Profile, write: WriteName, value: unknown): boolean {
  const { method, path, encoding } = ways[write];
  const isOpen = (origins[write] ?? 'assumed') === 'assumed';
  return isOpen && isDeepStrictEqual({ method, path, encoding }, value);
}

/** Adds facts to a profile, with the origin `observed`. */
function observed(profile: Profile, more: Partial<Profile>, facts: readonly string[]): Profile {
  const origins = Object.fromEntries(facts.map((fact) => [fact, 'observed' as const]));
  return { ...profile, ...more, origins: { ...profile.origins, ...origins } };
}

type Options = NonNullable<ResourceProfile['options']>;

/** Derives create, update and remove from what OPTIONS said, where they are not configured. */
function withOptions(profile: Profile, base: Profile, resource: string, options: Options): Profile {
  const mayObserve = (fact: string): boolean => !isConfigured(base, fact);
  const isOwnOpen = base.origins[`resources.${resource}.update`] !== 'configured';
  const own = isOwnOpen ? seenUpdate(profile, resource, options) : undefined;
  if (isSingle(profile, resource)) return withOwnUpdate(profile, resource, own);
  const facts: string[] = [];
  let { create, update, remove } = profile;
  const encoding = createEncoding(profile, resource, options);
  if (encoding !== create.encoding && mayObserve('create')) {
    create = { ...create, encoding };
    facts.push('create.encoding');
  }
  // One view handles create and update: both use the same encoding.
  const isSameView = update.method === create.method && update.path === create.path;
  if (isSameView && create.encoding !== update.encoding && mayObserve('update')) {
    update = { ...update, encoding: create.encoding };
    facts.push('update.encoding');
  }
  // What was observed for users applies to the other resources until they are observed.
  if (own !== undefined && (resource === 'user' || profile.origins['update'] !== 'observed')) {
    update = { ...update, ...own };
    facts.push(
      ...['update', ...Object.keys(own).map((name) => `update.${name}`)].filter(mayObserve),
    );
  }
  const isDeletable = options.record?.includes('DELETE') === true && remove.path === '{item}';
  if (isDeletable && mayObserve('remove')) {
    remove = { ...remove, method: 'DELETE' };
    facts.push('remove');
  }
  return observed(withOwnUpdate(profile, resource, own), { create, update, remove }, facts);
}

function withOwnUpdate(
  profile: Profile,
  resource: string,
  update: Partial<WriteFacts> | undefined,
): Profile {
  if (update === undefined) return profile;
  const known = profile.resources[resource]?.update;
  const { resources } = withResource(profile, resource, { update: { ...update, ...known } });
  return observed(profile, { resources }, [`resources.${resource}.update`]);
}

/** The change that the path of a record, or of a single object, allows; overridden fact by fact by the configured one. */
function seenUpdate(
  profile: Profile,
  resource: string,
  { list, record: allows, takes }: Options,
): Partial<WriteFacts> | undefined {
  const { update, origins } = profile;
  const isOne = isSingle(profile, resource);
  const isStated = origins['update'] === 'configured';
  const stated: Partial<WriteFacts> = Object.fromEntries(
    Object.entries(update).filter(([fact]) => origins[`update.${fact}`] === 'configured'),
  );
  // Without a configured method, or with a configured path, it is not the observed way.
  if (isStated && (isOne || stated.method === undefined || stated.path !== undefined)) {
    return undefined;
  }
  const methods = stated.method ? [stated.method] : (['PATCH', 'PUT', 'POST'] as const);
  const method = methods.find((name) =>
    isOne ? list?.includes(name) : name !== 'POST' && allows?.includes(name),
  );
  if (method === undefined) return undefined;
  const encoding = (takes?.includes(JSON_TYPE) ?? method !== 'POST') ? 'json' : 'form';
  // A form with PUT or PATCH stores a missing boolean as false, so the whole record is sent.
  const record = method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole';
  const place = { path: '{item}', constants: {}, selector: 'none' } as const;
  return { ...(!isOne && place), method, encoding, record, ...stated };
}

/**
 * The other encoding if the device rejects this one, or if a form cannot express the record: nested values,
 * and booleans or lists left to the device (missing in a form means false or empty).
 */
function createEncoding(
  profile: Profile,
  resource: string,
  { takes }: Options,
): WriteFacts['encoding'] {
  const { encoding } = profile.create;
  const takesJson = takes?.includes(JSON_TYPE) === true;
  const takesForm = takes?.includes(FORM_TYPE) === true;
  const isBeyondForm = Object.values(resourceOf(profile, resource).fields).some(
    ({ type = '', readOnly }) =>
      readOnly !== true && /^(?:nested object|boolean|list|multiple choice)$/.test(type),
  );
  if (encoding === 'form' && takesJson && (!takesForm || isBeyondForm)) return 'json';
  return encoding === 'json' && takesForm && !takesJson ? 'form' : encoding;
}
