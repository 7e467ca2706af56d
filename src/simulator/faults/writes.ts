import { answer, page } from '../api.ts';
import { type ApiAnswer, SERVER_ERROR_PAGE } from '../view.ts';
import { LANGUAGES, type Store, type User } from '../store.ts';
import { CHANGES, atWrite, WRITES, type Writing } from './fault.ts';

const STORE_LATE_MS = 300;
const REVERT_LATE_MS = 3000;

/** Executes the write on a copy of the store. */
function pretend({ site, request }: Writing): { reply: ApiAnswer; store: Store } {
  const store = site.store.copy();
  return { reply: answer({ ...site, store }, request), store };
}

/** Executes the write, then alters the users that it stored. */
function storing<const Name extends string>(
  name: Name,
  summary: string,
  alter: (user: User) => User,
) {
  return atWrite(name, summary, CHANGES, ({ site, request }) => {
    const before = new Set(site.store.users);
    const reply = answer(site, request);
    for (const user of newUsers(site.store, before)) site.store.replace(alter(user));
    return reply;
  });
}

/** Executes the write and sends another response. */
function answering<const Name extends string>(
  name: Name,
  summary: string,
  reply: (store: Store) => ApiAnswer,
  methods: readonly string[] = WRITES,
) {
  return atWrite(name, summary, methods, ({ site, request }) => {
    answer(site, request);
    return reply(site.store);
  });
}

function newUsers(store: Store, before: ReadonlySet<User>): User[] {
  return store.users.filter((user) => !before.has(user));
}

/** Users that are neither accounts nor part of the write. */
function otherRecords(store: Store, writing: Writing): User[] {
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

/** Wrong effects of a write, and wrong responses to it. */
export const WRITE_FAULTS = [
  atWrite(
    'accept-and-forget',
    'A POST, PUT or PATCH is accepted, but nothing is stored.',
    CHANGES,
    (writing) => pretend(writing).reply,
  ),
  atWrite(
    'code-in-200',
    'A POST, PUT or PATCH is answered with 200 and a code of 500 inside; nothing is stored.',
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
    (writing) => pretend(writing).reply,
  ),
  storing('store-altered', 'A POST, PUT or PATCH stores another lang than it answers.', (user) => ({
    ...user,
    lang: LANGUAGES.find((lang) => lang !== user.lang) ?? '',
  })),
  storing('store-upper-case', 'Texts are stored in capitals.', (user) =>
    alterTexts(user, (text) => text.toUpperCase()),
  ),
  storing('store-cut', 'Texts are stored up to their second letter.', (user) =>
    alterTexts(user, (text) => text.slice(0, 2)),
  ),
  storing('store-padded', 'Texts are stored with a blank behind them.', (user) =>
    alterTexts(user, (text) => `${text} `),
  ),
  atWrite('store-twice', 'A POST, PUT or PATCH leaves two records.', CHANGES, (writing) => {
    const { site, request } = writing;
    const before = new Set(site.store.users);
    const reply = answer(site, request);
    for (const { uuid, ...fields } of newUsers(site.store, before)) {
      if (uuid !== '') site.store.create(fields);
    }
    return reply;
  }),
  atWrite('update-creates', 'An update makes a second record.', CHANGES, ({ site, request }) => {
    const quirks = new Set([...site.dialect.quirks, 'update-creates' as const]);
    return answer({ ...site, dialect: { ...site.dialect, quirks } }, request);
  }),
  atWrite(
    'update-another',
    'A POST, PUT or PATCH is written into another record.',
    CHANGES,
    (writing) => {
      const { store } = writing.site;
      const before = new Set(store.users);
      const { reply, store: meant } = pretend(writing);
      const [other] = otherRecords(store, writing);
      for (const { first_name, lastname, lang } of newUsers(meant, before)) {
        if (other !== undefined) store.replace({ ...other, first_name, lastname, lang });
      }
      return reply;
    },
  ),
  atWrite('alter-another', 'A write changes another record, too.', WRITES, (writing) => {
    const { store } = writing.site;
    const [other] = otherRecords(store, writing);
    if (other !== undefined) store.replace({ ...other, lastname: 'Elsewhere' });
    return answer(writing.site, writing.request);
  }),
  atWrite('add-another', 'A write adds a user of its own, too.', WRITES, (writing) => {
    const fields = { first_name: '', lastname: '', username: 'backdoor', lang: 'en' };
    writing.site.store.create(fields);
    return answer(writing.site, writing.request);
  }),
  atWrite('delete-another', 'A DELETE deletes another user.', ['DELETE'], (writing) => {
    const { store } = writing.site;
    const [other] = otherRecords(store, writing);
    if (other !== undefined) store.delete(other.uuid);
    return pretend(writing).reply;
  }),
  atWrite(
    'delete-all-others',
    'A DELETE deletes all users but the accounts.',
    ['DELETE'],
    (writing) => {
      const { store } = writing.site;
      for (const { uuid } of otherRecords(store, writing)) store.delete(uuid);
      return answer(writing.site, writing.request);
    },
  ),
  atWrite(
    'delete-everything',
    'A write deletes all users, and with them every login.',
    WRITES,
    ({ site, request }) => {
      const reply = answer(site, request);
      for (const { uuid } of site.store.users) site.store.delete(uuid);
      return reply;
    },
  ),
  answering('500-after-storing', 'A write is carried out and answered with 500.', () =>
    page(500, SERVER_ERROR_PAGE),
  ),
  answering('400-after-storing', 'A write is carried out and refused.', () =>
    refusal(400, { username: ['This field is wrong.'] }),
  ),
  answering('409-after-storing', 'A write is carried out and said to be a duplicate.', () =>
    refusal(409, { detail: 'A user with that username already exists.' }),
  ),
  answering('401-after-storing', 'A write is carried out, and the login refused.', () =>
    refusal(401, { detail: 'Invalid token.' }),
  ),
  answering(
    'answer-another',
    'The answer to a write shows another user.',
    ({ users }) => refusal(201, users[0] ?? {}),
    CHANGES,
  ),
  atWrite('store-late', 'A write takes effect 300 ms after its answer.', WRITES, (writing) => {
    writing.later(STORE_LATE_MS, () => answer(writing.site, writing.request));
    return pretend(writing).reply;
  }),
  atWrite('revert-later', 'What was added is gone 3 s after the answer.', CHANGES, (writing) => {
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
