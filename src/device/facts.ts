import { isDeepStrictEqual } from 'node:util';

import { documentedProfile } from './built-in-profiles.ts';
import type { FactName, Facts, FactValue, ListResponses, SeenOfResource } from './facts-schema.ts';
import type { ReadPages } from './pages.ts';
import { pagingText } from './paging.ts';
import {
  isSingle,
  type Profile,
  resourceOf,
  configuredSingle,
  updateFacts,
  withResource,
  type WriteFacts,
  WRITES,
} from './profile.ts';
import { bookkeepingIn, otherPaths } from './record-path.ts';

/** A fact that was not known before; `why`: in words, what showed it. */
export interface NewFact {
  readonly fact: FactName;
  readonly value: unknown;
  readonly why: string | undefined;
}

type Listener = (news: readonly NewFact[]) => Promise<void> | void;

/** Lists that grow: one reading does not show all that an earlier one did. */
const JOINED = /\.(?:bookkeeping|hidden|volatile)$/;

/**
 * All that is known of how one device speaks: its base profile, and what was seen of it. A configured
 * fact stands; what was seen counts more than what is documented or assumed.
 */
export class DeviceFacts {
  #base: Profile;
  #seen: Facts;
  #profile: Profile | undefined;
  #news: NewFact[] = [];
  #told: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<Listener>();

  constructor(base: Profile = documentedProfile, kept: Facts = {}) {
    this.#base = base;
    this.#seen = kept;
  }

  /** Takes another base profile, and what was kept of the device before. */
  load(base: Profile, kept: Facts): void {
    this.#base = base;
    this.#seen = joined(this.#seen, kept);
    this.#profile = undefined;
  }

  /** How the device speaks, as far as it is known. */
  get profile(): Profile {
    return (this.#profile ??= interpreted(this.#base, this.#seen));
  }

  get<Name extends FactName>(fact: Name): FactValue<Name> | undefined {
    return this.#seen[fact];
  }

  /** Puts in what was seen; undefined is nothing. Says whether it is new. */
  set<Name extends FactName>(
    fact: Name,
    value: FactValue<Name> | undefined,
    why?: string,
  ): boolean {
    if (value === undefined || isConfigured(this.#base, fact)) return false;
    const seen = joined(this.#seen, { [fact]: value } as Facts);
    if (isDeepStrictEqual(seen[fact], this.#seen[fact])) return false;
    this.#seen = seen;
    this.#profile = undefined;
    this.#news.push({ fact, value, why });
    if (this.#news.length === 1) this.#told = this.#told.then(() => this.#tell());
    return true;
  }

  /** Calls `listener` with what becomes known, all that is set at one moment together. */
  onNew(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when everybody who listens has taken in all that is new: it is kept then. */
  get told(): Promise<void> {
    return this.#told;
  }

  async #tell(): Promise<void> {
    const news = this.#news;
    this.#news = [];
    for (const listener of this.#listeners) await listener(news);
  }
}

/** All facts of both; of one that both have the later value counts. */
export function joined(held: Facts, more: Facts): Facts {
  const all: Record<string, unknown> = { ...held };
  for (const [fact, value] of Object.entries(more)) {
    const known = all[fact];
    const isList = JOINED.test(fact) && known !== undefined;
    all[fact] = isList
      ? [...new Set([...(known as string[]), ...(value as unknown as string[])])]
      : value;
  }
  return all as Facts;
}

/** What reading a list showed of how the device speaks. */
export function noteListing(facts: DeviceFacts, resource: string, listing: ReadPages): void {
  const { paging, path, records, single = false } = listing;
  const group = `resources.${resource}` as const;
  facts.set(`${group}.pageStep`, paging === 'next' ? undefined : paging);
  if (single !== isSingle(facts.profile, resource)) facts.set(`${group}.single`, single);
  facts.set(`${group}.path`, path);
  const bookkeeping = bookkeepingIn(records, facts.profile.basePath);
  if (bookkeeping.length > 0) facts.set(`${group}.bookkeeping`, bookkeeping);
}

/** The one rule of precedence: what somebody has said of his device is not overruled by what is seen. */
function isConfigured(profile: Profile, fact: string): boolean {
  if (profile.origins[fact] === 'configured') return true;
  // A resource with a natural key is a list, whatever one answer looks like.
  const [, resource = ''] = /^resources\.([^.]+)\.single$/.exec(fact) ?? [];
  return configuredSingle(profile, resource) !== undefined;
}

/** A profile with what was seen put in. */
function interpreted(base: Profile, seen: Facts): Profile {
  let profile = withAnswers(base, seen.answers);
  for (const [resource, own] of byResource(seen)) profile = withSeen(profile, resource, own);
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

/** A profile with more in it, of which these facts were observed. */
function observed(profile: Profile, more: Partial<Profile>, facts: readonly string[]): Profile {
  const origins = Object.fromEntries(facts.map((fact) => [fact, 'observed' as const]));
  return { ...profile, ...more, origins: { ...profile.origins, ...origins } };
}

function byResource(seen: Facts): ReadonlyMap<string, SeenOfResource> {
  const groups = new Map<string, SeenOfResource>();
  for (const [name, value] of Object.entries(seen)) {
    const [, resource, fact] = /^resources\.([^.]+)\.(\w+)$/.exec(name) ?? [];
    if (resource === undefined || fact === undefined) continue;
    groups.set(resource, { ...groups.get(resource), [fact]: value });
  }
  return groups;
}

/** Paths end as the device answers them. */
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

function withSeen(base: Profile, resource: string, seen: SeenOfResource): Profile {
  const { path = '', pageStep, details } = seen;
  const paging = pageStep && pagingText(pageStep);
  const found = Object.entries({ ...(paging && { paging }), ...seen }).filter(([fact]) =>
    fact === 'path'
      ? otherPaths(base, resource).includes(path)
      : !isConfigured(base, `resources.${resource}.${fact}`),
  );
  const names = [...found.map(([fact]) => fact), ...(details === undefined ? [] : ['fields'])];
  const { choiceFields } = resourceOf(base, resource);
  const { resources } = withResource(base, resource, {
    ...Object.fromEntries(found),
    choiceFields: [...new Set([...choiceFields, ...choicesIn(details)])],
  });
  const profile = observed(
    base,
    { resources },
    names.map((fact) => `resources.${resource}.${fact}`),
  );
  if (seen.asked === undefined) return profile;
  return isSingle(profile, resource)
    ? withOwn(profile, resource, singleUpdate(profile, resource, seen))
    : withWays(profile, resource, seen);
}

function choicesIn(details: SeenOfResource['details'] = {}): string[] {
  return Object.entries(details)
    .filter(([, { readOnly, type, choices }]) => !readOnly && type === 'choice' && choices)
    .map(([field]) => field);
}

/** How a record is added, changed and deleted, taken from what the path of one record allows. */
function withWays(profile: Profile, resource: string, seen: SeenOfResource): Profile {
  const isOpen = (fact: string): boolean => !isConfigured(profile, fact);
  const facts: string[] = [];
  let { create, update, remove } = profile;
  const encoding = createEncoding(create.encoding, seen);
  if (encoding !== create.encoding && isOpen('create')) {
    create = { ...create, encoding };
    facts.push('create.encoding');
  }
  const own = isOpen(`resources.${resource}.update`) ? ownUpdate(profile, seen) : undefined;
  // One view reads what is added and what is changed: both have the same encoding.
  const isSameView = update.method === create.method && update.path === create.path;
  const isText = /text/.test(seen.envelope ?? '');
  if (isSameView && !isText && create.encoding !== update.encoding && isOpen('update')) {
    update = { ...update, encoding: create.encoding };
    facts.push('update.encoding');
  }
  // What was seen of users holds for the others, too, until something is seen of them.
  if (own !== undefined && (resource === 'user' || profile.origins['update'] !== 'observed')) {
    update = own;
    facts.push(...['update', ...Object.keys(own).map((name) => `update.${name}`)].filter(isOpen));
  }
  const isDeletable = seen.itemAllows?.includes('DELETE') === true && remove.path === '{item}';
  if (isDeletable && isOpen('remove')) {
    remove = { ...remove, method: 'DELETE' };
    facts.push('remove');
  }
  return observed(withOwn(profile, resource, own), { create, update, remove }, facts);
}

/** A profile with what was seen of how this resource alone is changed. */
function withOwn(profile: Profile, resource: string, update: WriteFacts | undefined): Profile {
  if (update === undefined) return profile;
  const { resources } = withResource(profile, resource, { update });
  return observed(profile, { resources }, [`resources.${resource}.update`]);
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** What was seen of how records are changed, where nobody said it otherwise, fact by fact. */
function ownUpdate(profile: Profile, seen: SeenOfResource): WriteFacts | undefined {
  const { update } = profile;
  if (!isConfigured(profile, 'update')) return observedUpdate(seen);
  const said = Object.fromEntries(
    Object.entries(update).filter(([fact]) => isConfigured(profile, `update.${fact}`)),
  );
  // Without a method or with a path of its own it is another way than the one that was seen.
  const isOther = said['method'] === undefined || said['path'] !== undefined;
  const observed = isOther ? undefined : observedUpdate(seen, [update.method]);
  return observed && { ...observed, ...said };
}

/** How records are changed where the path of one record allows it; undefined where it does not. */
function observedUpdate(
  { itemAllows, parses }: SeenOfResource,
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

/** A form on PUT or PATCH stores a missing boolean as false: all of the record goes along. */
function recordSent(
  method: WriteFacts['method'],
  encoding: WriteFacts['encoding'],
): WriteFacts['record'] {
  return method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole';
}

/**
 * The other encoding where the device does not take this one, or where a form cannot say it all: nested
 * values, and that a boolean or a list is left to the device (what a form lacks is false, or empty).
 */
function createEncoding(
  encoding: WriteFacts['encoding'],
  { parses, details = {} }: SeenOfResource,
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

/** A single object is changed as its own path allows; the records of other resources are not meant. */
function singleUpdate(
  profile: Profile,
  resource: string,
  { collectionAllows: allows, parses }: SeenOfResource,
): WriteFacts | undefined {
  const isUpdateSaid = ['update', `resources.${resource}.update`].some((fact) =>
    isConfigured(profile, fact),
  );
  const method = (['PATCH', 'PUT', 'POST'] as const).find((name) => allows?.includes(name));
  if (isUpdateSaid || method === undefined) return undefined;
  const takesJson = parses?.includes(JSON_TYPE) ?? method !== 'POST';
  const asBefore = parses === undefined && method === profile.update.method;
  const encoding = asBefore ? profile.update.encoding : takesJson ? 'json' : 'form';
  const record = recordSent(method, encoding);
  return { ...updateFacts(profile, resource), method, encoding, record };
}
