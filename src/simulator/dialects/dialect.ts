import { QUIRKS, type Quirk, type QuirkName } from './quirks.ts';

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
  readonly profile?: ProfileName;
  /** `array` unless told; with paging the one that usually goes with it. */
  readonly envelope?: EnvelopeName;
  /** `none` unless told. */
  readonly paging?: PagingName;
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

const TRAITS: Readonly<Record<ProfileName, Traits>> = {
  documented: {
    id: 'uuid',
    endsWithSlash: true,
    hasOptions: true,
    encodings: ['form'],
    trims: true,
    isBrowsable: true,
  },
  drf: {
    id: 'uuid',
    endsWithSlash: true,
    hasOptions: true,
    encodings: ['json', 'form'],
    trims: true,
    isBrowsable: true,
  },
  'generic-rest': {
    id: 'number',
    endsWithSlash: false,
    hasOptions: false,
    encodings: ['json'],
    trims: false,
    isBrowsable: false,
  },
  'form-action': {
    id: 'none',
    endsWithSlash: true,
    hasOptions: false,
    encodings: ['form'],
    trims: false,
    isBrowsable: false,
  },
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
