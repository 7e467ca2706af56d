import { createDialect as createBuiltIn } from './built-in.ts';
import { SimulatorError } from '../../../src/simulator/simulator.ts';
import { type Dialect, oneOf, type ProfileName } from './site.ts';
import { wrapped } from './quirks.ts';
import { Sessions } from './sessions.ts';

export { PROFILE_NAMES, type ProfileName } from './site.ts';

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

/** A dialect with what a test wants of it besides its profile. */
export interface QuirkyDialect extends Dialect {
  readonly envelope: EnvelopeName;
  readonly paging: PagingName;
  readonly pageSize: number;
  readonly quirks: ReadonlySet<QuirkName>;
  readonly sessions: Sessions;
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
export function createDialect(options: DialectOptions = {}): QuirkyDialect {
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
  const builtIn = createBuiltIn(options.profile);
  const dialect = { ...builtIn, envelope, paging, pageSize, quirks, sessions: new Sessions() };
  for (const quirk of QUIRKS) {
    const conflict = quirks.has(quirk.name) ? conflictOf(quirk, dialect) : undefined;
    if (conflict !== undefined) throw new SimulatorError(`The quirk ${quirk.name} ${conflict}.`);
  }
  return wrapped(dialect);
}

function conflictOf(
  { profiles, paging, notWith }: Quirk,
  dialect: QuirkyDialect,
): string | undefined {
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
    summary: 'Domains with entries below their path, which a delete of the domain also deletes.',
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
