import { isDeepStrictEqual } from 'node:util';
import { bookkeepingIn, foundAt, otherPaths } from './record-path.ts';
import type { Learned, LearnedListing, LearnedResource, ListAnswers } from './learned-schema.ts';
import { withObserved } from './observation.ts';
import { pagingText } from './paging.ts';
import type { ReadPages } from './pages.ts';
import {
  isSingle,
  listPath,
  type Origin,
  type Profile,
  resourceOf,
  type ResourceProfile,
  saidSingle,
  updateFacts,
  withResource,
  type WriteFacts,
} from './profile.ts';
import { DevshError } from '../errors.ts';
import type { Device } from './device.ts';
import { UntrustedError } from './errors.ts';
import type { Answer } from './exchange.ts';
import { JsonFailure, parseJson } from './json.ts';

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
function withLearned(profile: Profile, resource: string, learned: Learned): Profile {
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

type Spelling = NonNullable<ListAnswers['withSlash']>;

/** Asks for a list with a slash at the end, without it, and in no certain format. Follows no redirect. */
export async function lookAtAnswers(
  device: Device,
  resource: string,
  signal?: AbortSignal,
): Promise<ListAnswers> {
  const path = listPath(device.profile, resource);
  // A path with a query, or the root, has one spelling only.
  if (!/^\/[^?#]*[^?#/]\/?$/.test(path)) return {};
  const bare = path.replace(/\/$/, '');
  const withSlash = spellingOf(await get(device, `${bare}/`, signal));
  const withoutSlash = spellingOf(await get(device, bare, signal));
  const open = withSlash === 'answers' ? `${bare}/` : bare;
  const withoutAccept = formatOf(await get(device, open, signal, '*/*'));
  return {
    ...(withSlash && { withSlash }),
    ...(withoutSlash && { withoutSlash }),
    ...(withoutAccept && { withoutAccept }),
  };
}

/** A profile with what was seen put in: paths end as the device answers them, unless the user said how. */
function withAnswers(profile: Profile, answers: ListAnswers): Profile {
  const { withSlash, withoutSlash } = answers;
  const isOnly = (one: Spelling | undefined, other: Spelling | undefined): boolean =>
    one === 'answers' && other !== undefined && other !== 'answers';
  const isDecided = isOnly(withSlash, withoutSlash) || isOnly(withoutSlash, withSlash);
  if (!isDecided || profile.origins['endsWithSlash'] === 'configured')
    return { ...profile, answers };
  const origins: Profile['origins'] = {
    ...profile.origins,
    endsWithSlash: 'observed' satisfies Origin,
  };
  return { ...profile, answers, endsWithSlash: withSlash === 'answers', origins };
}

/**
 * Whether the device only did not say what it was asked, which is a fact less. False for a certificate
 * that is not its own: whoever is there is not to be asked on.
 */
export function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof DevshError) || error instanceof UntrustedError) return false;
  return error.code !== 'cancelled';
}

async function get(
  device: Device,
  path: string,
  signal: AbortSignal | undefined,
  accept?: string,
): Promise<Answer | undefined> {
  try {
    const request = { method: 'GET', path, redirect: 'stay', ...(accept && { accept }) } as const;
    return await device.raw(request, signal);
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    return undefined;
  }
}

/** Undefined for an answer that says nothing of the path, as one to too many requests. */
function spellingOf(answer: Answer | undefined): Spelling | undefined {
  if (answer === undefined) return undefined;
  const { status } = answer;
  if (status >= 200 && status < 300) return 'answers';
  if ([301, 302, 303, 307, 308].includes(status)) return 'redirects';
  return status === 404 ? 'not found' : undefined;
}

function formatOf(answer: Answer | undefined): ListAnswers['withoutAccept'] {
  if (answer?.status === 406) return 'refused';
  if (answer === undefined || answer.status < 200 || answer.status >= 300) return undefined;
  if (/^\s*</.test(answer.body)) return 'HTML';
  try {
    parseJson(answer.body);
    return 'JSON';
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    return 'text';
  }
}
