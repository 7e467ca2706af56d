import { createServer, type Server } from 'node:https';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { type Certificate, createCertificate } from '../../../src/simulator/certificate.ts';

const RealDate = Date;

/** A field of an account. */
export type Value = string | boolean;

/** An account of a box. `person` is the truth that no API shows: whose account it is. */
export interface Account {
  readonly person: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, Value>>;
  /** Not shown to anybody. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** The machines from which devsh writes, by the account that it uses there. */
export const MACHINES = { root: 'home', ruth: 'away' } as const;

export type Machine = (typeof MACHINES)[keyof typeof MACHINES];

/** Who changed an account: devsh by a request, or somebody else. */
export interface Deed {
  /** `side`: the box itself, as a side effect of a request of devsh. */
  readonly by: Machine | 'other' | 'side';
  /** Whose request a side effect comes from. */
  readonly cause?: Deed['by'] | undefined;
  /** It was done on the other box of the same memory. */
  readonly isOfTwin?: boolean;
  readonly box: string;
  readonly action: 'add' | 'set' | 'delete';
  readonly before?: Account | undefined;
  readonly after?: Account | undefined;
  /** What the box had shown to that machine last. */
  readonly shown: readonly Account[];
}

/** What the box does with the next write. */
export type Fate =
  | 'carry out'
  | 'refuse'
  | 'lose'
  | 'store, then 500'
  | 'forget'
  | 'store, then die'
  /** Another admin was faster: the account is there already. */
  | 'exists'
  /** Another admin does the same just before, and the box refuses it. */
  | 'outdone';

/** How a box differs from one that shows all that it holds, at once, and does just what it is asked. */
export const HABITS = [
  'hides', // its list leaves out accounts that are not active
  'cuts', // its list ends after 20 accounts
  'pages', // its list comes in pages of two, without a total
  'late', // reads show a write some readings later; the answer is 200
  'defers', // the same; the answer is 202
  'caches', // the same; each answer has an Age
  'cascades', // a delete closes another account
  'ignores', // a set leaves last_name as it was
  'folds', // texts are stored in lower case
  'overwrites', // a set writes to the next account, too
] as const;
export type Habit = (typeof HABITS)[number];

/** After how many reads an unsettled write shows. */
const LAG: Partial<Record<Habit, number>> = { late: 7, defers: 8, caches: 8 };
const CUT = 20;
const PAGE = 2;

/** How ids are given: a number never twice, the lowest free number, or a UUID, which is known in any spelling. */
export type Ids = 'new' | 'reused' | 'uuid';

/** Other spellings of the same id. */
export type Spelling = 'plain' | 'capitals' | 'no dashes' | 'percent';

export function spelled(id: string, spelling: Spelling): string {
  if (spelling === 'capitals') return id.toUpperCase();
  if (spelling === 'no dashes') return id.replaceAll('-', '');
  if (spelling === 'plain') return id;
  return id.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`);
}

/** The same text for each spelling. */
export function plainId(id: string): string {
  return decodeURIComponent(id).toLowerCase().replaceAll('-', '');
}

/** The names of the persons whom others create. */
const STRANGERS = ['zed', 'yan', 'xia', 'wes', 'vic', 'uma', 'tom', 'sue'];

/** A box with accounts. It speaks JSON as Django REST Framework does; names need not be unique. */
export class Box {
  readonly name: string;
  readonly certificate: Certificate;
  readonly deeds: Deed[];
  readonly habit: Habit | undefined;
  /** Another box with the same memory. */
  #twin: Box | undefined;
  #accounts: readonly Account[];
  /** What reads still show, and how often. */
  #stale: { readonly accounts: readonly Account[]; left: number } | undefined;
  fate: Fate = 'carry out';
  /** What it has accepted and not stored. */
  readonly forgotten: Readonly<Record<string, Value>>[] = [];
  isDown = false;
  /** By how many minutes its clock is off. */
  minutes = 0;
  readonly #ids: Ids;
  #lastId: number;
  #strangers = 0;
  readonly #shown = new Map<Deed['by'], readonly Account[]>();

  /** @param first the number of the first id */
  constructor(
    name: string,
    accounts: readonly Omit<Account, 'id'>[],
    { ids, first, deeds, habit }: BoxSetup,
  ) {
    this.name = name;
    this.habit = habit;
    this.#ids = ids;
    this.#lastId = first - 1;
    const all = habit === 'cuts' ? [...FILLERS, ...accounts] : accounts;
    this.#accounts = all.map((one) => ({ ...one, id: this.#textOf(++this.#lastId) }));
    this.deeds = deeds;
    const subject = { commonName: name, addresses: ['127.0.0.1'], hostNames: [] };
    this.certificate = createCertificate(subject);
  }

  get accounts(): readonly Account[] {
    return this.#accounts;
  }

  set accounts(accounts: readonly Account[]) {
    const lag = this.habit && LAG[this.habit];
    if (lag !== undefined)
      this.#stale = { accounts: this.#stale?.accounts ?? this.#accounts, left: lag };
    this.#accounts = accounts;
    if (this.#twin !== undefined) this.#twin.#accounts = accounts;
  }

  /** From now on both boxes have the memory of this one. */
  joinedBy(other: Box): void {
    [this.#twin, other.#twin] = [other, this];
    other.#accounts = this.#accounts;
  }

  get isPaired(): boolean {
    return this.#twin !== undefined;
  }

  /** Whether reads do not show yet what it holds. */
  get isStale(): boolean {
    return this.#stale !== undefined;
  }

  /** What it holds, and what its reads may still show of each account. */
  get known(): readonly Account[] {
    return [...new Set([...this.#accounts, ...(this.#stale?.accounts ?? [])])];
  }

  /** The number of the last id. */
  get highest(): number {
    return this.#lastId;
  }

  named(username: string): readonly Account[] {
    return this.accounts.filter(({ fields }) => fields['username'] === username);
  }

  /** Another admin makes an account for somebody of whom devsh knows nothing, with the values of the last one. */
  addStranger(username: string): void {
    const last = this.deeds.findLast(
      ({ box, before }) => box === this.name && before?.fields['username'] === username,
    );
    const { lang = 'en', last_name = 'Ng' } = last?.before?.fields ?? {};
    const person = `${STRANGERS[this.#strangers++ % STRANGERS.length] ?? ''}-${this.name}`;
    const fields = { username, email: `${person}@example.net`, first_name: person };
    this.#add('other', person, { ...DEFAULTS, ...fields, lang, last_name });
  }

  /** Another admin changes the first account of this name. */
  change(username: string, fields: Readonly<Record<string, Value>>): void {
    const [account] = this.named(username);
    if (account !== undefined) this.#set('other', account, fields);
  }

  /** Another admin deletes the first account of this name. */
  remove(username: string): void {
    const [account] = this.named(username);
    if (account !== undefined) this.#delete('other', account);
  }

  /** The answer; status 0: the connection is closed without one. */
  take({ method = '', url = '', headers }: IncomingMessage, body: string): Answer {
    if (this.isDown) return [0];
    const by = this.#writerOf(headers.authorization);
    if (by === undefined) return [401, { detail: 'who are you?' }];
    const [path = '', query] = url.split('?');
    const [, id, act] = /^\/api\/user\/(?:([^/]+)\/(token\/)?)?$/.exec(path) ?? [path];
    const account = this.accounts.find((one) => plainId(one.id) === plainId(id ?? ''));
    if (!url.startsWith('/api/user/') || (id !== undefined && account === undefined)) return [404];
    if (method === 'GET') {
      return this.#read(by, id, new URLSearchParams(query));
    }
    if (method === 'OPTIONS') return [405];
    const given = fieldsIn(body, headers['content-type']);
    const { fate } = this;
    this.fate = 'carry out';
    if (fate === 'exists' && account === undefined) {
      this.addStranger(String(given['username']));
      return [400, { username: ['exists already'] }];
    }
    if (fate === 'outdone') {
      const isNamed = account === undefined && this.named(String(given['username'])).length > 0;
      const isSecret = act !== undefined || SECRETS.some((field) => Object.hasOwn(given, field));
      if (!isNamed && !isSecret) this.#carryOut('other', { method, account, given });
      return [409, { detail: 'somebody else was faster' }];
    }
    if (fate === 'refuse') return [400, { detail: 'not today' }];
    if (fate === 'lose') return [0];
    const token = act === undefined ? undefined : randomBytes(20).toString('hex');
    const write = { method, account, given: token === undefined ? given : { token } };
    const status = fate === 'forget' ? 200 : this.#carryOut(by, write);
    if (fate === 'forget') this.forgotten.push(given);
    if (fate === 'store, then die') this.isDown = true;
    if (this.isDown) return [0];
    if (this.habit === 'defers') return [202, {}];
    const made = account === undefined ? this.#accounts.at(-1)?.id : undefined;
    if (this.habit === 'hides' && made !== undefined) return [status, { user: { id: made } }];
    return fate === 'store, then 500' ? [500, { detail: 'oops' }] : [status, { token }];
  }

  /** A list, or one account at its own path. */
  #read(by: Deed['by'], id: string | undefined, query: URLSearchParams): Answer {
    const stale = this.#stale;
    if (stale !== undefined && id === undefined && --stale.left < 0) this.#stale = undefined;
    const held = this.#stale?.accounts ?? this.#accounts;
    if (id !== undefined) {
      const account = held.find((one) => plainId(one.id) === plainId(id));
      return account === undefined ? [404] : [200, shown(account)];
    }
    const end = this.habit === 'cuts' ? CUT : undefined;
    this.#shown.set(by, held.slice(0, end));
    const listed = held.filter((one) => this.habit !== 'hides' || one.fields['is_active'] === true);
    if (this.habit !== 'pages') {
      return [200, listed.slice(0, end).map(shown)];
    }
    const page = Number(query.get('page') ?? 1);
    const [from, to] = [(page - 1) * PAGE, page * PAGE];
    const next = to < listed.length ? `/api/user/?page=${page + 1}` : null;
    return [200, { next, results: listed.slice(from, to).map(shown) }];
  }

  /** Who has this login; undefined: nobody. */
  #writerOf(login = ''): Deed['by'] | undefined {
    const [kind = '', code = ''] = login.split(' ');
    if (kind === 'Token') return this.#holds('token', code) ? 'other' : undefined;
    const [user = '', ...rest] = Buffer.from(code, 'base64').toString().split(':');
    const password = rest.join(':');
    if (user in MACHINES && password === PASSWORD) return MACHINES[user as keyof typeof MACHINES];
    return this.#holds('password', password, user) ? 'other' : undefined;
  }

  #holds(kind: string, secret: string, user?: string): boolean {
    return this.accounts.some(
      ({ fields, secrets }) =>
        secrets[kind] === secret && (user === undefined || fields['username'] === user),
    );
  }

  #carryOut(by: Deed['by'], { method, account, given }: Write): number {
    if (method === 'DELETE' && account !== undefined) {
      this.#delete(by, account);
      const [other] = this.habit === 'cascades' ? this.accounts : [];
      if (other !== undefined) this.#set('side', other, { is_active: false }, by);
      return 204;
    }
    if (account === undefined) {
      this.#add(by, personOf(given), { ...DEFAULTS, ...given });
      return 201;
    }
    const taken = Object.entries(given).filter(
      ([field]) => this.habit !== 'ignores' || field !== 'last_name',
    );
    if (taken.length > 0) this.#set(by, account, Object.fromEntries(taken));
    const next = this.accounts[this.accounts.findIndex(({ id }) => id === account.id) + 1];
    if (this.habit === 'overwrites' && next !== undefined) {
      this.#set('side', next, { last_name: 'Over' }, by);
    }
    return 200;
  }

  #add(by: Deed['by'], person: string, fields: Readonly<Record<string, Value>>): void {
    const free = [...this.accounts.keys()].map((index) => this.#textOf(index + 1));
    const lowest = free.find((id) => this.accounts.every((one) => one.id !== id));
    const isReused = this.#ids === 'reused' && lowest !== undefined;
    const id = isReused ? lowest : this.#textOf(++this.#lastId);
    const after = withFields({ person, id, fields: {}, secrets: {} }, fields);
    this.#tell({ by, action: 'add', after });
    this.accounts = [...this.accounts, after];
  }

  #set(
    by: Deed['by'],
    before: Account,
    fields: Readonly<Record<string, Value>>,
    cause?: Deed['by'],
  ): void {
    const after = withFields(before, this.habit === 'folds' ? folded(fields) : fields);
    this.#tell({ by, cause, action: 'set', before, after });
    this.accounts = this.accounts.map((one) => (one === before ? after : one));
  }

  #delete(by: Deed['by'], before: Account): void {
    this.#tell({ by, action: 'delete', before });
    this.accounts = this.accounts.filter((one) => one !== before);
  }

  #tell(deed: Omit<Deed, 'box' | 'shown'>): void {
    const shownLast = this.#shown.get(deed.by) ?? this.accounts;
    this.deeds.push({ ...deed, box: this.name, shown: shownLast });
    if (this.#twin === undefined) return;
    const { by, cause = by } = deed;
    const twin = { by: 'side', cause, isOfTwin: true, box: this.#twin.name } as const;
    this.deeds.push({ ...deed, ...twin, shown: shownLast });
  }

  #textOf(number: number): string {
    if (this.#ids !== 'uuid') return String(number);
    return `fa1cbeef-ab12-4abc-8def-${String(number).padStart(12, '0')}`;
  }
}

interface BoxSetup {
  readonly ids: Ids;
  readonly first: number;
  readonly deeds: Deed[];
  readonly habit?: Habit | undefined;
}

/** Accounts that no line is about. */
const FILLERS: readonly Omit<Account, 'id'>[] = Array.from({ length: CUT - 2 }, (_, index) => {
  const username = `filler${index}`;
  const email = `${username}@example.net`;
  const names = { username, email, first_name: username, last_name: 'Fill' };
  return { person: username, secrets: {}, fields: { ...names, lang: 'xx', is_active: true } };
});

/** Texts but not the login, which would be another one. */
export function folded(fields: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const fold = (field: string, value: Value): Value =>
    typeof value === 'string' && !SECRETS.includes(field) ? value.toLowerCase() : value;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, fold(name, value)]),
  );
}

type Answer = readonly [status: number, value?: unknown];

interface Write {
  readonly method: string;
  readonly account: Account | undefined;
  readonly given: Readonly<Record<string, Value>>;
}

/** The password of devsh on each machine. */
export const PASSWORD = 'swordfish-1';

function fieldsIn(body: string, type = ''): Readonly<Record<string, Value>> {
  if (type.includes('json')) return JSON.parse(body) as Record<string, Value>;
  return Object.fromEntries(new URLSearchParams(body));
}

const SECRETS = ['password', 'token'];

function withFields(account: Account, given: Readonly<Record<string, Value>>): Account {
  const fields = { ...account.fields };
  const secrets = { ...account.secrets };
  for (const [field, value] of Object.entries(given)) {
    if (SECRETS.includes(field)) secrets[field] = String(value);
    else fields[field] = value;
  }
  return { ...account, fields, secrets };
}

/** Whose account it is: the e-mail says it. */
function personOf({ email, username }: Readonly<Record<string, Value>>): string {
  return String(email === '' ? username : (email ?? username)).replace(/@.*/, '');
}

const DEFAULTS: Readonly<Record<string, Value>> = {
  ...{ username: '', email: '', first_name: '', last_name: '', lang: 'en', is_active: true },
};

function shown({ id, fields }: Account): Record<string, Value> {
  return { id, ...fields };
}

/** A place in the network, at which a box stands; another one may take it. */
export interface Place {
  readonly address: string;
  box: Box;
  close(): void;
}

/** Called before each request: whether it is carried out, and whether it is answered. */
export type Watch = (
  isWrite: boolean,
  request: string,
) => {
  readonly isCarriedOut: boolean;
  readonly isAnswered: boolean;
};

export async function openPlace(first: Box, watch: Watch): Promise<Place> {
  const sockets = new Set<Duplex>();
  const { key, cert } = first.certificate;
  const server: Server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const { isCarriedOut, isAnswered } = watch(
        !['GET', 'OPTIONS'].includes(request.method ?? ''),
        `${request.method ?? ''} ${request.url ?? ''}`,
      );
      const body = Buffer.concat(chunks).toString();
      const [status, value] = isCarriedOut ? place.box.take(request, body) : [0];
      if (status === 0 || !isAnswered) {
        request.socket.destroy();
        return;
      }
      const date = new RealDate(RealDate.now() + place.box.minutes * 60_000).toUTCString();
      const age = place.box.habit === 'caches' ? { age: '37' } : {};
      response.writeHead(status, { 'content-type': 'application/json', date, ...age });
      response.end(value === undefined || status === 204 ? '' : JSON.stringify(value));
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    if (place.box.isDown) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let box = first;
  const place: Place = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get box() {
      return box;
    },
    set box(next: Box) {
      box = next;
      for (const socket of sockets) socket.destroy();
      const { key, cert } = next.certificate;
      server.setSecureContext({ key, cert });
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return place;
}
