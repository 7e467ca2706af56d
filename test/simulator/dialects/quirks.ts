import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { DeviceRecord, Value } from '../../../src/device/record.ts';
import { type ResourceTable, type Site, tableOf, type Traits } from './site.ts';
import { readBody } from './read-body.ts';
import type { Field, Resource } from './resources.ts';
import type { StoredRecord } from './dialect-store.ts';
import {
  type ApiRequest,
  decodedPath,
  HTML,
  type Outcome,
  type View,
} from '../../../src/simulator/view.ts';
import { refusalPage } from '../pages.ts';
import type { QuirkName, QuirkyDialect } from './dialect.ts';
import { listOutcome, objectOutcome } from './envelope.ts';
import {
  loginView,
  setLogin,
  withApiKey,
  withLocks,
  withOpenReads,
  withSessions,
} from './login.ts';
import { textIn } from './form-action.ts';
import { findNamedView } from './named.ts';

/* What each quirk makes of a dialect. */

type Wrap = (dialect: QuirkyDialect) => QuirkyDialect;

function withTraits(traits: Partial<Traits>): Wrap {
  return (dialect) => ({ ...dialect, traits: { ...dialect.traits, ...traits } });
}

/** More fields of a user. */
function withFields(...fields: readonly Field[]): Wrap {
  return (dialect) => ({
    ...dialect,
    resources: dialect.resources.map((resource) =>
      resource.name === 'user'
        ? { ...resource, fields: [...new Set([...resource.fields, ...fields])] }
        : resource,
    ),
  });
}

function withResources(resources: readonly Resource[]): Wrap {
  return (dialect) => ({ ...dialect, resources: [...dialect.resources, ...resources] });
}

function withShown(
  alter: (shown: DeviceRecord, target: ResourceTable, record: StoredRecord) => DeviceRecord,
): Wrap {
  return (dialect) => ({
    ...dialect,
    shown: (target, record) => alter(dialect.shown(target, record), target, record),
  });
}

/** What a path means: a list, a single object, or with an id a record. */
interface Place extends ResourceTable {
  readonly path: string;
  readonly id: string;
}

function withView(alter: (view: View, place: Place) => View): Wrap {
  return (dialect) => ({
    ...dialect,
    findView(site, path) {
      const view = dialect.findView(site, path);
      const [, , name = '', id = ''] = decodedPath(path).split('/');
      const target = tableOf(site, name);
      return view === undefined || target === undefined
        ? view
        : alter(view, { ...target, path, id });
    },
  });
}

function withoutMethods(...methods: readonly string[]): Wrap {
  return withView((view, { id }) =>
    id === '' ? view : { ...view, allow: view.allow.filter((one) => !methods.includes(one)) },
  );
}

/** Alters what a GET shows: the records of a list, or a single object. */
function withRead(alter: (outcome: Outcome, place: Place, request: ApiRequest) => Outcome): Wrap {
  return withView((view, place) => ({
    ...view,
    respond(request) {
      const outcome = view.respond(request);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      return isRead && place.id === '' && outcome.status === 200
        ? alter(outcome, place, request)
        : outcome;
    },
  }));
}

/** Alters the records of a list. */
function withList(
  alter: (record: DeviceRecord, place: Place, listing: number) => DeviceRecord,
): Wrap {
  return (dialect) => {
    const listings = new Map<string, number>();
    return withRead((outcome, place) => {
      if (!Array.isArray(outcome.value)) return outcome;
      const { name } = place.resource;
      const listing = (listings.get(name) ?? 0) + 1;
      listings.set(name, listing);
      const records = outcome.value as readonly DeviceRecord[];
      return { ...outcome, value: records.map((record) => alter(record, place, listing)) };
    })(dialect);
  };
}

/** Alters a POST to a list that has the id of a record. */
function withKnownPost(
  alter: (outcome: Outcome, target: ResourceTable, before: StoredRecord) => Outcome,
): Wrap {
  return withView((view, place) => ({
    ...view,
    respond(request) {
      const before =
        place.id === '' && request.method === 'POST' ? knownIn(place, request) : undefined;
      if (before === undefined) return view.respond(request);
      return alter(update(view, place, request), place, before);
    },
  }));
}

/** The documented POST updates; elsewhere a PUT of the record does. */
function update(view: View, { site, path }: Place, request: ApiRequest): Outcome {
  const { profile, traits } = site.dialect;
  if (profile === 'documented') return view.respond(request);
  const id = idIn(site, request);
  const item = traits.endsWithSlash ? `${path}${id}/` : `${path}/${id}`;
  const changing = site.dialect.findView(site, item) ?? view;
  return changing.respond({ ...request, method: 'PUT' });
}

function knownIn(place: Place, request: ApiRequest): StoredRecord | undefined {
  const id = idIn(place.site, request);
  return id === '' ? undefined : place.site.dialect.find(place, id);
}

function idIn({ dialect }: Site, request: ApiRequest): string {
  const body = readBody(dialect, request, [], true);
  const id = 'input' in body ? body.input[dialect.traits.id ?? ''] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/** Leaves the record as it was, and the changed one beside it. */
export function asSecond(target: ResourceTable, before: StoredRecord): StoredRecord {
  const { uuid, ...changed } = target.table.get(before.uuid) ?? before;
  target.table.put({ ...before, uuid });
  return target.site.store.insertInto(target.table, changed);
}

/** Sessions and tokens belong to a user, whom they name. */
const ACCESS: readonly Resource[] = ['session', 'token'].map((name) => ({
  name,
  key: 'name',
  fields: [
    { name: 'name', type: 'string', maxLength: 50 },
    { name: 'username', type: 'string', maxLength: 150 },
  ],
}));

const DOMAINS: readonly Resource[] = [
  {
    name: 'domain',
    key: 'name',
    fields: [
      { name: 'name', type: 'string', maxLength: 100 },
      { name: 'note', type: 'string', maxLength: 100, mayBeBlank: true, fallback: '' },
    ],
  },
  {
    name: 'entry',
    key: 'name',
    fields: [
      { name: 'name', type: 'string', maxLength: 100 },
      { name: 'content', type: 'string', maxLength: 200 },
    ],
  },
];

const MAIL: Field = {
  name: 'email',
  type: 'string',
  maxLength: 100,
  mayBeBlank: true,
  fallback: '',
};
const PASSWORD: Field = { name: 'password', type: 'string', maxLength: 100, fallback: '' };
/** Opens the device. */
const LOGIN: Field = { name: 'password', type: 'string', maxLength: 100, mayLack: true };

/** Status codes of the view itself, not of the login or the server. */
const REJECTIONS = [400, 404, 409];

function withRefusals(alter: (outcome: Outcome) => Outcome): Wrap {
  return (dialect) => ({
    ...dialect,
    refuse: (request, outcome) => alter(dialect.refuse(request, outcome)),
  });
}

function asPage(outcome: Outcome): Outcome {
  const { status, value } = outcome;
  if (status !== 400 && status < 500) return outcome;
  const title = `${STATUS_CODES[status] ?? 'Error'} (${status})`;
  return { status, text: { type: HTML, body: refusalPage(title, textIn(value)) } };
}

function asSuccess(outcome: Outcome): Outcome {
  const { status, value } = outcome;
  if (!REJECTIONS.includes(status)) return outcome;
  return { status: 200, value: { success: false, message: textIn(value) } };
}

function without(record: DeviceRecord, ...names: readonly string[]): DeviceRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function withHash(record: DeviceRecord): DeviceRecord {
  const { password } = record;
  if (typeof password !== 'string') return record;
  const hash = createHash('sha256').update(password).digest('base64url');
  return { ...record, password: `$5$${hash}` };
}

function withPositions(dialect: QuirkyDialect): QuirkyDialect {
  const isNumber = (id: string): boolean => /^\d{1,15}$/.test(id);
  return {
    ...withTraits({ id: 'id' })(dialect),
    find: ({ table }, id) => (isNumber(id) ? table.records[Number(id)] : undefined),
    shown(target, record) {
      const shown = dialect.shown(target, record);
      return 'id' in shown ? { ...shown, id: target.table.records.indexOf(record) } : shown;
    },
  };
}

/** Each stored record has a revision of its own. */
function withRevisions(): Wrap {
  const revisions = new WeakMap<StoredRecord, number>();
  let last = 0;
  return withShown((shown, _target, record) => {
    const revision = revisions.get(record) ?? ++last;
    revisions.set(record, revision);
    return { ...shown, _rev: `${revision}-${record.uuid.slice(0, 8)}` };
  });
}

function withNames(quirk: 'documents' | 'domains'): Wrap {
  return (dialect) => ({
    ...withTraits({ id: undefined })(dialect),
    findView: (site, path) => findNamedView(quirk, site, path) ?? dialect.findView(site, path),
  });
}

/** Paths that set the login of a user; a change of the password sets it, too. */
function withLogins(dialect: QuirkyDialect): QuirkyDialect {
  const changing = withView((view, place) => ({
    ...view,
    respond(request) {
      const { site, resource, id } = place;
      const user = resource.name === 'user' && id !== '' ? site.dialect.find(place, id) : undefined;
      const outcome = view.respond(request);
      const isChange = outcome.status === 200 && ['PUT', 'PATCH'].includes(request.method);
      const body = isChange ? readBody(site.dialect, request, [], true) : undefined;
      const password = body !== undefined && 'input' in body ? body.input['password'] : undefined;
      if (user !== undefined && typeof password === 'string') {
        setLogin(site.store, user.uuid, { password });
      }
      return outcome;
    },
  }))(withFields(LOGIN)(dialect));
  return {
    ...changing,
    findView(site, path) {
      const [, id = '', action = ''] =
        /^\/api\/user\/([^/.]+)\/(password|token)\/?$/.exec(decodedPath(path)) ?? [];
      const users = tableOf(site, 'user');
      return action === '' || users === undefined
        ? changing.findView(site, path)
        : loginView(users, id, action);
    },
  };
}

function withStrings(value: Value): Value {
  if (typeof value !== 'object') return String(value);
  if (value === null) return '';
  if (Array.isArray(value)) return (value as readonly Value[]).map(withStrings);
  return stringsIn(value as DeviceRecord);
}

function stringsIn(record: DeviceRecord): DeviceRecord {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, withStrings(value)]),
  );
}

function all(...wraps: readonly Wrap[]): Wrap {
  return (dialect) => wraps.reduce((wrapped, wrap) => wrap(wrapped), dialect);
}

/** In the order in which they wrap each other. */
const WRAPS: readonly (readonly [quirk: QuirkName, () => Wrap])[] = [
  ['trims', () => withTraits({ trims: true })],
  ['no-options', () => withTraits({ hasOptions: false })],
  ['html-errors', () => withRefusals(asPage)],
  ['status-200-errors', () => withRefusals(asSuccess)],
  ['positional-ids', () => withPositions],
  [
    'hidden-fields',
    () =>
      all(
        withFields(MAIL, PASSWORD),
        withShown((one) => without(one, 'email', 'password')),
      ),
  ],
  ['password-hash', () => all(withFields(PASSWORD), withShown(withHash))],
  ['put-replaces', () => all(withTraits({ replaces: true }), withoutMethods('PATCH'))],
  [
    'post-updates',
    () =>
      all(
        withoutMethods('PUT', 'PATCH'),
        withKnownPost((outcome) => outcome),
      ),
  ],
  [
    'update-creates',
    () =>
      withKnownPost((outcome, target, before) =>
        outcome.status === 200
          ? { status: 201, value: target.site.dialect.shown(target, asSecond(target, before)) }
          : outcome,
      ),
  ],
  ['read-only-content', () => withFields(...READ_ONLY)],
  ['some-admins', () => withFields({ name: 'is_admin', type: 'boolean', mayLack: true })],
  ['sessions', () => all(withFields(MAIL), withResources(ACCESS))],
  ['documents', () => all(withRevisions(), withNames('documents'))],
  [
    'domains',
    () =>
      all(
        withResources(DOMAINS),
        withShown((one) => without(one, 'domain')),
        withNames('domains'),
      ),
  ],
  ['logins', () => withLogins],
  ['counters', () => withList((record, _place, hits) => ({ ...record, hits }))],
  [
    'summary-list',
    () =>
      withList((record, { site, resource }) => {
        const kept = [site.dialect.traits.id, resource.key];
        return without(record, ...Object.keys(record).filter((name) => !kept.includes(name)));
      }),
  ],
  ['open-reads', () => withOpenReads],
  ['locks-accounts', () => withLocks],
  ['api-key', () => withApiKey],
  ['session-token', () => withSessions],
  ['session-cookie', () => withSessions],
  // The last word on each value.
  ['strings', () => withShown(stringsIn)],
];

const READ_ONLY: readonly Field[] = [
  { name: 'owner', type: 'string', maxLength: 100, readOnly: true, fallback: '' },
  { name: 'groups', type: 'list', maxLength: 100, readOnly: true, fallback: [] },
];

/** The dialect with its quirks, and its lists in their envelope. */
export function wrapped(dialect: QuirkyDialect): QuirkyDialect {
  const wraps = WRAPS.flatMap(([quirk, wrap]) => (dialect.quirks.has(quirk) ? [wrap()] : []));
  return all(...wraps, inEnvelope)(dialect);
}

function inEnvelope(dialect: QuirkyDialect): QuirkyDialect {
  return withRead((outcome, { resource }, request) => {
    const { value } = outcome;
    return Array.isArray(value)
      ? listOutcome(dialect, resource, value as readonly DeviceRecord[], request)
      : objectOutcome(dialect, resource, value as DeviceRecord);
  })(dialect);
}
