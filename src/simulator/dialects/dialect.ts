/** The simulated families of devices: the built-in profiles. */
export const PROFILE_NAMES = ['documented', 'drf', 'generic-rest', 'form-action'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** The wrapping of a list of records. */
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
  /** Default: `documented`. */
  readonly profile?: ProfileName | undefined;
  /** Default: `array`; with paging, the usual one of that paging. */
  readonly envelope?: EnvelopeName | undefined;
  /** Default: `none`. */
  readonly paging?: PagingName | undefined;
  /** Records on a page. Default: 10. */
  readonly pageSize?: number;
  readonly quirk?: readonly QuirkName[];
}

interface Traits {
  /** The id of a record in paths; `none`: only its key. */
  readonly id: 'uuid' | 'number' | 'none';
  readonly endsWithSlash: boolean;
  readonly hasOptions: boolean;
  /** The accepted formats of a body. */
  readonly encodings: readonly ('json' | 'form')[];
  /** Whether texts are trimmed, like in Django. */
  readonly trims: boolean;
  /** Whether a browser gets HTML, and an unknown `Accept` 406. */
  readonly isBrowsable: boolean;
}

const DJANGO: Traits = {
  id: 'uuid',
  endsWithSlash: true,
  hasOptions: true,
  encodings: ['json', 'form'],
  trims: true,
  isBrowsable: true,
};

/** A minimal server. */
const BARE = { hasOptions: false, trims: false, isBrowsable: false };

const TRAITS: Readonly<Record<ProfileName, Traits>> = {
  documented: { ...DJANGO, encodings: ['form'] },
  drf: DJANGO,
  'generic-rest': { ...BARE, id: 'number', endsWithSlash: false, encodings: ['json'] },
  'form-action': { ...BARE, id: 'none', endsWithSlash: true, encodings: ['form'] },
};

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

/** These cannot report a page beside the records. */
const UNPAGED: readonly EnvelopeName[] = ['array', 'keyed', 'key-value', 'form-text'];
const MAX_PAGE_SIZE = 100_000;

/** @throws SimulatorError for an unknown name, and for options that contradict each other */
export function createDialect(options: DialectOptions = {}): Dialect {
  const profile = oneOf('profile', PROFILE_NAMES, options.profile ?? 'documented');
  const paging = oneOf('paging', PAGING_NAMES, options.paging ?? 'none');
  const envelope = oneOf('envelope', ENVELOPE_NAMES, options.envelope ?? USUAL_ENVELOPE[paging]);
  const names = QUIRKS.map(({ name }) => name);
  const quirks = new Set(options.quirk?.map((name) => oneOf('quirk', names, name)));
  const { pageSize = 10 } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
    throw new SimulatorError(`pageSize must be a whole number from 1 to ${MAX_PAGE_SIZE}.`);
  }
  if (paging !== 'none' && UNPAGED.includes(envelope)) {
    throw new SimulatorError(`The envelope ${envelope} has no room for the paging ${paging}.`);
  }
  const dialect = { profile, traits: TRAITS[profile], envelope, paging, pageSize, quirks };
  for (const quirk of QUIRKS) {
    const conflict = quirks.has(quirk.name) ? conflictOf(quirk, dialect) : undefined;
    if (conflict !== undefined) throw new SimulatorError(`The quirk ${quirk.name} ${conflict}.`);
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
  const own: readonly string[] = [dialect.envelope, ...dialect.quirks];
  const rival = notWith?.find((name) => own.includes(name));
  return rival === undefined ? undefined : `cannot go together with ${rival}`;
}

/** An unexpected habit that the API allows. */
interface Quirk {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** The profiles and the paging that it needs. */
  readonly profiles?: readonly ProfileName[];
  readonly paging?: PagingName;
  /** Envelopes and quirks. */
  readonly notWith?: readonly string[];
}

const WITH_STATUS = ['documented', 'drf', 'generic-rest'] as const;
const REST = ['drf', 'generic-rest'] as const;

export const QUIRKS = [
  { name: 'strings', summary: 'All values are strings, numbers and booleans too.' },
  {
    name: 'http-next',
    summary: 'The link to the next page points to http://proxy.invalid/….',
    paging: 'next',
  },
  {
    name: 'page-loop',
    summary: 'The link to the next page leads to the same page again.',
    paging: 'next',
  },
  { name: 'trims', summary: 'The device trims text before it stores it.' },
  { name: 'no-options', summary: 'OPTIONS is refused with 405.' },
  {
    name: 'update-creates',
    summary: 'A POST with the id of a record creates a second record.',
    profiles: WITH_STATUS,
    // Two records with one key would appear as one.
    notWith: ['keyed'],
  },
  {
    name: 'html-errors',
    summary: 'Errors (400, 500) are HTML pages.',
    profiles: WITH_STATUS,
    notWith: ['status-200-errors'],
  },
  {
    name: 'status-200-errors',
    summary: 'Errors have status 200 and "success": false.',
    profiles: WITH_STATUS,
  },
  {
    name: 'counters',
    summary: 'Each record counts in "hits" how often it was listed.',
  },
  {
    name: 'positional-ids',
    summary: 'An id is the position in the list, so that ids shift after a delete.',
    profiles: REST,
  },
  {
    name: 'summary-list',
    summary: 'A list has only the key and the id of each record; its own path has all fields.',
    profiles: REST,
    // The key is outside of the record, so that nothing would be left of it.
    notWith: ['keyed'],
  },
  {
    name: 'hidden-fields',
    summary: 'The device stores an email and a password of a user and never shows them.',
    profiles: REST,
  },
  {
    name: 'password-hash',
    summary: 'A user has a password, and shows its hash.',
    profiles: REST,
    notWith: ['hidden-fields'],
  },
  {
    name: 'put-replaces',
    summary: 'Only PUT changes a record, and it empties the fields that it lacks.',
    profiles: REST,
  },
  {
    name: 'read-only-content',
    summary: 'A user has an owner and groups, which only the device sets.',
    profiles: REST,
  },
  {
    name: 'some-admins',
    summary: 'Every third user has "is_admin": true, and the others lack the field.',
    profiles: REST,
  },
  {
    name: 'sessions',
    summary: 'Each user has an e-mail address, an open session and an API token: session, token.',
    profiles: REST,
  },
  {
    name: 'documents',
    summary:
      'A record is at the path of its name: PUT creates and replaces it, and needs its _rev.',
    profiles: ['generic-rest'],
  },
  {
    name: 'domains',
    summary: 'Domains with entries below their path, which a delete of the domain takes along.',
    profiles: ['generic-rest'],
  },
  {
    name: 'logins',
    summary: 'Each user may have a password to log in with: it is written and never shown.',
    profiles: REST,
    notWith: ['hidden-fields', 'password-hash'],
  },
  { name: 'open-reads', summary: 'Anyone may read, without a login.' },
  {
    name: 'locks-accounts',
    summary: 'Three refused passwords in a row lock an account for good.',
  },
  {
    name: 'post-updates',
    summary: 'A POST with the id of a record changes it; there is no PUT and no PATCH.',
    profiles: REST,
    notWith: ['update-creates', 'positional-ids', 'put-replaces'],
  },
  {
    name: 'api-key',
    summary: 'A token goes to the header X-API-Key, without a prefix.',
  },
  {
    name: 'session-token',
    summary: 'POST /api/login returns a token, which is the only login (Bearer); DELETE ends it.',
    notWith: ['api-key', 'session-cookie'],
  },
  {
    name: 'session-cookie',
    summary: 'POST /api/login sets the cookie "sid", which is the only login; DELETE ends it.',
    notWith: ['api-key'],
  },
  {
    name: 'short-sessions',
    summary: 'With a session quirk: a session ends after five requests or two seconds.',
  },
] as const satisfies readonly Quirk[];

export type QuirkName = (typeof QUIRKS)[number]['name'];

/** An unknown name, and the names to choose from. */
export interface UnknownName {
  readonly kind: string;
  readonly name: string;
  readonly known: readonly string[];
}

/** A wrong number or name, options that contradict each other, or a port in use. */
export class SimulatorError extends RangeError {
  readonly unknown: UnknownName | undefined;

  constructor(message: string, options: ErrorOptions & { unknown?: UnknownName } = {}) {
    super(message, options);
    this.unknown = options.unknown;
  }
}

/** Returns `name` if it is one of `names`. @throws SimulatorError if not */
export function oneOf<Name extends string>(
  kind: UnknownName['kind'],
  names: readonly Name[],
  name: string,
): Name {
  const found = names.find((each) => each === name);
  if (found !== undefined) return found;
  // A list of all faults would not help.
  const hint = names.length > 20 ? '' : `; there are ${names.join(', ')}`;
  throw new SimulatorError(`there is no ${kind} "${name}"${hint}`, {
    unknown: { kind, name, known: names },
  });
}
