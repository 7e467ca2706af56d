import { CancelledError, DevshError } from '../errors.ts';
import { declinedReason, issuesOf, issuesText } from './complaint.ts';
import {
  type BodyFailure,
  DeclinedFailure,
  type DeviceError,
  type FieldIssues,
  ProtocolError,
  RejectedError,
  UnauthorizedError,
  UnreachableError,
} from './errors.ts';
import { type Response, type HttpRequest, isRead } from './exchange.ts';
import { type FaultKind, faultOf, type TransportFault } from './fault.ts';
import type { DeviceRef } from './record.ts';
import { retryAfterMs } from './retry-policy.ts';
import { oneLine } from '../text/one-line.ts';
import type { Credential, TokenHeader } from './credential.ts';
import { maskedPath, redact } from './sensitive-fields.ts';

export function responseError(context: FailureContext, received: Response): DeviceError {
  const { device, credential, request } = context;
  const response = redactedResponse(context, received);
  const { status, headers, body } = response;
  const what = describe(context);
  const issues = redactedIssues(context, body);
  const reason = reasonSuffix(issuesText(issues));
  const advice = tokenAdvice(context, response);
  if (status === 401) {
    const who = credential === undefined ? 'without a login' : String(credential);
    const text = `the login was refused (401, ${who})${reason}${otherScheme(response)}${advice}`;
    return new UnauthorizedError(device, `${text}. Try "login ${device.name}"`, status);
  }
  if (status === 403) {
    const who = credential?.user === undefined ? 'this account' : `"${credential.user}"`;
    const either = `Either ${who} lacks the permission, or the login is wrong: try "login ${device.name}" with another account`;
    const text = `${what} is forbidden (403)${reason}. ${either}${advice}`;
    return new UnauthorizedError(device, text, status);
  }
  if (status === 304) {
    const text = `${what} returned 304 (not modified), although devsh sent no condition`;
    return new ProtocolError(device, text, { status });
  }
  if (status >= 300 && status < 400) return redirectError(context, response);
  if (status >= 400 && status < 500) {
    const text = `${what} was refused (${status}${meaningOf(response, device)})${reason}${advice}`;
    const waitMs = status === 429 ? retryAfterMs(headers) : undefined;
    return new RejectedError(device, text, { status, issues, retryAfterMs: waitMs });
  }
  const remedy =
    status < 500
      ? `. "get ${maskedPath(request.path)} --raw" shows it`
      : NO_REASON.test(reason)
        ? '. The device has an internal error; try again, and check its log'
        : '';
  const wait = status === 503 ? waitText(headers['retry-after']) : '';
  const text = `${what} returned ${status}${wait}${reason}${remedy}`;
  return new ProtocolError(device, text, { status, body });
}

/** What a server says of any failure. */
const NO_REASON = /^$|\bserver error\b/i;

/** Why a login was refused, in the words of the device. Any other text of a success may be a secret. */
export function reasonIn(context: FailureContext, { status, body }: Response): string {
  const reason = declinedReason(body) ?? (status < 400 ? '' : issuesText(issuesOf(body)));
  return redacted(context, reasonSuffix(reason));
}

/** The error for a 2xx with an unusable body. */
export function decodeError(
  context: FailureContext,
  response: Response,
  failure: BodyFailure,
): DeviceError {
  const { device, request, fields } = context;
  const { status, body } = redactedResponse(context, response);
  const what = describe(context);
  const message = redacted(context, failure.message);
  if (failure instanceof DeclinedFailure) {
    const issues = redactedIssues(context, body);
    const isAboutFields = fields !== undefined && Object.keys(issues).length > 0;
    const reason = reasonSuffix(isAboutFields ? issuesText(issues) : message);
    const text = `${what} was refused (with status ${status})${reason}`;
    return new RejectedError(device, text, { status, issues });
  }
  const path = maskedPath(request.path);
  const text = `${what} returned ${message}. "get ${path} --raw" shows all of it`;
  return new ProtocolError(device, text, { status, body });
}

/** The error for an exchange without a whole response; expected errors pass unchanged. */
export function exchangeError(context: FailureContext, error: unknown): Error {
  if (error instanceof DevshError) return error;
  const fault = faultOf(error, true);
  if (fault) return faultError(context, fault);
  if (error instanceof Error && error.name === 'AbortError') return new CancelledError();
  return error instanceof Error ? error : new Error(String(error));
}

function faultError(context: FailureContext, fault: TransportFault): DeviceError {
  const { device, request, via, wasRead = false } = context;
  const { kind, sent, status } = fault;
  const what = describe(context);
  // Text of a proxy or ssh is one line already and may be longer.
  const detail = kind === 'route' ? fault.message : oneLine(fault.message);
  if (kind === 'too large' || kind === 'malformed' || kind === 'encoding') {
    return new ProtocolError(device, `the response to ${what} ${UNUSABLE[kind](detail)}`, {
      status,
    });
  }
  const advice = isRead(request)
    ? `Try again${kind === 'timeout' ? ', or use a longer --timeout' : ''}`
    : 'The device may have executed it: check before you repeat it';
  // A device given by its address already has it in its name.
  const who = device.address.startsWith(device.name) ? 'the device' : device.address;
  const address = via === undefined ? who : `${who} ${via}`;
  const reason = REASONS[kind]({ address, what, detail, sent });
  return new UnreachableError(device, wasRead ? reason.replace(/\. Is .*\?$/, '') : reason, {
    mayHaveArrived: sent,
    // No time helps where the two do not agree on TLS.
    advice: sent && !(kind === 'tls' && isRead(request)) ? advice : undefined,
    cause: fault,
  });
}

const UNUSABLE = {
  'too large': (detail: string) => `is too large: ${detail}. devsh used nothing of it`,
  malformed: (detail: string) => `is not valid HTTP: ${detail}. Is this the right port?`,
  encoding: (detail: string) => `cannot be decompressed: ${detail}`,
};

type Failed = Readonly<{ address: string; what: string; detail: string; sent: boolean }>;

/** Why no whole response arrived. */
const REASONS: Readonly<
  Record<Exclude<FaultKind, keyof typeof UNUSABLE>, (failed: Failed) => string>
> = {
  name: ({ address }) =>
    `the name of ${address} does not resolve. Check the spelling, or use the IP address`,
  refused: ({ address }) =>
    `${address} refuses the connection. Is its API switched on, and is the port right?`,
  'no route': ({ address }) => `no route to ${address}. Check the network, the VPN and the address`,
  'connect timeout': ({ address }) =>
    `no connection to ${address} in time. Is it switched on, and does a firewall let you through?`,
  route: ({ detail }) => detail,
  tls: ({ address, detail }) =>
    /certificate.required/i.test(detail)
      ? `${address} wants a client certificate, which devsh cannot send`
      : `no TLS with ${address}: ${detail}. Is this the HTTPS port, and does it speak TLS 1.2?`,
  'old tls': ({ address }) =>
    `${address} offers only TLS 1.1 or older, which is unsafe; devsh does not use it. Update its firmware`,
  timeout: ({ what, detail }) => `${what}: ${detail}`,
  'wrong length': ({ what }) =>
    `the response to ${what} does not have the length of its Content-Length, or has two of them`,
  'cut off': ({ what }) => `the response to ${what} has no length and may be cut off`,
  reset: ({ address, what, sent }) =>
    sent
      ? `the connection broke before the response to ${what} was complete`
      : `${address} closed the connection before it was ready. Is this the HTTPS port?`,
};

function redirectError(context: FailureContext, response: Response): ProtocolError {
  const { device, request } = context;
  const { status, headers, body } = response;
  const location = oneLine(headers.location ?? '');
  const why = isRead(request)
    ? 'devsh follows redirects only on the same device, and only a few'
    : 'devsh redirects no writes; nothing else was sent';
  const to = `a redirect (${status}) to ${location || 'nowhere'}`;
  const text = `${describe(context)} returned ${to}: ${why}`;
  return new ProtocolError(device, text, { status, body });
}

const MEANINGS: Readonly<Record<number, string>> = {
  404: ', not found',
  405: ', method not allowed',
  406: ', the device sends only another media type: profile set DEVICE headers.Accept=TYPE',
  407: ', a proxy in between requires its own login',
  409: ', conflict',
  412: ', the record has changed meanwhile',
  415: ', the device requires another format',
  429: ', too many requests',
};

function meaningOf({ status, headers }: Response, { name }: DeviceRef): string {
  const { allow, 'retry-after': retryAfter } = headers;
  const allowed = status === 405 && allow !== undefined ? `; it allows ${oneLine(allow)}` : '';
  const wait = status === 429 ? waitText(retryAfter) : '';
  return `${MEANINGS[status]?.replace('DEVICE', () => name) ?? ''}${allowed}${wait}`;
}

function waitText(retryAfter: string | undefined): string {
  if (retryAfter === undefined) return '';
  const text = oneLine(retryAfter);
  return /^\d+$/.test(text) ? `; retry after ${text} s` : `; retry after: ${text}`;
}

/** The scheme that the device requires instead of Basic or a token. */
function otherScheme({ headers }: Response): string {
  const wanted = headers['www-authenticate'] ?? '';
  const scheme = /^\s*(digest|ntlm|negotiate)\b/i.exec(wanted)?.[1];
  if (scheme === undefined || /\b(?:basic|token|bearer)\b/i.test(wanted)) return '';
  return `; the device requires ${scheme}, which devsh does not support`;
}

/** A header for a token that a response names. */
const NAMED_HEADER = /\bX-(?![\w-]*[CX]SRF)[A-Z][\w-]{0,40}(?:key|token|auth)\b/i;

/** If a read fails by its login alone, the place of the token may be wrong: devsh proposes another, and tries none. */
function tokenAdvice(
  { device, credential, auth, request }: FailureContext,
  { status, headers, body }: Response,
): string {
  if (credential?.kind !== 'token' || !isRead(request) || ![400, 401, 403].includes(status))
    return '';
  const header = credential.headerName(auth);
  const [prefix = ''] = /^\S+(?= )/.exec(credential.header(auth)) ?? [];
  const challenge = headers['www-authenticate'] ?? '';
  const [named] = NAMED_HEADER.exec(`${challenge} ${body}`) ?? [];
  const required = named ?? /^[\w-]+/.exec(challenge.trim())?.[0];
  if ([prefix, header].some((own) => own.toLowerCase() === required?.toLowerCase())) return '';
  const isPassword = named === undefined && PASSWORD_SCHEME.test(required ?? '');
  const facts =
    required === undefined
      ? ['prefix=Bearer', 'header=X-API-Key']
      : [named === undefined ? `prefix=${required}` : `header=${named}`];
  const proposals = [
    ...facts.flatMap((fact) => (isPassword ? [] : `"profile set ${device.name} auth.${fact}"`)),
    `a password, "login ${device.name} --user NAME"`,
  ];
  const sent = `${header.replace(/^a/, 'A')}: ${prefix}${prefix && ' '}…`;
  const other = required === undefined ? 'may require another scheme' : `requires ${required}`;
  return `. devsh sent the token as "${sent}"; the device ${other}: try ${proposals.join(', or ')}`;
}

const PASSWORD_SCHEME = /^(?:basic|digest|ntlm|negotiate)$/i;

function describe({ request }: FailureContext): string {
  return `${request.method} ${oneLine(maskedPath(request.path))}`;
}

function reasonSuffix(text: string): string {
  return text === '' ? '' : `: ${text.replace(/\.$/, '')}`;
}

export interface FailureContext {
  readonly device: DeviceRef;
  readonly request: Pick<HttpRequest, 'method' | 'path'>;
  readonly credential: Credential | undefined;
  /** Where the token was sent. */
  readonly auth?: TokenHeader | undefined;
  /** `through the proxy http://proxy:3128`; undefined for a direct connection. */
  readonly via?: string | undefined;
  /** The device has answered before: nothing is asked about its address. */
  readonly wasRead?: boolean;
  /** The sent fields, to which complaints are assigned. */
  readonly fields?: readonly string[] | undefined;
  /** Sent values that must not appear in a message: new passwords and tokens. */
  readonly secrets?: readonly string[];
}

/** The part of a body that is stored for `--raw`. */
const MAX_STORED_BODY = 64 * 1024;

/** The part of a response that an error stores. */
function redactedResponse(context: FailureContext, response: Response): Response {
  // Redact before cutting: a secret cut at the edge would not be recognised.
  const start = { ...response, body: response.body.slice(0, 2 * MAX_STORED_BODY) };
  const clean = withoutSecrets(context, start);
  return { ...clean, body: clean.body.slice(0, MAX_STORED_BODY) };
}

/** A response without the secrets of its request, which a device may echo. */
export function withoutSecrets(context: FailureContext, response: Response): Response {
  return {
    ...response,
    body: redacted(context, response.body),
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, text]) => [name, redacted(context, text)]),
    ),
  };
}

/** Redacts again, because JSON escapes can hide a secret in the raw body. */
function redactedIssues(context: FailureContext, body: string): FieldIssues {
  const issues = Object.entries(issuesOf(body, context.fields));
  return Object.fromEntries(
    issues.map(([field, texts]) => [
      // A field that was sent keeps its name: it may be the same word as a secret.
      context.fields?.includes(field) === true ? field : redacted(context, field),
      texts.map((text) => redacted(context, text)),
    ]),
  );
}

export function redacted({ credential, secrets = [] }: FailureContext, text: string): string {
  return redact(credential?.redact(text) ?? text, secrets);
}
