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
import { faultOf, type TransportFault } from './fault.ts';
import type { DeviceRef } from './record.ts';
import { retryAfterMs } from './retry-policy.ts';
import { oneLine } from '../text/one-line.ts';
import type { Credential, TokenHeader } from './credential.ts';
import { maskedPath, redact } from './sensitive-fields.ts';
import { textOf } from '../output/sentences.ts';

export function responseError(context: FailureContext, received: Response): DeviceError {
  const { device, credential, request } = context;
  const response = redactedResponse(context, received);
  const { status, headers, body } = response;
  const what = describe(context);
  const issues = redactedIssues(context, body);
  const reason = reasonSuffix(issuesText(issues));
  const about = { device: device.name, reason, token: tokenDoubt(context, response) };
  const unlogged = { code: 'account', is: 'none' } as const;
  if (status === 401) {
    const who = credential === undefined ? textOf(unlogged) : String(credential);
    const scheme = otherScheme(response);
    return new UnauthorizedError(device, { code: 'login-refused', who, scheme, ...about }, status);
  }
  if (status === 403) {
    const { user } = credential ?? {};
    const who = user === undefined ? textOf({ code: 'account', is: 'unknown' }) : `"${user}"`;
    return new UnauthorizedError(device, { code: 'forbidden', what, who, ...about }, status);
  }
  if (status === 304) return new ProtocolError(device, { code: 'not-modified', what }, { status });
  if (status >= 300 && status < 400) {
    const location = oneLine(headers.location ?? '') || 'nowhere';
    const is = isRead(request) ? 'read' : 'write';
    const moved = { code: 'redirect', is, what, status, location } as const;
    return new ProtocolError(device, moved, { status, body });
  }
  const waits = headers['retry-after'];
  const wait = waits !== undefined && [429, 503].includes(status) ? oneLine(waits) : undefined;
  if (status >= 400 && status < 500) {
    const allow =
      status === 405 && headers.allow !== undefined ? oneLine(headers.allow) : undefined;
    const refused = { code: 'refused', what, status, allow, wait, ...about } as const;
    const waitMs = status === 429 ? retryAfterMs(headers) : undefined;
    return new RejectedError(device, refused, { status, issues, retryAfterMs: waitMs });
  }
  const isUnclear = NO_REASON.test(reason);
  const odd = { what, status, path: maskedPath(request.path), wait, reason, isUnclear };
  return new ProtocolError(device, { code: 'odd-status', ...odd }, { status, body });
}

/** What a server says of any failure. */
const NO_REASON = /^$|\bserver error\b/i;

/** Why a login was refused, in the words of the device. Any other text of a success may be a secret. */
export function reasonIn(context: FailureContext, { status, body }: Response): string {
  const reason = declinedReason(body) ?? (status < 400 ? '' : issuesText(issuesOf(body)));
  return redacted(context, reasonSuffix(reason));
}

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
    return new RejectedError(
      device,
      { code: 'declined', what, status, reason },
      { status, issues },
    );
  }
  const odd = { what, problem: message, path: maskedPath(request.path) };
  return new ProtocolError(device, { code: 'undecodable', ...odd }, { status, body });
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
    return new ProtocolError(device, { code: 'unusable', is: kind, what, detail }, { status });
  }
  const again = kind === 'timeout' ? 'longer' : 'again';
  const fix = { code: 'retry', is: isRead(request) ? again : 'check' } as const;
  // A device given by its address already has it in its name.
  const isNamed = device.address.startsWith(device.name);
  const who = isNamed ? textOf({ code: 'retry', is: 'device' }) : device.address;
  const address = via === undefined ? who : `${who} ${via}`;
  const lost = { code: 'no-response', is: kind, address, what, detail, sent, wasRead } as const;
  return new UnreachableError(device, lost, {
    mayHaveArrived: sent,
    // No time helps where the two do not agree on TLS.
    fix: sent && !(kind === 'tls' && isRead(request)) ? fix : undefined,
    cause: fault,
  });
}

/** The scheme that the device requires instead of Basic or a token. */
function otherScheme({ headers }: Response): string | undefined {
  const wanted = headers['www-authenticate'] ?? '';
  const scheme = /^\s*(digest|ntlm|negotiate)\b/i.exec(wanted)?.[1];
  return /\b(?:basic|token|bearer)\b/i.test(wanted) ? undefined : scheme;
}

const NAMED_HEADER = /\bX-(?![\w-]*[CX]SRF)[A-Z][\w-]{0,40}(?:key|token|auth)\b/i;

/** If a read fails by its login alone, the place of the token may be wrong: devsh proposes another, and tries none. */
function tokenDoubt(
  { credential, auth, request }: FailureContext,
  { status, headers, body }: Response,
) {
  if (credential?.kind !== 'token' || !isRead(request) || ![400, 401, 403].includes(status))
    return undefined;
  const header = credential.headerName(auth);
  const [prefix = ''] = /^\S+(?= )/.exec(credential.header(auth)) ?? [];
  const challenge = headers['www-authenticate'] ?? '';
  const [named] = NAMED_HEADER.exec(`${challenge} ${body}`) ?? [];
  const required = named ?? /^[\w-]+/.exec(challenge.trim())?.[0];
  if ([prefix, header].some((own) => own.toLowerCase() === required?.toLowerCase()))
    return undefined;
  const isPassword = named === undefined && PASSWORD_SCHEME.test(required ?? '');
  const facts =
    required === undefined
      ? ['prefix=Bearer', 'header=X-API-Key']
      : [named === undefined ? `prefix=${required}` : `header=${named}`];
  const sent = `${header.replace(/^a/, 'A')}: ${prefix}${prefix && ' '}…`;
  return { sent, required, facts: isPassword ? [] : facts };
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

function redactedResponse(context: FailureContext, response: Response): Response {
  // Redact before cutting: a secret cut at the edge would not be recognised.
  const start = { ...response, body: response.body.slice(0, 2 * MAX_STORED_BODY) };
  const clean = withoutSecrets(context, start);
  return { ...clean, body: clean.body.slice(0, MAX_STORED_BODY) };
}

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
