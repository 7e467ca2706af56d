import type { IncomingMessage } from 'node:http';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** How records are created and changed; they are deleted by DELETE on their path. */
export type Way = 'form POST' | 'JSON POST' | 'JSON PUT' | 'JSON PATCH';

/** A field of the users of a device, beside the id and the username. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'nullable' | 'flag' | 'number' | 'list' | 'nested';
  /**
   * `hidden`: stored and never shown; `masked`: shown as stars; `read-only`: writes do not change it, and
   * it is empty in a new record.
   */
  readonly access: 'open' | 'hidden' | 'masked' | 'read-only';
}

export interface Model {
  readonly way: Way;
  /** The effect on a field that an update omits. */
  readonly leftOut: 'erased' | 'kept';
  /** What OPTIONS reports: nothing, the methods, or also the fields with their types. */
  readonly tells: 'nothing' | 'methods' | 'fields';
  readonly idField: 'uuid' | 'id';
  readonly fields: readonly Field[];
}

/** One request, byte for byte. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
  /** The records before and after it, by id. */
  readonly before: Records;
  readonly after: Records;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The header Allow. */
  readonly allow?: string;
}

/** The records of a device by id, with hidden fields. */
export type Records = ReadonlyMap<string, JsonObject>;

export const MASKED = '********';
const LIST = '/api/user/';

/** A device that stores what it gets and logs each write. */
export class ModelDevice {
  readonly model: Model;
  readonly writes: Recorded[] = [];
  /** Whether it has reported its fields. */
  hasTold = false;
  #held: Records;
  #nextId: number;

  constructor(model: Model, records: readonly JsonObject[]) {
    this.model = model;
    this.#held = new Map(records.map((record, index) => [String(index + 1), record]));
    this.#nextId = records.length + 1;
  }

  get held(): Records {
    return this.#held;
  }

  /** A record as the device shows it. */
  shown(id: string, record: JsonObject): JsonObject {
    const { fields, idField } = this.model;
    const visible = Object.entries(record).flatMap(([name, value]): [string, Json][] => {
      const access = fields.find((field) => field.name === name)?.access;
      if (access === 'hidden') return [];
      return [[name, access === 'masked' && value !== '' ? MASKED : value]];
    });
    return { [idField]: id, ...Object.fromEntries(visible) };
  }

  /** Executes a request and returns the response. */
  take({ method = '', url = '', headers }: IncomingMessage, body: string): Answer {
    const before = this.#held;
    const contentType = headers['content-type'] ?? '';
    const [status, value] = this.#carryOut(method, url, contentType, body);
    if (!['GET', 'HEAD', 'OPTIONS'].includes(method)) {
      this.writes.push({ method, path: url, contentType, body, before, after: this.#held });
    }
    return {
      status,
      text: value === undefined ? '' : JSON.stringify(value),
      ...(method === 'OPTIONS' && status === 200 && { allow: this.#allowed(url) }),
    };
  }

  #allowed(url: string): string {
    const { way } = this.model;
    if (url === LIST) return 'GET, POST, OPTIONS';
    const change = way === 'JSON PUT' ? ' PUT,' : way === 'JSON PATCH' ? ' PATCH,' : '';
    return `GET,${change} DELETE, OPTIONS`;
  }

  #carryOut(
    method: string,
    url: string,
    contentType: string,
    body: string,
  ): [status: number, value?: Json] {
    const id = url.startsWith(LIST) ? url.slice(LIST.length).replace(/\/$/, '') : undefined;
    const record = id === undefined ? undefined : this.#held.get(id);
    if (id === undefined || (id !== '' && record === undefined)) return [404, { detail: 'no' }];
    if (method === 'OPTIONS') {
      this.hasTold ||= this.model.tells === 'fields';
      return this.#told();
    }
    if (method === 'GET') {
      if (record !== undefined) return [200, this.shown(id, record)];
      return [200, Array.from(this.#held, ([key, one]) => this.shown(key, one))];
    }
    const { way, leftOut } = this.model;
    if (method === 'DELETE' && record !== undefined) {
      this.#held = new Map([...this.#held].filter(([key]) => key !== id));
      return [204];
    }
    const isForm = contentType.startsWith('application/x-www-form-urlencoded');
    if (isForm !== (way === 'form POST')) return [415, { detail: 'unsupported media type' }];
    const given = isForm ? this.#formBody(body) : (JSON.parse(body) as JsonObject);
    if (method === 'POST' && id === '') {
      const said = given[this.model.idField];
      const named = [...this.#held].find(([key]) => key === said || Number(key) === said);
      if (named === undefined) return this.#create(given);
      return this.#change(named[0], named[1], given, leftOut === 'erased');
    }
    if (record === undefined) return [405, { detail: 'not allowed' }];
    if (method === 'PUT' && way === 'JSON PUT') {
      return this.#change(id, record, given, leftOut === 'erased');
    }
    if (method === 'PATCH' && way === 'JSON PATCH') return this.#change(id, record, given, false);
    return [405, { detail: 'not allowed' }];
  }

  #told(): [number, Json?] {
    const { tells, fields, way } = this.model;
    if (tells === 'nothing') return [405, { detail: 'not allowed' }];
    const parses = [way === 'form POST' ? 'application/x-www-form-urlencoded' : 'application/json'];
    if (tells === 'methods') return [200, { parses }];
    const told = fields.map(({ name, kind, access }): [string, Json] => [
      name,
      { type: TYPES[kind], required: false, read_only: access === 'read-only', label: name },
    ]);
    const username = { type: 'string', required: true, read_only: false, label: 'username' };
    return [200, { parses, actions: { POST: { username, ...Object.fromEntries(told) } } }];
  }

  #create(given: JsonObject): [number, Json] {
    const { username } = given;
    const isTaken = [...this.#held.values()].some((record) => record['username'] === username);
    if (typeof username !== 'string' || username === '' || isTaken) {
      return [400, { username: ['must be there, and must be new'] }];
    }
    const id = String(this.#nextId++);
    const empty = this.model.fields.map(({ name, kind }) => [name, EMPTY[kind]]);
    this.#held = new Map([
      ...this.#held,
      [id, { username, ...Object.fromEntries(empty), ...this.#taken(given) }],
    ]);
    return [201, this.shown(id, this.#held.get(id) ?? {})];
  }

  #change(id: string, held: JsonObject, given: JsonObject, isWhole: boolean): [number, Json] {
    const username = given['username'] ?? held['username'] ?? '';
    const kept = Object.entries(held).map(([name, value]): [string, Json] => {
      const field = this.model.fields.find((one) => one.name === name);
      const isErased = isWhole && field !== undefined && field.access !== 'read-only';
      return [name, isErased ? EMPTY[field.kind] : value];
    });
    const changed = { ...Object.fromEntries(kept), username, ...this.#taken(given) };
    this.#held = new Map([...this.#held, [id, changed]]);
    return [200, this.shown(id, changed)];
  }

  /** The stored values of a body: known fields, in their types. */
  #taken(given: JsonObject): JsonObject {
    const taken = this.model.fields.flatMap(({ name, kind, access }): [string, Json][] => {
      const value = given[name];
      return value === undefined || access === 'read-only' ? [] : [[name, stored(kind, value)]];
    });
    return Object.fromEntries(taken);
  }

  #formBody(body: string): JsonObject {
    const pairs = new URLSearchParams(body);
    const given: Record<string, Json> = {};
    for (const name of pairs.keys()) {
      const isList = this.model.fields.some((one) => one.name === name && one.kind === 'list');
      const value = isList ? pairs.getAll(name) : (pairs.get(name) ?? '');
      // One part of a nested field: `limits.depth=4`.
      const [field = name, part] = name.split('.');
      if (part === undefined) given[name] = value;
      else given[field] = { ...(given[field] as JsonObject | undefined), [part]: value };
    }
    return given;
  }
}

const EMPTY: Readonly<Record<Field['kind'], Json>> = {
  text: '',
  nullable: null,
  flag: false,
  number: 0,
  list: [],
  nested: {},
};

const TYPES: Readonly<Record<Field['kind'], string>> = {
  text: 'string',
  nullable: 'string',
  flag: 'boolean',
  number: 'integer',
  list: 'list',
  nested: 'nested object',
};

function stored(kind: Field['kind'], value: Json): Json {
  switch (kind) {
    case 'text':
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    case 'nullable':
      return value === null || value === '' ? null : stored('text', value);
    case 'flag':
      return value === true || value === 'true' || value === 'True' || value === '1';
    case 'number':
      return Number(value);
    case 'list':
      return Array.isArray(value) ? (value as readonly Json[]) : [value];
    case 'nested':
      return typeof value === 'object' ? value : String(value);
  }
}
