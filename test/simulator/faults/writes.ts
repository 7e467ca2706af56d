import { page, respond as respondBy } from '../../../src/simulator/api.ts';
import type { ApiRequest, ApiResponse } from '../../../src/simulator/view.ts';
import { SERVER_ERROR_PAGE } from '../pages.ts';
import { LANGUAGES, type Store, type User } from '../../../src/simulator/store.ts';
import { apiOf, type Site, tableOf } from '../dialects/site.ts';
import { asSecond } from '../dialects/quirks.ts';
import { createUser, deleteUser, replaceUser } from '../users.ts';
import { CHANGES, atWrite, WRITES, type WriteCall } from './fault.ts';

const STORE_LATE_MS = 300;
const REVERT_LATE_MS = 3000;

function respond(site: Site, request: ApiRequest): ApiResponse {
  return respondBy(apiOf(site), request);
}

/** Executes the write on a copy of the store. */
function dryRun({ site, request }: WriteCall): { reply: ApiResponse; store: Store } {
  const store = site.store.copy();
  return { reply: respond({ ...site, store }, request), store };
}

/** Executes the write, then alters the users that it stored. */
function storing<const Name extends string>(
  name: Name,
  summary: string,
  alter: (user: User) => User,
) {
  return atWrite(name, summary, CHANGES, ({ site, request }) => {
    const before = new Set(site.store.users);
    const reply = respond(site, request);
    for (const user of newUsers(site.store, before)) replaceUser(site.store, alter(user));
    return reply;
  });
}

/** Executes the write and sends another response. */
function responding<const Name extends string>(
  name: Name,
  summary: string,
  reply: (store: Store) => ApiResponse,
  methods: readonly string[] = WRITES,
) {
  return atWrite(name, summary, methods, ({ site, request }) => {
    respond(site, request);
    return reply(site.store);
  });
}

function newUsers(store: Store, before: ReadonlySet<User>): User[] {
  return store.users.filter((user) => !before.has(user));
}

/** Users that are neither accounts nor part of the write. */
function otherRecords(store: Store, call: WriteCall): User[] {
  const [, , ...users] = store.users;
  const { body, target } = call.request;
  return users.filter(({ uuid }) => !body.includes(uuid) && !target.includes(uuid));
}

function alterTexts(user: User, alter: (text: string) => string): User {
  const { first_name, lastname, username } = user;
  return {
    ...user,
    first_name: alter(first_name),
    lastname: alter(lastname),
    username: alter(username),
  };
}

function refusal(status: number, body: object): ApiResponse {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** Wrong effects of a write, and wrong responses to it. */
export const WRITE_FAULTS = [
  atWrite(
    'accept-and-forget',
    'A POST, PUT or PATCH is accepted, but nothing is stored.',
    CHANGES,
    (call) => dryRun(call).reply,
  ),
  atWrite(
    'code-in-200',
    'The response to a POST, PUT or PATCH is 200 with a code of 500 inside; nothing is stored.',
    CHANGES,
    () =>
      refusal(200, {
        results: [{ code: 500, status: 'Attribute cannot be modified', errors: [] }],
      }),
  ),
  atWrite(
    'delete-and-keep',
    'A DELETE is accepted (204), but the user stays.',
    ['DELETE'],
    (call) => dryRun(call).reply,
  ),
  storing(
    'store-altered',
    'A POST, PUT or PATCH stores another lang than the response shows.',
    (user) => ({
      ...user,
      lang: LANGUAGES.find((lang) => lang !== user.lang) ?? '',
    }),
  ),
  storing('store-upper-case', 'Texts are stored in capitals.', (user) =>
    alterTexts(user, (text) => text.toUpperCase()),
  ),
  storing('store-cut', 'Texts are stored up to their second letter.', (user) =>
    alterTexts(user, (text) => text.slice(0, 2)),
  ),
  storing('store-padded', 'Texts are stored with a space at the end.', (user) =>
    alterTexts(user, (text) => `${text} `),
  ),
  atWrite('store-twice', 'A POST, PUT or PATCH leaves two records.', CHANGES, (call) => {
    const { site, request } = call;
    const before = new Set(site.store.users);
    const reply = respond(site, request);
    for (const { uuid, ...fields } of newUsers(site.store, before)) {
      if (uuid !== '') createUser(site.store, fields);
    }
    return reply;
  }),
  atWrite('update-creates', 'An update creates a second record.', CHANGES, ({ site, request }) => {
    const before = new Map(site.store.users.map((user) => [user.uuid, user]));
    const reply = respond(site, request);
    const [changed] = site.store.users.filter((user) => before.get(user.uuid) !== user);
    const old = before.get(changed?.uuid ?? '');
    const target = tableOf(site, 'user');
    if (old === undefined || target === undefined) return reply;
    return refusal(201, site.dialect.shown(target, asSecond(target, old)));
  }),
  atWrite(
    'update-another',
    'A POST, PUT or PATCH changes another record instead.',
    CHANGES,
    (call) => {
      const { store } = call.site;
      const before = new Set(store.users);
      const { reply, store: intended } = dryRun(call);
      const [other] = otherRecords(store, call);
      for (const { first_name, lastname, lang } of newUsers(intended, before)) {
        if (other !== undefined) replaceUser(store, { ...other, first_name, lastname, lang });
      }
      return reply;
    },
  ),
  atWrite('alter-another', 'A write also changes another record.', WRITES, (call) => {
    const { store } = call.site;
    const [other] = otherRecords(store, call);
    if (other !== undefined) replaceUser(store, { ...other, lastname: 'Elsewhere' });
    return respond(call.site, call.request);
  }),
  atWrite('add-another', 'A write also adds another user.', WRITES, (call) => {
    const fields = { first_name: '', lastname: '', username: 'backdoor', lang: 'en' };
    createUser(call.site.store, fields);
    return respond(call.site, call.request);
  }),
  atWrite('delete-another', 'A DELETE deletes another user.', ['DELETE'], (call) => {
    const { store } = call.site;
    const [other] = otherRecords(store, call);
    if (other !== undefined) deleteUser(store, other.uuid);
    return dryRun(call).reply;
  }),
  atWrite(
    'delete-all-others',
    'A DELETE deletes all users but the accounts.',
    ['DELETE'],
    (call) => {
      const { store } = call.site;
      for (const { uuid } of otherRecords(store, call)) deleteUser(store, uuid);
      return respond(call.site, call.request);
    },
  ),
  atWrite(
    'delete-everything',
    'A write deletes all users, and with them every login.',
    WRITES,
    ({ site, request }) => {
      const reply = respond(site, request);
      for (const { uuid } of site.store.users) deleteUser(site.store, uuid);
      return reply;
    },
  ),
  responding('500-after-storing', 'The device executes the write and responds with 500.', () =>
    page(500, SERVER_ERROR_PAGE),
  ),
  responding('400-after-storing', 'The device executes the write and refuses it.', () =>
    refusal(400, { username: ['This field is wrong.'] }),
  ),
  responding('409-after-storing', 'The device executes the write and calls it a duplicate.', () =>
    refusal(409, { detail: 'A user with that username already exists.' }),
  ),
  responding('401-after-storing', 'The device executes the write and refuses the login.', () =>
    refusal(401, { detail: 'Invalid token.' }),
  ),
  responding(
    'answer-another',
    'The response to a write shows another user.',
    ({ users }) => refusal(201, users[0] ?? {}),
    CHANGES,
  ),
  atWrite('store-late', 'A write takes effect 300 ms after its response.', WRITES, (call) => {
    call.later(STORE_LATE_MS, () => respond(call.site, call.request));
    return dryRun(call).reply;
  }),
  atWrite('revert-later', 'An added record disappears 3 s after the response.', CHANGES, (call) => {
    const { store } = call.site;
    const before = new Set(store.users);
    const reply = respond(call.site, call.request);
    const added = newUsers(store, before).map(({ uuid }) => uuid);
    call.later(REVERT_LATE_MS, () => {
      for (const uuid of added) deleteUser(store, uuid);
    });
    return reply;
  }),
];
