import { isDeepStrictEqual } from 'node:util';

import { documentedProfile } from './built-in-profiles.ts';
import { FORM_TYPE, JSON_TYPE } from './encode.ts';
import { partsOf } from './json.ts';
import { type ReadPages, pagingText } from './pages.ts';
import {
  configuredSingle,
  type Fact,
  factsOf,
  fieldFacts,
  isSingle,
  listRequest,
  type Profile,
  profileWith,
  resourceOf,
  type ResourceProfile,
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
type Known<Facts, Name> = Name extends keyof Facts ? Exclude<Facts[Name], undefined> : never;

/**
 * The value of an observed fact, by its name in the code: `ids`, `resources.user.list.hides`. A way to write that a
 * read-back has confirmed is named as the write.
 */
export type FactValue<Name extends string> = Name extends `resources.${string}.fields.${string}`
  ? FieldFacts
  : Name extends `resources.${string}.list.${infer Own}`
    ? Known<ConfiguredList, Own>
    : Name extends `resources.${string}.update.${infer Own}`
      ? Known<ConfiguredWrite, Own>
      : Name extends `resources.${string}.${infer Own}`
        ? Known<ConfiguredResource, Own>
        : Name extends WriteName
          ? Way
          : Known<Profile, Name>;

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

export function mergedFacts(first: Facts, more: Facts): Facts {
  const all: Record<string, unknown> = { ...first };
  for (const [fact, value] of Object.entries(more)) {
    const known = all[fact];
    all[fact] = FIELD.test(fact) ? { ...(known as FieldFacts), ...(value as FieldFacts) } : value;
  }
  return all;
}

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

function withObservedFacts(base: Profile, seen: Facts): Profile {
  const open = Object.entries(seen).filter(([fact]) => !isConfigured(base, fact));
  const known = profileWith(
    base,
    open.flatMap(([fact, value]): Fact[] => {
      const [, resource = '', own = ''] = /^resources\.([^.]+)\.(.+)$/.exec(fact) ?? [];
      const [, , field] = FIELD.exec(fact) ?? [];
      // What is configured wins, quality by quality.
      if (field !== undefined) {
        return [[fact, { ...(value as FieldFacts), ...fieldFacts(base, resource, field) }]];
      }
      const isElsewhere = own === 'path' && !otherPaths(base, resource).includes(value as string);
      return isElsewhere || WRITES.some((write) => write === fact) ? [] : [[fact, value]];
    }),
    'observed',
  );
  const proven = WRITES.filter((write) =>
    open.some(([fact, way]) => fact === write && isProven(base, write, way)),
  );
  return Object.entries(known.resources).reduce(
    (profile, [resource, { options } = {}]) =>
      options === undefined ? profile : withOptions(profile, base, resource, options),
    observed(known, proven),
  );
}

/** A way that was proved is no longer assumed, as long as it is the same. */
function isProven({ origins, ...ways }: Profile, write: WriteName, value: unknown): boolean {
  const { method, path, encoding } = ways[write];
  const isOpen = (origins[write] ?? 'assumed') === 'assumed';
  return isOpen && isDeepStrictEqual({ method, path, encoding }, value);
}

/** Calls these groups of facts observed, where they are not configured. */
function observed(profile: Profile, groups: readonly string[]): Profile {
  const open = groups.filter((group) => profile.origins[group] !== 'configured');
  const origins = Object.fromEntries(open.map((group) => [group, 'observed' as const]));
  return { ...profile, origins: { ...profile.origins, ...origins } };
}

type Options = NonNullable<ResourceProfile['options']>;

/** Derives create, update and remove from what OPTIONS said, where they are not configured. */
function withOptions(profile: Profile, base: Profile, resource: string, options: Options): Profile {
  const { create, update, remove, origins } = profile;
  const group = `resources.${resource}.update`;
  const own =
    base.origins[group] === 'configured' ? undefined : seenUpdate(profile, resource, options);
  const isList = !isSingle(profile, resource);
  const isOpen = (write: WriteName): boolean => isList && base.origins[write] !== 'configured';
  const encoding = isOpen('create') ? createEncoding(profile, resource, options) : create.encoding;
  // One view handles create and update: both use the same encoding.
  const isSameView = update.method === create.method && update.path === create.path;
  const isChanged = isSameView && isOpen('update') && encoding !== update.encoding;
  // What was observed for users applies to the other resources until they are observed.
  const isUsual = isList && own && (resource === 'user' || origins['update'] !== 'observed');
  const isDeletable = options.record?.includes('DELETE') === true && remove.path === '{item}';
  const facts = {
    resources: {
      [resource]: { update: own && { ...own, ...profile.resources[resource]?.update } },
    },
    create: encoding === create.encoding ? undefined : { encoding },
    update: isUsual ? own : isChanged ? { encoding } : undefined,
  };
  return observed(profileWith(profile, factsOf(facts), 'observed'), [
    ...(own ? [group] : []),
    ...(isUsual ? ['update'] : []),
    ...(isDeletable && isOpen('remove') ? ['remove'] : []),
  ]);
}

/** The change that the path of a record, or of a single object, allows, as far as it is not configured. */
function seenUpdate(
  profile: Profile,
  resource: string,
  { list, record: allows, takes }: Options,
): Partial<WriteFacts> | undefined {
  const { update, origins } = profile;
  const isOne = isSingle(profile, resource);
  const isStated = (fact: string): boolean => origins[`update.${fact}`] === 'configured';
  // Without a configured method, or with a configured path, it is not the observed way.
  const isOtherWay = isOne || !isStated('method') || isStated('path');
  if (origins['update'] === 'configured' && isOtherWay) return undefined;
  const methods = isStated('method') ? [update.method] : (['PATCH', 'PUT', 'POST'] as const);
  const method = methods.find((name) =>
    isOne ? list?.includes(name) : name !== 'POST' && allows?.includes(name),
  );
  if (method === undefined) return undefined;
  const encoding = (takes?.includes(JSON_TYPE) ?? method !== 'POST') ? 'json' : 'form';
  // A form with PUT or PATCH stores a missing boolean as false, so the whole record is sent.
  const record = method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole';
  const place = { path: '{item}', constants: {}, selector: 'none' } as const;
  const seen = Object.entries({ ...(!isOne && place), method, encoding, record });
  return Object.fromEntries(seen.filter(([fact]) => !isStated(fact)));
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
