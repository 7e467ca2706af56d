import { CancelledError, unlessCancelled } from '../errors.ts';
import { type Credential, headerOf } from './credential.ts';
import { bodyOf } from './encode.ts';
import {
  ExpiredSessionError,
  LoginFailedError,
  ProtocolError,
  UnreachableError,
} from './errors.ts';
import { type HttpRequest, isRead, type Response } from './exchange.ts';
import { jsonIn } from './json.ts';
import { logoutParts } from './profile.ts';
import type { ConfiguredAuth, ConfiguredLogin } from './profile-schema.ts';
import { type DeviceRef, isValueObject, nestedValue, valueAt } from './record.ts';
import { isSecretField, maskedPath } from './sensitive-fields.ts';
import { exchangeError, reasonIn, responseError } from './translate.ts';

interface SessionOptions {
  readonly device: DeviceRef;
  readonly origin: string;
  readonly auth: ConfiguredAuth;
  readonly login: ConfiguredLogin;
  readonly credential: Credential;
  /** Any request; a read may be repeated. */
  readonly send: (request: HttpRequest, signal?: AbortSignal) => Promise<Response>;
  /** A login, again only if no byte of it left; or a logout. */
  readonly sendOnce: (request: HttpRequest, signal?: AbortSignal) => Promise<Response>;
  readonly onSecret: (secret: string) => void;
}

interface OpenSession {
  readonly headers: Readonly<Record<string, string>>;
  /** The address of the session itself. */
  readonly location: string | undefined;
  /** The device has accepted it once: a 401 then means that it has ended. */
  wasAccepted: boolean;
  /** The session after it, shared by all requests that met its end, even if its login is refused. */
  next?: Promise<OpenSession>;
}

const LOGOUT_MS = 2_000;

/** Clear refusals: of the login, and for now. Others may mean a login that the profile describes wrongly. */
const CLEAR = [401, 429];

/** Printable ASCII without what separates cookies. */
const USABLE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,8000}$/;

/** The session of one device, opened by the first request. Its secret goes to no other origin, and to no file. */
export class SessionLogin {
  readonly #options: SessionOptions;
  #session: Promise<OpenSession> | undefined;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Repeats a read once if the session has ended. Throws ExpiredSessionError for a write: it may have arrived. */
  async request(request: HttpRequest, signal?: AbortSignal): Promise<Response> {
    const { device } = this.#options;
    const opening = this.#open();
    const session = await unlessCancelled(opening, signal);
    const response = await this.#send(session, request, signal);
    if (response.status !== 401 || !session.wasAccepted) return response;
    // Another request may have opened a new one meanwhile.
    if (this.#session === opening) this.#session = undefined;
    if (!isRead(request)) {
      const what = `${request.method} ${maskedPath(request.path)}`;
      throw new ExpiredSessionError(device, { code: 'session-ended', what });
    }
    session.next ??= this.#open();
    return this.#send(await unlessCancelled(session.next, signal), request, signal);
  }

  async #send(session: OpenSession, request: HttpRequest, signal?: AbortSignal): Promise<Response> {
    const response = await this.#options.send({ ...request, login: session.headers }, signal);
    session.wasAccepted ||= response.status !== 401;
    return response;
  }

  /** Logs out if the device offers it. Never throws: without a logout the session ends by itself. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const { logout } = this.#options.login;
    if (this.#session === undefined || logout === undefined) return;
    const signal = AbortSignal.timeout(LOGOUT_MS);
    try {
      const { headers, location } = await unlessCancelled(this.#session, signal);
      const { method, path: stated } = logoutParts(logout);
      const path = stated === '{location}' ? location : stated;
      if (path === undefined) return;
      const request = { method, path, login: headers, redirect: 'stay' } as const;
      await this.#options.sendOnce(request, signal);
    } catch {
      // The work is done; a device that cannot log out must not change its result.
    }
  }

  #open(): Promise<OpenSession> {
    if (this.#isClosed) return Promise.reject(new CancelledError());
    if (this.#session !== undefined) return this.#session;
    const opening = this.#logIn();
    this.#session = opening;
    opening.catch(() => {
      if (this.#session === opening) this.#session = undefined;
    });
    return opening;
  }

  /** Throws before anything else is sent: UnreachableError says that the request itself did not arrive. */
  async #logIn(): Promise<OpenSession> {
    const { auth, device, credential, login, onSecret, origin, sendOnce } = this.#options;
    const request = loginRequest(login, credential);
    const secrets = Object.entries(login.fields).flatMap(([name, value]) =>
      isSecretField(name) ? [String(value)] : [],
    );
    const context = { device, credential, request, secrets };
    const response = await sendOnce(request).catch((error: unknown) => {
      throw notArrived(device, exchangeError(context, error));
    });
    const { status } = response;
    const token = status < 400 ? tokenIn(response, login) : undefined;
    if (status >= 500 || CLEAR.includes(status)) {
      throw notArrived(device, responseError(context, response));
    }
    if (token === undefined) {
      throw new LoginFailedError(device, {
        code: 'no-session',
        is: status < 400 ? 'token' : 'refused',
        ...{ path: login.path, place: login.tokenIn, status, account: String(credential) },
        ...{ reason: reasonIn(context, response), device: device.name },
      });
    }
    onSecret(token);
    const { cookie } = tokenPlaces(login);
    const headers =
      cookie === undefined
        ? { [auth.header ?? 'authorization']: headerOf(token, auth, 'Bearer') }
        : { cookie: `${cookie}=${token}` };
    const location = locationIn(response, origin, login.path);
    return { headers, location, wasAccepted: false };
  }
}

function loginRequest(login: ConfiguredLogin, credential: Credential): HttpRequest {
  const { encoding, path } = login;
  const { user = '', secret } = credential.revealed();
  // Without other headers the request has the usual one: Basic.
  if (encoding === 'basic') return { method: 'POST', path };
  const given = { '{user}': user, '{password}': secret };
  const fields = Object.fromEntries(
    Object.entries(login.fields).map(([name, value]) => [
      name,
      valueAt(given, String(value)) ?? value,
    ]),
  );
  const form = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
  const body = encoding === 'form' ? { form } : { json: fields };
  return { method: 'POST', path, body: bodyOf(body), login: {} };
}

/** The same error of a login: the request that needed it was not sent. */
function notArrived(device: DeviceRef, error: Error): Error {
  if (!(error instanceof UnreachableError || error instanceof ProtocolError)) return error;
  const what = { code: 'no-login', problem: error.message.slice(device.name.length + 2) } as const;
  return new UnreachableError(device, what, { mayHaveArrived: false, cause: error });
}

/** Where the token is, `Set-Cookie` if not said, and the cookie that carries it, if one does. */
function tokenPlaces({ tokenIn }: ConfiguredLogin) {
  const parts = tokenIn.split(' ');
  return {
    place: parts.find((part) => !part.startsWith('cookie:')),
    cookie: parts.find((part) => part.startsWith('cookie:'))?.slice('cookie:'.length),
  };
}

/** A part of the response to a login; undefined if it is not there, or fits in no header. */
function tokenIn({ headers, body }: Response, login: ConfiguredLogin): string | undefined {
  const { place, cookie = '' } = tokenPlaces(login);
  const [, header] = /^header:(.*)$/.exec(place ?? '') ?? [];
  const json = place === undefined || header !== undefined ? undefined : jsonIn(body);
  const value =
    place === undefined
      ? cookieIn(headers['set-cookie'] ?? '', cookie)
      : header !== undefined
        ? headers[header.toLowerCase()]
        : place === 'body'
          ? (json ?? body.trim())
          : isValueObject(json) && nestedValue(json, place);
  return typeof value === 'string' && USABLE.test(value) ? value : undefined;
}

/** The last cookie of this name; several headers are joined by commas. */
function cookieIn(header: string, name: string): string | undefined {
  const cookies = [...header.matchAll(/(?:^|, *)([^=;, ]+)=([^;,]*)/g)];
  return cookies.findLast(([, own]) => own === name)?.[2];
}

/** Where the device says that the session is; undefined if that is elsewhere than below the login. */
function locationIn({ headers }: Response, origin: string, path: string): string | undefined {
  const { location = '' } = headers;
  if (location === '' || !URL.canParse(location, origin)) return undefined;
  const { origin: place, pathname } = new URL(location, origin);
  const [own = ''] = path.split('?', 1);
  const isBelow = pathname.startsWith(`${own.replace(/\/$/, '')}/`);
  return place === origin && isBelow ? pathname : undefined;
}
