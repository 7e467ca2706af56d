import type { EnvelopeName, PagingName, ProfileName } from './dialect.ts';

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
export interface Quirk extends Conditions {
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
