import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { type Certificate, createCertificate } from '../../../src/simulator/certificate.ts';

/** A field of an account. */
export type Value = string | boolean;

/** An account of a box. `person` is the truth that no API shows: whose account it is. */
export interface Account {
  readonly person: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, Value>>;
}

/** Who changed an account: devsh by a request, or somebody else. */
export interface Deed {
  readonly by: 'devsh' | 'other';
  readonly box: string;
  /** The place of the line during which it happened, from 0. */
  readonly line: number;
  readonly action: 'add' | 'set' | 'delete';
  readonly before?: Account | undefined;
  readonly after?: Account | undefined;
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

/** How ids are given: never twice, or the lowest free number. */
export type Ids = 'new' | 'reused';

/** The names of the persons whom others create. */
const STRANGERS = ['zed', 'yan', 'xia', 'wes', 'vic', 'uma', 'tom', 'sue'];

/** A box with accounts. It speaks JSON as Django REST Framework does; names need not be unique. */
export class Box {
  readonly name: string;
  readonly certificate: Certificate;
  readonly deeds: Deed[];
  accounts: readonly Account[];
  fate: Fate = 'carry out';
  line = 0;
  isDown = false;
  readonly #ids: Ids;
  #lastId: number;
  #strangers = 0;

  constructor(name: string, accounts: readonly Account[], ids: Ids, deeds: Deed[]) {
    this.name = name;
    this.accounts = accounts;
    this.#ids = ids;
    this.#lastId = accounts.reduce((last, { id }) => Math.max(last, Number(id)), 0);
    this.deeds = deeds;
    const subject = { commonName: name, addresses: ['127.0.0.1'], hostNames: [] };
    this.certificate = createCertificate(subject);
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
  take({ method = '', url = '' }: IncomingMessage, body: string): readonly [number, unknown?] {
    if (this.isDown) return [0];
    const [, id] = /^\/api\/user\/(?:([^/]+)\/)?$/.exec(url) ?? [url];
    const account = this.accounts.find((one) => one.id === id);
    if (!url.startsWith('/api/user/') || (id !== undefined && account === undefined)) return [404];
    if (method === 'GET') {
      return [200, account === undefined ? this.accounts.map(shown) : shown(account)];
    }
    if (method === 'OPTIONS') return [405];
    const { fate } = this;
    this.fate = 'carry out';
    if (fate === 'exists' && account === undefined) {
      const { username } = JSON.parse(body) as Record<string, Value>;
      this.addStranger(String(username));
      return [400, { username: ['exists already'] }];
    }
    if (fate === 'refuse') return [400, { detail: 'not today' }];
    if (fate === 'lose') return [0];
    const status = fate === 'forget' ? 200 : this.#carryOut(method, account, body);
    if (fate === 'store, then die') this.isDown = true;
    if (this.isDown) return [0];
    return fate === 'store, then 500' ? [500, { detail: 'oops' }] : [status, {}];
  }

  #carryOut(method: string, account: Account | undefined, body: string): number {
    if (method === 'DELETE' && account !== undefined) {
      this.#delete('devsh', account);
      return 204;
    }
    const given = JSON.parse(body) as Record<string, Value>;
    if (account === undefined) {
      this.#add('devsh', personOf(given), {
        ...DEFAULTS,
        ...given,
      });
      return 201;
    }
    this.#set('devsh', account, given);
    return 200;
  }

  #add(by: Deed['by'], person: string, fields: Readonly<Record<string, Value>>): void {
    const free = [...this.accounts.keys()].map((index) => String(index + 1));
    const lowest = free.find((id) => this.accounts.every((one) => one.id !== id));
    const id = this.#ids === 'reused' && lowest !== undefined ? lowest : String(++this.#lastId);
    const after = { person, id, fields };
    this.accounts = [...this.accounts, after];
    this.#tell({ by, action: 'add', after });
  }

  #set(by: Deed['by'], before: Account, fields: Readonly<Record<string, Value>>): void {
    const after = { ...before, fields: { ...before.fields, ...fields } };
    this.accounts = this.accounts.map((one) => (one === before ? after : one));
    this.#tell({ by, action: 'set', before, after });
  }

  #delete(by: Deed['by'], before: Account): void {
    this.accounts = this.accounts.filter((one) => one !== before);
    this.#tell({ by, action: 'delete', before });
  }

  #tell(deed: Omit<Deed, 'box' | 'line'>): void {
    this.deeds.push({ ...deed, box: this.name, line: this.line });
  }
}

/** Whose account it is: the e-mail says it. */
function personOf({ email, username }: Readonly<Record<string, Value>>): string {
  return String(email ?? username).replace(/@.*/, '');
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

export async function openPlace(first: Box): Promise<Place> {
  const sockets = new Set<Duplex>();
  const { key, cert } = first.certificate;
  const server: Server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const [status, value] = place.box.take(request, Buffer.concat(chunks).toString());
      if (status === 0) {
        request.socket.destroy();
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json' });
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
