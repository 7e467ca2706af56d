import { answer, page } from '../api.ts';
import { type ApiAnswer, SERVER_ERROR_PAGE } from '../view.ts';
import { LANGUAGES, type Store, type User } from '../store.ts';
import { CHANGES, writeFault, WRITES, type WriteFault, type Writing } from './fault.ts';

const STORE_LATE_MS = 300;
const REVERT_LATE_MS = 3000;

/** What the write would do and answer; nothing is carried out. */
function pretend({ site, request }: Writing): { reply: ApiAnswer; store: Store } {
  const store = site.store.copy();
  return { reply: answer({ ...site, store }, request), store };
}

/** Carries the write out; the users that it stored are then changed again. */
function storing(alter: (user: User) => User): WriteFault['carryOut'] {
  return ({ site, request }) => {
    const { store } = site;
    const before = new Set(store.users);
    const reply = answer(site, request);
    for (const user of newUsers(store, before)) store.replace(alter(user));
    return reply;
  };
}

/** Carries the write out and answers something else. */
function answering(reply: (store: Store) => ApiAnswer): WriteFault['carryOut'] {
  return ({ site, request }) => {
    answer(site, request);
    return reply(site.store);
  };
}

function newUsers(store: Store, before: ReadonlySet<User>): User[] {
  return store.users.filter((user) => !before.has(user));
}

/** Users that are not needed to log in, but for those of a write. */
function bystanders(store: Store, writing: Writing): User[] {
  const [, , ...users] = store.users;
  const { body, target } = writing.request;
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

function refusal(status: number, body: object): ApiAnswer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** What a write does, and what it says that it does. */
export const WRITE_FAULTS = [
  writeFault(
    'accept-and-forget',
    'A POST, PUT or PATCH is accepted, but nothing is stored.',
    CHANGES,
    (writing) => pretend(writing).reply,
  ),
  writeFault(
    'code-in-200',
    'A POST, PUT or PATCH is answered with 200 and a code of 500 inside; nothing is stored.',
    CHANGES,
    () =>
      refusal(200, {
        results: [{ code: 500, status: 'Attribute cannot be modified', errors: [] }],
      }),
  ),
  writeFault(
    'delete-and-keep',
    'A DELETE is accepted (204), but the user stays.',
    ['DELETE'],
    (writing) => pretend(writing).reply,
  ),
  writeFault(
    'store-altered',
    'A POST, PUT or PATCH stores another lang than it answers.',
    CHANGES,
    storing((user) => ({ ...user, lang: LANGUAGES.find((lang) => lang !== user.lang) ?? '' })),
  ),
  writeFault(
    'store-upper-case',
    'Texts are stored in capitals.',
    CHANGES,
    storing((user) => alterTexts(user, (text) => text.toUpperCase())),
  ),
  writeFault(
    'store-cut',
    'Texts are stored up to their second letter.',
    CHANGES,
    storing((user) => alterTexts(user, (text) => text.slice(0, 2))),
  ),
  writeFault(
    'store-padded',
    'Texts are stored with a blank behind them.',
    CHANGES,
    storing((user) => alterTexts(user, (text) => `${text} `)),
  ),
  writeFault('store-twice', 'A POST, PUT or PATCH leaves two records.', CHANGES, (writing) => {
    const { site, request } = writing;
    const before = new Set(site.store.users);
    const reply = answer(site, request);
    for (const { uuid, ...fields } of newUsers(site.store, before)) {
      if (uuid !== '') site.store.create(fields);
    }
    return reply;
  }),
  writeFault('update-creates', 'An update makes a second record.', CHANGES, ({ site, request }) => {
    const quirks = new Set([...site.dialect.quirks, 'update-creates' as const]);
    return answer({ ...site, dialect: { ...site.dialect, quirks } }, request);
  }),
  writeFault(
    'update-another',
    'A POST, PUT or PATCH is written into another record.',
    CHANGES,
    (writing) => {
      const { store } = writing.site;
      const before = new Set(store.users);
      const { reply, store: meant } = pretend(writing);
      const [other] = bystanders(store, writing);
      for (const { first_name, lastname, lang } of newUsers(meant, before)) {
        if (other !== undefined) store.replace({ ...other, first_name, lastname, lang });
      }
      return reply;
    },
  ),
  writeFault('alter-another', 'A write changes another record, too.', WRITES, (writing) => {
    const { store } = writing.site;
    const [other] = bystanders(store, writing);
    if (other !== undefined) store.replace({ ...other, lastname: 'Elsewhere' });
    return answer(writing.site, writing.request);
  }),
  writeFault('add-another', 'A write adds a user of its own, too.', WRITES, (writing) => {
    const fields = { first_name: '', lastname: '', username: 'backdoor', lang: 'en' };
    writing.site.store.create(fields);
    return answer(writing.site, writing.request);
  }),
  writeFault('delete-another', 'A DELETE deletes another user.', ['DELETE'], (writing) => {
    const { store } = writing.site;
    const [other] = bystanders(store, writing);
    if (other !== undefined) store.delete(other.uuid);
    return pretend(writing).reply;
  }),
  writeFault(
    'delete-all-others',
    'A DELETE deletes all users but the accounts.',
    ['DELETE'],
    (writing) => {
      const { store } = writing.site;
      for (const { uuid } of bystanders(store, writing)) store.delete(uuid);
      return answer(writing.site, writing.request);
    },
  ),
  writeFault(
    'delete-everything',
    'A write deletes all users, and with them every login.',
    WRITES,
    ({ site, request }) => {
      const reply = answer(site, request);
      for (const { uuid } of site.store.users) site.store.delete(uuid);
      return reply;
    },
  ),
  writeFault(
    '500-after-storing',
    'A write is carried out and answered with 500.',
    WRITES,
    answering(() => page(500, SERVER_ERROR_PAGE)),
  ),
  writeFault(
    '400-after-storing',
    'A write is carried out and refused.',
    WRITES,
    answering(() => refusal(400, { username: ['This field is wrong.'] })),
  ),
  writeFault(
    '409-after-storing',
    'A write is carried out and said to be a duplicate.',
    WRITES,
    answering(() => refusal(409, { detail: 'A user with that username already exists.' })),
  ),
  writeFault(
    '401-after-storing',
    'A write is carried out, and the login refused.',
    WRITES,
    answering(() => refusal(401, { detail: 'Invalid token.' })),
  ),
  writeFault(
    'answer-another',
    'The answer to a write shows another user.',
    CHANGES,
    answering(({ users }) => refusal(201, users[0] ?? {})),
  ),
  writeFault('store-late', 'A write takes effect 300 ms after its answer.', WRITES, (writing) => {
    writing.later(STORE_LATE_MS, () => answer(writing.site, writing.request));
    return pretend(writing).reply;
  }),
  writeFault('revert-later', 'What was added is gone 3 s after the answer.', CHANGES, (writing) => {
    const { store } = writing.site;
    const before = new Set(store.users);
    const reply = answer(writing.site, writing.request);
    const added = newUsers(store, before).map(({ uuid }) => uuid);
    writing.later(REVERT_LATE_MS, () => {
      for (const uuid of added) store.delete(uuid);
    });
    return reply;
  }),
];
