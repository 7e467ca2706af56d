import { createServer } from 'node:https';
import { certificateFor, listen } from '../device/server.ts';
import { ADMIN, makeDevsh } from './devsh.ts';

type Json = string | number | boolean | null | { readonly [part: string]: string };
export type OwnUser = Readonly<Record<string, Json>> & { readonly id?: string | number | null };

/** How a device differs from a usual one. */
export interface OwnDevice {
  /** Changes its list after a write. */
  readonly list?: (users: readonly OwnUser[], reads: number) => readonly OwnUser[];
  /** Changes a new or updated user. */
  readonly store?: (user: OwnUser) => OwnUser;
  /** Why the device refuses a new or changed user. */
  readonly refuse?: (sent: OwnUser) => string | object | undefined;
  /** The status of a refusal. Default: 400. */
  readonly refusedWith?: number;
  /** The users after a DELETE. */
  readonly remove?: (users: readonly OwnUser[], id: string) => readonly OwnUser[];
  /** A single user has no path. */
  readonly isListOnly?: boolean;
  /** Lines of its profile. Default: changes by PUT, which erases missing fields. */
  readonly profile?: readonly string[];
  /** The response to OPTIONS. */
  readonly options?: object;
  /** Default: ann, bob and cyd. */
  readonly users?: readonly OwnUser[];
}

const NAMES = ['ann', 'bob', 'cyd'];
const USERS: readonly OwnUser[] = NAMES.map((username, index) => ({
  id: index + 1,
  username,
  first_name: `F${index}`,
  lang: 'de',
}));

/** A special device, and a devsh that trusts it as oslo. */
export async function startOwnDevice({
  list = (users) => users,
  store = (user) => user,
  refuse = () => undefined,
  refusedWith = 400,
  remove = (users, id) => users.filter((user) => String(user['id']) !== id),
  isListOnly = false,
  profile = [],
  options,
  users: held = USERS,
}: OwnDevice): Promise<{
  devsh: Awaited<ReturnType<typeof makeDevsh>>;
  users: () => readonly OwnUser[];
  writes: () => string[];
}> {
  const certificate = certificateFor(['127.0.0.1']);
  let users = held;
  const writes: string[] = [];
  let reads = 0;
  const answerTo = (method: string, url: string, body: string): [number, unknown] => {
    const id = /^\/api\/user\/([^/]+)\/$/.exec(url)?.[1];
    const own = users.find((user) => String(user['id']) === id);
    const isOne = id !== undefined;
    if (method === 'OPTIONS') return options === undefined ? [405, {}] : [200, options];
    if (!isOne && url !== '/api/user/') return [404, { detail: 'Not found.' }];
    if (method === 'GET' && !isOne) {
      reads += writes.length > 0 ? 1 : 0;
      return [200, writes.length > 0 ? list(users, reads) : users];
    }
    if (method === 'GET') return own === undefined || isListOnly ? [404, {}] : [200, own];
    writes.push(`${method} ${url} ${body}`);
    const sent = (body === '' ? {} : JSON.parse(body)) as OwnUser;
    const reason = refuse(sent);
    if (typeof reason === 'string')
      return [refusedWith, { errors: [reason], status: 'Not created.' }];
    if (reason !== undefined) return [refusedWith, reason];
    if (method === 'POST') {
      const made = store({ ...sent, id: sent['id'] ?? users.length + 1 });
      users = [...users, made];
      return [201, made];
    }
    if (own === undefined) return [404, {}];
    if (method === 'DELETE') {
      users = remove(users, id ?? '');
      return [204, undefined];
    }
    const kept = method === 'PUT' ? { id: own['id'] ?? null } : own;
    const changed = store({ ...kept, ...sent });
    users = users.map((user) => (user === own ? changed : user));
    return [200, changed];
  };
  const server = createServer(
    { key: certificate.key, cert: certificate.cert },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const body = Buffer.concat(chunks).toString();
        const [status, value] = answerTo(request.method ?? '', request.url ?? '', body);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(value === undefined ? '' : JSON.stringify(value));
      });
    },
  );
  const address = `127.0.0.1:${await listen(server)}`;
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'oslo', address, '--profile', 'drf', '--insecure']);
  if (profile.length > 0) await devsh(['profile', 'set', 'oslo', 'extends=drf', ...profile]);
  return { devsh, users: () => users, writes: () => writes };
}
