import { isDeepStrictEqual } from 'node:util';
import { bookkeepingIn } from './bookkeeping.ts';
import type { Learned, LearnedListing, LearnedResource } from './learned-schema.ts';
import { foundAt, otherPaths } from './other-paths.ts';
import { withAnswers } from './list-answers.ts';
import { withObserved } from './observation.ts';
import { pagingText } from './page-steps.ts';
import type { ReadPages } from './pages.ts';
import {
  isSingle,
  resourceOf,
  saidSingle,
  updateFacts,
  withResource,
  type Origin,
  type Profile,
  type ResourceProfile,
  type WriteFacts,
} from './profile.ts';

/** All that was learned of a device put into its profile. */
export function withAllLearned(base: Profile, learned: Learned): Profile {
  const profile = learned.answers === undefined ? base : withAnswers(base, learned.answers);
  const read = Object.entries(learned.listings ?? {}).reduce(
    (known, [resource, listing]) => withListing(known, resource, listing),
    profile,
  );
  const told = Object.keys(learned.byResource).reduce(
    (known, resource) => withLearned(known, resource, learned),
    read,
  );
  return withObserved(told, learned);
}

/** What reading a resource showed put in; what somebody said stands. */
export function withListing(base: Profile, resource: string, listing: LearnedListing): Profile {
  const { step, single, path, bookkeeping, summary } = listing;
  const isOpen = path !== undefined && otherPaths(base, resource).includes(path);
  const profile = isOpen ? foundAt(base, resource, path) : base;
  const isSaid = saidSingle(profile, resource) !== undefined;
  const facts = {
    ...(step !== undefined && { pageStep: step, paging: pagingText(step) }),
    ...(single !== undefined && !isSaid && { single }),
    ...(summary !== undefined && { summary }),
    ...(bookkeeping !== undefined &&
      isOpenFact(profile, resource, 'bookkeeping') && { bookkeeping }),
  };
  const origins = Object.fromEntries(
    ['single', 'bookkeeping']
      .filter((fact) => fact in facts)
      .map((fact) => [`resources.${resource}.${fact}`, 'observed' as const]),
  );
  return {
    ...withResource(profile, resource, facts),
    origins: { ...profile.origins, ...origins },
  };
}

function isOpenFact({ origins }: Profile, resource: string, fact: string): boolean {
  return origins[`resources.${resource}.${fact}`] !== 'configured';
}

/** What a reading showed that the profile does not say yet; undefined when there is nothing new. */
export function newInListing(
  profile: Profile,
  resource: string,
  listing: ReadPages,
): LearnedListing | undefined {
  const { paging } = listing;
  const single = listing.single === true;
  const known = profile.resources[resource];
  const step = paging === 'next' || isDeepStrictEqual(paging, known?.pageStep) ? undefined : paging;
  const isSaid = saidSingle(profile, resource) !== undefined;
  const isNew = !isSaid && single !== (known?.single ?? false);
  const { path } = listing;
  const bookkeeping = newBookkeeping(profile, resource, listing);
  if (step === undefined && !isNew && path === undefined && bookkeeping === undefined) {
    return undefined;
  }
  return {
    ...(step && { step }),
    ...(isNew && { single }),
    ...(path !== undefined && { path }),
    ...(bookkeeping && { bookkeeping }),
  };
}

/** All such fields that are known now; undefined when none of them is new. */
function newBookkeeping(
  profile: Profile,
  resource: string,
  { records }: ReadPages,
): string[] | undefined {
  if (!isOpenFact(profile, resource, 'bookkeeping')) return undefined;
  const known = profile.resources[resource]?.bookkeeping ?? [];
  const all = [...new Set([...known, ...bookkeepingIn(records, profile.basePath)])];
  return all.length > known.length ? all : undefined;
}

/**
 * A profile with what was observed put in. How a record is changed is taken from what the path of one
 * record allows; what the user has configured is never overruled.
 */
export function withLearned(profile: Profile, resource: string, learned: Learned): Profile {
  const offers = learned.resources === undefined ? {} : { offers: learned.resources };
  const seen = learned.byResource[resource];
  if (seen === undefined) return { ...profile, ...offers };
  if (isSingle(profile, resource)) {
    return { ...withResource(profile, resource, singleWith(profile, resource, seen)), ...offers };
  }
  const origins: Record<string, Origin> = {};
  let { create, update, remove } = profile;
  const { itemAllows } = seen;
  const isOpen = (fact: string): boolean => profile.origins[fact] !== 'configured';
  const encoding = createEncoding(create.encoding, seen);
  if (encoding !== create.encoding && isOpen('create')) {
    create = { ...create, encoding };
    origins['create.encoding'] = 'observed';
  }
  const isUpdateOpen = isOpen(`resources.${resource}.update`);
  const own = isUpdateOpen ? ownUpdate(profile, seen) : undefined;
  // One view reads what is added and what is changed: both have the same encoding.
  const isSameView = update.method === create.method && update.path === create.path;
  const isText = /text/.test(seen.envelope ?? '');
  if (isSameView && !isText && create.encoding !== update.encoding && isOpen('update')) {
    update = { ...update, encoding: create.encoding };
    origins['update.encoding'] = 'observed';
  }
  // What was seen of users holds for the others, too, until something is seen of them.
  if (own !== undefined && (resource === 'user' || profile.origins['update'] !== 'observed')) {
    update = own;
    for (const fact of ['update', ...Object.keys(own).map((name) => `update.${name}`)]) {
      if (isOpen(fact)) origins[fact] = 'observed';
    }
  }
  if (itemAllows?.includes('DELETE') === true && isOpen('remove') && remove.path === '{item}') {
    remove = { ...remove, method: 'DELETE' };
    origins['remove'] = 'observed';
  }
  const namedBy = isOpenFact(profile, resource, 'namedBy') ? seen.namedBy : undefined;
  if (namedBy !== undefined) origins[`resources.${resource}.namedBy`] = 'observed';
  const facts = {
    ...resourceWith(resourceOf(profile, resource), seen),
    ...(namedBy !== undefined && { namedBy }),
    ...(own !== undefined && { update: own }),
  };
  if (seen.fields !== undefined) origins[`resources.${resource}.fields`] = 'observed';
  return {
    ...withResource(profile, resource, facts),
    ...offers,
    create,
    update,
    remove,
    origins: { ...profile.origins, ...origins },
  };
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** What was seen of how records are changed, where nobody said it otherwise, fact by fact. */
function ownUpdate({ update, origins }: Profile, seen: LearnedResource): WriteFacts | undefined {
  if (origins['update'] !== 'configured') return observedUpdate(seen);
  const said = Object.fromEntries(
    Object.entries(update).filter(([fact]) => origins[`update.${fact}`] === 'configured'),
  );
  // Without a method or with a path of its own it is another way than the one that was seen.
  const isOther = said['method'] === undefined || said['path'] !== undefined;
  const observed = isOther ? undefined : observedUpdate(seen, [update.method]);
  return observed && { ...observed, ...said };
}

/** How records are changed where the path of one record allows it; undefined where it does not. */
function observedUpdate(
  { itemAllows, parses }: LearnedResource,
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
    // A form on PUT or PATCH stores a missing boolean as false: all of the record goes along.
    record: method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole',
  };
}

/**
 * The other encoding where the device does not take this one, or where a form cannot say it all: nested
 * values, and that a boolean or a list is left to the device (what a form lacks is false, or empty).
 */
function createEncoding(
  encoding: WriteFacts['encoding'],
  { parses, fields = {} }: LearnedResource,
): WriteFacts['encoding'] {
  const takesJson = parses?.includes(JSON_TYPE) === true;
  const takesForm = parses?.includes(FORM_TYPE) === true;
  const isBeyondForm = Object.values(fields).some(
    ({ type, readOnly }) =>
      !readOnly && /^(?:nested object|boolean|list|multiple choice)$/.test(type),
  );
  if (encoding === 'form' && takesJson && (!takesForm || isBeyondForm)) return 'json';
  return encoding === 'json' && takesForm && !takesJson ? 'form' : encoding;
}

/** A single object is changed as its own path allows; the records of other resources are not meant. */
function singleWith(profile: Profile, resource: string, seen: LearnedResource): ResourceProfile {
  const known = resourceWith(resourceOf(profile, resource), seen);
  const { collectionAllows: allows, parses } = seen;
  const isSaid = ['update', `resources.${resource}.update`].some(
    (fact) => profile.origins[fact] === 'configured',
  );
  if (allows === undefined || isSaid) return known;
  const method = (['PATCH', 'PUT', 'POST'] as const).find((name) => allows.includes(name));
  if (method === undefined) return known;
  const takesJson = parses?.includes(JSON_TYPE) ?? method !== 'POST';
  const encoding =
    parses === undefined && method === profile.update.method
      ? profile.update.encoding
      : takesJson
        ? 'json'
        : 'form';
  return {
    ...known,
    update: {
      ...updateFacts(profile, resource),
      method,
      encoding,
      record: method === 'PATCH' && encoding === 'json' ? 'changes' : 'whole',
    },
  };
}

function resourceWith(
  known: ResourceProfile,
  { fields, envelope, paging, summary, collectionAllows, itemAllows }: LearnedResource,
): ResourceProfile {
  const base = {
    ...known,
    ...(envelope !== undefined && { envelope }),
    ...(paging !== undefined && { paging }),
    ...(summary !== undefined && { summary }),
    ...((collectionAllows ?? itemAllows) !== undefined && {
      allows: { collection: collectionAllows, item: itemAllows },
    }),
  };
  if (fields === undefined) return base;
  const writable = Object.entries(fields).filter(([, field]) => !field.readOnly);
  const choices = writable.filter(([, { type, choices: list }]) => type === 'choice' && list);
  return {
    ...base,
    choiceFields: [...new Set([...base.choiceFields, ...choices.map(([name]) => name)])],
    details: fields,
  };
}
