import { isDeepStrictEqual } from 'node:util';

import { documentedProfile } from './built-in-profiles.ts';
import { FORM_TYPE, JSON_TYPE } from './encode.ts';
import type { FactName, Facts, FactValue, ListResponses, ResourceFacts } from './facts-schema.ts';
import { type ReadPages, pagingText } from './pages.ts';
import {
  isSingle,
  listPath,
  type Profile,
  configuredSingle,
  statedDetails,
  updateFacts,
  withResource,
  type WriteFacts,
  WRITES,
} from './profile.ts';
import { bookkeepingIn, otherPaths } from './record-path.ts';
import { maskedPath } from './sensitive-fields.ts';

/** A newly observed fact; `why` describes the evidence. */
export interface NewFact {
  readonly fact: FactName;
  readonly value: unknown;
  readonly why: string | undefined;
  /** What showed it: a request, without the record in its path, or a run. */
  readonly source: string | undefined;
}

type Listener = (news: readonly NewFact[]) => Promise<void> | void;

/** Lists that only grow, because one reading may not show everything. */
const GROWING = /\.(?:bookkeeping|hidden|refused|untold|volatile)$/;

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

  get<Name extends FactName>(fact: Name): FactValue<Name> | undefined {
    return this.#observed[fact];
  }

  /** Adds an observed fact, unless it is undefined. Returns whether it is new. */
  set<Name extends FactName>(
    fact: Name,
    value: FactValue<Name> | undefined,
    source = this.source,
    why?: string,
  ): boolean {
    if (value === undefined || isConfigured(this.#base, fact)) return false;
    const seen = mergedFacts(this.#observed, { [fact]: value } as Facts);
    if (isDeepStrictEqual(seen[fact], this.#observed[fact])) return false;
    this.#observed = seen;
    this.#profile = undefined;
    this.#news.push({ fact, value, why, source });
    if (this.#news.length === 1) this.#notified = this.#notified.then(() => this.#notify());
    return true;
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
    const isList = GROWING.test(fact) && known !== undefined;
    all[fact] = isList
      ? [...new Set([...(known as string[]), ...(value as unknown as string[])])]
      : value;
  }
  return all as Facts;
}

/** Records the facts that reading a list showed. */
export function noteListing(facts: DeviceFacts, resource: string, listing: ReadPages): void {
  const { paging, path, records, single = false } = listing;
  const group = `resources.${resource}` as const;
  const source = `GET ${maskedPath(path ?? listPath(facts.profile, resource))}`;
  facts.set(`${group}.pageStep`, paging === 'next' ? undefined : paging, source);
  if (single !== isSingle(facts.profile, resource)) facts.set(`${group}.single`, single, source);
  facts.set(`${group}.path`, path, source);
  const bookkeeping = bookkeepingIn(records, facts.profile.basePath);
  if (bookkeeping.length > 0) facts.set(`${group}.bookkeeping`, bookkeeping, source);
}

/** The one rule of precedence: a configured fact is never overridden by an observed one. */
function isConfigured(profile: Profile, fact: string): boolean {
  if (profile.origins[fact] === 'configured') return true;
  // A resource with a configured natural key is a list, whatever one response looks like.
  const [, resource = ''] = /^resources\.([^.]+)\.single$/.exec(fact) ?? [];
  return configuredSingle(profile, resource) !== undefined;
}

/** A profile with the observed facts applied. */
function withObservedFacts(base: Profile, seen: Facts): Profile {
  let profile = withAnswers(base, seen.answers);
  for (const [resource, own] of byResource(seen))
    profile = withResourceFacts(profile, resource, own);
  const { ids, connections, offers } = seen;
  const plain = Object.entries({ ids, connections, offers }).filter(
    ([fact, value]) => value !== undefined && !isConfigured(base, fact),
  );
  const { origins, ...ways } = profile;
  const proven = WRITES.filter((write) => {
    const way = seen[`proven.${write}`];
    const { method, path, encoding } = ways[write];
    const isSame = way?.method === method && way.path === path && way.encoding === encoding;
    return isSame && (origins[write] ?? 'assumed') === 'assumed';
  });
  const names = plain.map(([fact]) => fact);
  return observed(profile, Object.fromEntries(plain), [...names, ...proven]);
}

/** Adds facts to a profile, with the origin `observed`. */
function observed(profile: Profile, more: Partial<Profile>, facts: readonly string[]): Profile {
  const origins = Object.fromEntries(facts.map((fact) => [fact, 'observed' as const]));
  return { ...profile, ...more, origins: { ...profile.origins, ...origins } };
}

function byResource(seen: Facts): ReadonlyMap<string, ResourceFacts> {
  const groups = new Map<string, ResourceFacts>();
  for (const [name, value] of Object.entries(seen)) {
    const [, resource, fact] = /^resources\.([^.]+)\.(\w+)$/.exec(name) ?? [];
    if (resource === undefined || fact === undefined) continue;
    groups.set(resource, { ...groups.get(resource), [fact]: value });
  }
  return groups;
}

/** Sets the trailing slash that the device accepts. */
function withAnswers(profile: Profile, answers: ListResponses | undefined): Profile {
  if (answers === undefined) return profile;
  const known = observed(profile, { answers }, ['answers']);
  const [slash, bare] = [answers.withSlash, answers.withoutSlash];
  const isDecided =
    slash !== undefined && bare !== undefined && (slash === 'answers') !== (bare === 'answers');
  return isDecided && !isConfigured(profile, 'endsWithSlash')
    ? observed(known, { endsWithSlash: slash === 'answers' }, ['endsWithSlash'])
    : known;
}

function withResourceFacts(base: Profile, resource: string, seen: ResourceFacts): Profile {
  const { path = '', pageStep, details, refused = [] } = seen;
  const known = base.resources[resource];
  const readOnly = refused.map((field) => [field, { readOnly: true }] as const);
  const stated = { ...Object.fromEntries(readOnly), ...known?.fieldFacts };
  const paging = pageStep && pagingText(pageStep);
  const found = Object.entries({ ...(paging && { paging }), ...seen }).filter(([fact]) =>
    fact === 'path'
      ? otherPaths(base, resource).includes(path)
      : !isConfigured(base, `resources.${resource}.${fact}`),
  );
  const names = [...found.map(([fact]) => fact), ...(details === undefined ? [] : ['fields'])];
  const { resources } = withResource(base, resource, {
    ...Object.fromEntries(found),
    details: statedDetails(details ?? known?.details, stated),
  });
  const profile = observed(
    base,
    { resources },
    names.map((fact) => `resources.${resource}.${fact}`),
  );
  if (seen.asked === undefined) return profile;
  return isSingle(profile, resource)
    ? withOwnUpdate(profile, resource, singleUpdate(profile, resource, seen))
    : withWriteFacts(profile, resource, seen);
}

/** Derives create, update and remove from the methods that a record allows. */
function withWriteFacts(profile: Profile, resource: string, seen: ResourceFacts): Profile {
  const mayObserve = (fact: string): boolean => !isConfigured(profile, fact);
  const facts: string[] = [];
  let { create, update, remove } = profile;
  const encoding = createEncoding(create.encoding, seen);
  if (encoding !== create.encoding && mayObserve('create')) {
    create = { ...create, encoding };
    facts.push('create.encoding');
  }
  const own = mayObserve(`resources.${resource}.update`) ? ownUpdate(profile, seen) : undefined;
  // One view handles create and update: both use the same encoding.
  const isSameView = update.method === create.method && update.path === create.path;
  const isText = /text/.test(seen.envelope ?? '');
  if (isSameView && !isText && create.encoding !== update.encoding && mayObserve('update')) {
    update = { ...update, encoding: create.encoding };
    facts.push('update.encoding');
  }
  // What was observed for users applies to the other resources until they are observed.
  if (own !== undefined && (resource === 'user' || profile.origins['update'] !== 'observed')) {
    update = own;
    facts.push(
      ...['update', ...Object.keys(own).map((name) => `update.${name}`)].filter(mayObserve),
    );
  }
  const isDeletable = seen.itemAllows?.includes('DELETE') === true && remove.path === '{item}';
  if (isDeletable && mayObserve('remove')) {
    remove = { ...remove, method: 'DELETE' };
    facts.push('remove');
  }
  return observed(withOwnUpdate(profile, resource, own), { create, update, remove }, facts);
}

function withOwnUpdate(
  profile: Profile,
  resource: string,
  update: WriteFacts | undefined,
): Profile {
  if (update === undefined) return profile;
  const { resources } = withResource(profile, resource, { update });
  return observed(profile, { resources }, [`resources.${resource}.update`]);
}

/** The observed update, overridden fact by fact by the configured one. */
function ownUpdate(profile: Profile, seen: ResourceFacts): WriteFacts | undefined {
  const { update } = profile;
  if (!isConfigured(profile, 'update')) return observedUpdate(seen);
  const configured = Object.fromEntries(
    Object.entries(update).filter(([fact]) => isConfigured(profile, `update.${fact}`)),
  );
  // Without a configured method, or with a configured path, it is not the observed way.
  const isOther = configured['method'] === undefined || configured['path'] !== undefined;
  const observed = isOther ? undefined : observedUpdate(seen, [update.method]);
  return observed && { ...observed, ...configured };
}

/** The update that the path of a record allows, if any. */
function observedUpdate(
  { itemAllows, parses }: ResourceFacts,
  methods: readonly WriteFacts['method'][] = ['PATCH', 'PUT'],
): WriteFacts | undefined {
  const method = methods.find((name) => name !== 'POST' && itemAllows?.includes(name) === true);
  if (method === undefined) return undefined;
  const encoding = parses === undefined || parses.includes(JSON_TYPE) ? 'json' : 'form';
  return {
    method,
    path: '{item}',
    encoding,
    constants: {},
    selector: 'none',
    record: recordSent(method, encoding),
  };
}

/** A form with PUT or PATCH stores a missing boolean as false, so the whole record is sent. */
function recordSent(
  method: WriteFacts['method'],
  encoding: WriteFacts['encoding'],
): WriteFacts['record'] {
  return method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole';
}

/**
 * The other encoding if the device rejects this one, or if a form cannot express the record: nested values,
 * and booleans or lists left to the device (missing in a form means false or empty).
 */
function createEncoding(
  encoding: WriteFacts['encoding'],
  { parses, details = {} }: ResourceFacts,
): WriteFacts['encoding'] {
  const takesJson = parses?.includes(JSON_TYPE) === true;
  const takesForm = parses?.includes(FORM_TYPE) === true;
  const isBeyondForm = Object.values(details).some(
    ({ type, readOnly }) =>
      !readOnly && /^(?:nested object|boolean|list|multiple choice)$/.test(type),
  );
  if (encoding === 'form' && takesJson && (!takesForm || isBeyondForm)) return 'json';
  return encoding === 'json' && takesForm && !takesJson ? 'form' : encoding;
}

/** The update of a single object, from the methods of its own path. */
function singleUpdate(
  profile: Profile,
  resource: string,
  { collectionAllows: allows, parses }: ResourceFacts,
): WriteFacts | undefined {
  const isUpdateConfigured = ['update', `resources.${resource}.update`].some((fact) =>
    isConfigured(profile, fact),
  );
  const method = (['PATCH', 'PUT', 'POST'] as const).find((name) => allows?.includes(name));
  if (isUpdateConfigured || method === undefined) return undefined;
  const takesJson = parses?.includes(JSON_TYPE) ?? method !== 'POST';
  const isUnchanged = parses === undefined && method === profile.update.method;
  const encoding = isUnchanged ? profile.update.encoding : takesJson ? 'json' : 'form';
  const record = recordSent(method, encoding);
  return { ...updateFacts(profile, resource), method, encoding, record };
}
