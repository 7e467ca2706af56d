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
  readonly by: Machine | 'other';
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
  | 'exists';

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
  accounts: readonly Account[];
  fate: Fate = 'carry out';
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
    { ids, first, deeds }: { readonly ids: Ids; readonly first: number; readonly deeds: Deed[] },
  ) {
    this.name = name;
    this.#ids = ids;
    this.#lastId = first - 1;
    this.accounts = accounts.map((one) => ({ ...one, id: this.#textOf(++this.#lastId) }));
    this.deeds = deeds;
    const subject = { commonName: name, addresses: ['127.0.0.1'], hostNames: [] };
    this.certificate = createCertificate(subject);
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
    const [, id, act] = /^\/api\/user\/(?:([^/]+)\/(token\/)?)?$/.exec(url) ?? [url];
    const account = this.accounts.find((one) => plainId(one.id) === plainId(id ?? ''));
    if (!url.startsWith('/api/user/') || (id !== undefined && account === undefined)) return [404];
    if (method === 'GET') {
      if (account !== undefined) return [200, shown(account)];
      this.#shown.set(by, this.accounts);
      return [200, this.accounts.map(shown)];
    }
    if (method === 'OPTIONS') return [405];
    const given = fieldsIn(body, headers['content-type']);
    const { fate } = this;
    this.fate = 'carry out';
    if (fate === 'exists' && account === undefined) {
      this.addStranger(String(given['username']));
      return [400, { username: ['exists already'] }];
    }
    if (fate === 'refuse') return [400, { detail: 'not today' }];
    if (fate === 'lose') return [0];
    const token = act === undefined ? undefined : randomBytes(20).toString('hex');
    const write = { method, account, given: token === undefined ? given : { token } };
    const status = fate === 'forget' ? 200 : this.#carryOut(by, write);
    if (fate === 'store, then die') this.isDown = true;
    if (this.isDown) return [0];
    return fate === 'store, then 500' ? [500, { detail: 'oops' }] : [status, { token }];
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
      return 204;
    }
    if (account === undefined) {
      this.#add(by, personOf(given), { ...DEFAULTS, ...given });
      return 201;
    }
    this.#set(by, account, given);
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

  #set(by: Deed['by'], before: Account, fields: Readonly<Record<string, Value>>): void {
    const after = withFields(before, fields);
    this.#tell({ by, action: 'set', before, after });
    this.accounts = this.accounts.map((one) => (one === before ? after : one));
  }

  #delete(by: Deed['by'], before: Account): void {
    this.#tell({ by, action: 'delete', before });
    this.accounts = this.accounts.filter((one) => one !== before);
  }

  #tell(deed: Omit<Deed, 'box' | 'shown'>): void {
    const shownLast = this.#shown.get(deed.by) ?? this.accounts;
    this.deeds.push({ ...deed, box: this.name, shown: shownLast });
  }

  #textOf(number: number): string {
    if (this.#ids !== 'uuid') return String(number);
    return `fa1cbeef-ab12-4abc-8def-${String(number).padStart(12, '0')}`;
  }
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
export type Watch = (isWrite: boolean) => {
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
      );
      const body = Buffer.concat(chunks).toString();
      const [status, value] = isCarriedOut ? place.box.take(request, body) : [0];
      if (status === 0 || !isAnswered) {
        request.socket.destroy();
        return;
      }
      const date = new RealDate(RealDate.now() + place.box.minutes * 60_000).toUTCString();
      response.writeHead(status, { 'content-type': 'application/json', date });
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
