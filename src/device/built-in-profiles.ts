import type { Profile, ResourceProfile, WriteFacts } from './profile.ts';

const ID_FIELDS = ['uuid', 'id', 'pk', '_id', '.id'];

const documentedUser: ResourceProfile = {
  keyField: 'username',
  fields: {
    ...{ uuid: { needed: true }, first_name: { needed: true }, lastname: { needed: true } },
    ...{ username: { needed: true }, lang: { needed: true, choice: true } },
  },
  single: false,
};

/** A user whose fields are unknown, except the key. */
const anyUser: ResourceProfile = { keyField: 'username', fields: {}, single: false };

const formPost: WriteFacts = {
  method: 'POST',
  path: '{collection}',
  encoding: 'form',
  constants: {},
  selector: 'id',
  record: 'whole',
};

const jsonPost: WriteFacts = { ...formPost, encoding: 'json', selector: 'none' };

/** Exactly the API document; REST conventions fill its gaps. */
export const documentedProfile: Profile = {
  name: 'documented',
  basePath: '/api/',
  endsWithSlash: true,
  idFields: ID_FIELDS,
  list: { path: '{collection}', paging: 'auto' },
  create: formPost,
  update: formPost,
  remove: { ...formPost, method: 'DELETE', path: '{item}', selector: 'none', record: 'none' },
  // Facts are shown in this order: those of each field come last.
  resources: { user: documentedUser },
  origins: {
    basePath: 'documented',
    endsWithSlash: 'documented',
    'resources.user.fields': 'documented',
    'list.path': 'documented',
    create: 'documented',
    'update.method': 'documented',
    'remove.method': 'documented',
  },
};

/** Django REST Framework with its default views: JSON, PATCH and DELETE on the path of one record. */
export const drfProfile: Profile = {
  ...documentedProfile,
  name: 'drf',
  resources: { user: anyUser },
  create: jsonPost,
  update: { ...jsonPost, method: 'PATCH', path: '{item}', record: 'changes' },
  origins: {},
};

/** Any other REST API: like `drf`, but without the trailing slash. */
export const genericRestProfile: Profile = {
  ...drfProfile,
  name: 'generic-rest',
  endsWithSlash: false,
};

const formAction = (action: string, record: WriteFacts['record']): WriteFacts => ({
  ...formPost,
  constants: { action },
  selector: action === 'add' ? 'none' : 'key',
  record,
});

/** One path for all writes, distinguished by `action=add|change|delete`. */
export const formActionProfile: Profile = {
  ...documentedProfile,
  name: 'form-action',
  resources: { user: anyUser },
  create: formAction('add', 'whole'),
  update: formAction('change', 'whole'),
  remove: formAction('delete', 'none'),
  origins: {},
};

export const BUILT_IN_PROFILES: readonly Profile[] = [
  documentedProfile,
  drfProfile,
  genericRestProfile,
  formActionProfile,
];

export function builtIn(name: string): Profile | undefined {
  return BUILT_IN_PROFILES.find((profile) => profile.name === name);
}
