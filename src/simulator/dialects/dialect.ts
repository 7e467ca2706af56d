import { UsageError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';

/** The families of devices that can be simulated: the same as the built-in profiles. */
export const PROFILE_NAMES = ['documented', 'drf', 'generic-rest', 'form-action'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** What the records of a list are wrapped in. */
export const ENVELOPE_NAMES = [
  'array',
  'results',
  'data',
  'rows',
  'records',
  'user',
  'keyed',
  'key-value',
  'form-text',
] as const;
export type EnvelopeName = (typeof ENVELOPE_NAMES)[number];

export const PAGING_NAMES = ['none', 'next', 'page', 'offset'] as const;
export type PagingName = (typeof PAGING_NAMES)[number];

export interface DialectOptions {
  /** `documented` unless told. */
  readonly profile?: ProfileName | undefined;
  /** `array` unless told; with paging the one that usually goes with it. */
  readonly envelope?: EnvelopeName | undefined;
  /** `none` unless told. */
  readonly paging?: PagingName | undefined;
  /** Records on a page, 10 unless told. */
  readonly pageSize?: number;
  readonly quirk?: readonly QuirkName[];
}

/** What the devices of a profile have in common. */
interface Traits {
  /** What a record is called by in paths; `none`: by its key alone. */
  readonly id: 'uuid' | 'number' | 'none';
  readonly endsWithSlash: boolean;
  readonly hasOptions: boolean;
  /** What a body may be. */
  readonly encodings: readonly ('json' | 'form')[];
  /** As Django does it. */
  readonly trims: boolean;
  /** Whether a browser gets pages and a strange `Accept` 406. */
  readonly isBrowsable: boolean;
}

/** As Django REST Framework has them. */
const DJANGO: Traits = {
  id: 'uuid',
  endsWithSlash: true,
  hasOptions: true,
  encodings: ['json', 'form'],
  trims: true,
  isBrowsable: true,
};

/** Of a server with no more than it needs. */
const BARE = { hasOptions: false, trims: false, isBrowsable: false };

const TRAITS: Readonly<Record<ProfileName, Traits>> = {
  documented: { ...DJANGO, encodings: ['form'] },
  drf: DJANGO,
  'generic-rest': { ...BARE, id: 'number', endsWithSlash: false, encodings: ['json'] },
  'form-action': { ...BARE, id: 'none', endsWithSlash: true, encodings: ['form'] },
};

/** How a device speaks. */
export interface Dialect {
  readonly profile: ProfileName;
  readonly traits: Traits;
  readonly envelope: EnvelopeName;
  readonly paging: PagingName;
  readonly pageSize: number;
  readonly quirks: ReadonlySet<QuirkName>;
}

const USUAL_ENVELOPE: Readonly<Record<PagingName, EnvelopeName>> = {
  none: 'array',
  next: 'results',
  page: 'rows',
  offset: 'records',
};

/** These have no room beside the records to say which page it is. */
const UNPAGED: readonly EnvelopeName[] = ['array', 'keyed', 'key-value', 'form-text'];
const MAX_PAGE_SIZE = 100_000;

/** @throws RangeError for what cannot go together; it names both. */
export function createDialect(options: DialectOptions = {}): Dialect {
  const { profile = 'documented', paging = 'none', pageSize = 10, quirk = [] } = options;
  const envelope = options.envelope ?? USUAL_ENVELOPE[paging];
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
    throw new RangeError(`pageSize must be a whole number from 1 to ${MAX_PAGE_SIZE}.`);
  }
  if (paging !== 'none' && UNPAGED.includes(envelope)) {
    throw new RangeError(`The envelope ${envelope} has no room for the paging ${paging}.`);
  }
  const quirks = new Set(quirk);
  const dialect = { profile, traits: TRAITS[profile], envelope, paging, pageSize, quirks };
  for (const each of QUIRKS) {
    const conflict = quirks.has(each.name) ? conflictOf(each, dialect) : undefined;
    if (conflict !== undefined) throw new RangeError(`The quirk ${each.name} ${conflict}.`);
  }
  return dialect;
}

function conflictOf({ profiles, paging, notWith }: Quirk, dialect: Dialect): string | undefined {
  if (profiles?.includes(dialect.profile) === false) {
    return `makes no sense with the profile ${dialect.profile}`;
  }
  if (paging !== undefined && paging !== dialect.paging) {
    return `needs the paging ${paging}, not ${dialect.paging}`;
  }
  const rival = notWith?.find((name) => [dialect.envelope, ...dialect.quirks].includes(name));
  return rival === undefined ? undefined : `cannot go together with ${rival}`;
}

/** Where a quirk can show itself; what is left out does not matter. */
interface Conditions {
  readonly profiles?: readonly ProfileName[];
  readonly paging?: PagingName;
  readonly notWith?: readonly (EnvelopeName | QuirkName)[];
}

export type QuirkName =
  | 'strings'
  | 'http-next'
  | 'page-loop'
  | 'trims'
  | 'no-options'
  | 'update-creates'
  | 'html-errors'
  | 'status-200-errors'
  | 'counters'
  | 'positional-ids'
  | 'summary-list'
  | 'hidden-fields'
  | 'put-replaces'
  | 'read-only-content'
  | 'some-admins'
  | 'post-updates';

/** A habit of a device: within what its API allows, but not what one expects. */
interface Quirk extends Conditions {
  readonly name: QuirkName;
  /** One sentence. */
  readonly summary: string;
}

const WITH_STATUS: readonly ProfileName[] = ['documented', 'drf', 'generic-rest'];

export const QUIRKS: readonly Quirk[] = [
  quirk('strings', 'All values are strings, numbers and booleans too.'),
  quirk('http-next', 'The next page is said to be at http://proxy.invalid/….', { paging: 'next' }),
  quirk('page-loop', 'The link to the next page leads to the same page again.', { paging: 'next' }),
  quirk('trims', 'Text is stored without the spaces around it.'),
  quirk('no-options', 'OPTIONS is refused with 405.'),
  quirk('update-creates', 'A POST with the id of a record makes a second record.', {
    profiles: WITH_STATUS,
    // Two records under one name would be shown as one.
    notWith: ['keyed'],
  }),
  quirk('html-errors', 'What is refused with 400 or 500 is answered by a page in HTML.', {
    profiles: WITH_STATUS,
    notWith: ['status-200-errors'],
  }),
  quirk('status-200-errors', 'What is refused comes as 200 with "success": false.', {
    profiles: WITH_STATUS,
  }),
  quirk('counters', 'Each record has the number of times that it was listed, in "hits".'),
  quirk('positional-ids', 'An id is the place in the list, so that it shifts after a delete.', {
    profiles: ['drf', 'generic-rest'],
  }),
  quirk(
    'summary-list',
    'A list has the key and the id of each record; only its own path has all.',
    {
      profiles: ['drf', 'generic-rest'],
      // There the key is outside of the record, and nothing would be left of it.
      notWith: ['keyed'],
    },
  ),
  quirk('hidden-fields', 'A user has an email and a password that are taken and never shown.', {
    profiles: ['drf', 'generic-rest'],
  }),
  quirk('put-replaces', 'A record is changed by PUT alone, and what that leaves out is emptied.', {
    profiles: ['drf', 'generic-rest'],
  }),
  quirk('read-only-content', 'A user has an owner and groups, which only the device sets.', {
    profiles: ['drf', 'generic-rest'],
  }),
  quirk('some-admins', 'Every third user has "is_admin": true, and the others lack the field.', {
    profiles: ['drf', 'generic-rest'],
  }),
  quirk(
    'post-updates',
    'A POST with the id of a record changes it; there is no PUT and no PATCH.',
    {
      profiles: ['drf', 'generic-rest'],
      notWith: ['update-creates', 'positional-ids', 'put-replaces'],
    },
  ),
];

function quirk(name: QuirkName, summary: string, conditions: Conditions = {}): Quirk {
  return { name, summary, ...conditions };
}

/** The options of the command line, as text. */
interface DialectText {
  readonly profile: string | undefined;
  readonly envelope: string | undefined;
  readonly paging: string | undefined;
  readonly quirks: readonly string[];
}

/** @throws UsageError for a name that there is not, or for what cannot go together. */
export function parseDialectOptions(text: DialectText): DialectOptions {
  const profile = oneOf('profile', PROFILE_NAMES, text.profile);
  const envelope = oneOf('envelope', ENVELOPE_NAMES, text.envelope);
  const paging = oneOf('paging', PAGING_NAMES, text.paging);
  const names = QUIRKS.map(({ name }) => name);
  const quirk = text.quirks.flatMap((name) => oneOf('quirk', names, name) ?? []);
  const options: DialectOptions = { profile, envelope, paging, quirk };
  try {
    createDialect(options);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
  return options;
}

function oneOf<Name extends string>(
  option: string,
  names: readonly Name[],
  text: string | undefined,
): Name | undefined {
  if (text === undefined) return undefined;
  const name = names.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(`--${option}: there is no "${text}"; there are ${names.join(', ')}`, {
    suggestions: suggest(text, names),
  });
}
