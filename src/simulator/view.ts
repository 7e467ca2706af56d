import type { IncomingHttpHeaders } from 'node:http';

export interface ApiRequest {
  readonly method: string;
  /** The request target: path and query as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a view decided, before it is rendered as JSON. */
export interface Outcome {
  readonly status: number;
  /** Absent: no body at all. */
  readonly value?: unknown;
  /** Sent literally instead of `value`. */
  readonly text?: { readonly type: string; readonly body: string };
  readonly headers?: Readonly<Record<string, string>>;
}

export interface View {
  readonly title: string;
  /** The `Allow` header. OPTIONS is omitted if the dialect does not support it. */
  readonly allow: readonly string[];
  /** Whether it can only be read: then a write gets 405, not 403. */
  readonly isReadOnly?: boolean;
  /** The fields by method; OPTIONS shows them to accounts that may write. */
  readonly actions?: () => Readonly<Record<string, unknown>>;
  /** For each allowed method but OPTIONS. */
  readonly respond: (request: ApiRequest) => Outcome;
}

export const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const;

export const HTML = 'text/html; charset=utf-8';

export function refusal(status: number, detail: string): Outcome {
  return { status, value: { detail } };
}

/** Without parameters, in lower case; empty if absent. */
export function mediaType({ headers }: ApiRequest): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

export function unsupported({ headers }: ApiRequest): Outcome {
  return refusal(415, `Unsupported media type "${headers['content-type'] ?? ''}" in request.`);
}

/** A path as the framework matches it. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A page of the web server in front of the API. */
export function serverPage(title: string, text: string): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><title>${title}</title></head>`,
    `<body><h1>${title}</h1><p>${text}</p></body>`,
    '</html>',
    '',
  ].join('\n');
}

export const NOT_FOUND_PAGE = serverPage(
  'Not Found',
  'The requested resource was not found on this server.',
);

export const TOO_LARGE_PAGE = serverPage('Bad Request (400)', '');
